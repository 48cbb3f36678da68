/** The sender of a request. */
import type { SiteUser } from './users.ts';

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
