/** Users of the site. */

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
