/** One visit of one page: who looks, where the page is, and what its forms have to carry. */
import { pathHere } from '../accounts/own-pages.ts';
import type { Caller, NonceAction, SiteUser } from '../accounts/users.ts';

export interface Visit {
  caller: Caller;
  user: SiteUser | undefined;
  isAdministrator: boolean;
  /** Path and query of the page, as the browser has them: forms lead back here. */
  here: string;
  /** The address of one of the site's own paths, wherever the site is mounted. */
  at(path: string): string;
  /** The same, with the way back to this page: for `/login` and `/register`. */
  comingBack(path: string): string;
  nonce(action: NonceAction): string;
  nowMs: number;
}

/** A path on the same host, or the front page. */
export const ownPath = (visit: Pick<Visit, 'at'>, wanted: string | null | undefined): string =>
  pathHere(wanted) ?? visit.at('/');
