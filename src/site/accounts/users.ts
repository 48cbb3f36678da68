/** Users of the site, and the sender of a request. */

export type Role = 'administrator' | 'subscriber';

export interface SiteUser {
  id: number;
  login: string;
  /** The one identity of the user: balance, streak, perks and events are this e-mail's. */
  email: string;
  displayName: string;
  role: Role;
}

const EMAIL = /^[^\s@"'<>(),;:\\/]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
const EMAIL_MAX = 254;

export const isEmail = (text: string): boolean => text.length <= EMAIL_MAX && EMAIL.test(text);

/**
 * `session`: a browser with a cookie, whose changes need a nonce as well; `application_password`: a program, which
 * sends the password itself each time. A guest has neither. `nonceKey` is what a browser's nonces are bound to: empty
 * for a guest without a visitor cookie, for whom no nonce is good.
 */
export type Caller =
  | { by: 'session'; user: SiteUser; nonceKey: string }
  | { by: 'application_password'; user: SiteUser }
  | { by: 'guest'; nonceKey: string };

/** The actions for which nonces are made: `rest` for the REST API, the others each for its own form. */
export type NonceAction = 'rest' | 'ajax' | 'form' | 'settings';

/** The user, where the caller is logged in. */
export const userOf = (caller: Caller): SiteUser | undefined =>
  caller.by === 'guest' ? undefined : caller.user;
