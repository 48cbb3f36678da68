/** The caller of the REST API: a browser with its session and a nonce, or a program. Contract: Authentication. */
import type { Accounts } from '../accounts/create-accounts.ts';
import type { SiteUser } from '../accounts/users.ts';
import { refuse, refuseToWait } from './refusals.ts';

const LOGGED_IN = 'User must be logged in';

/** The user, or the answer for those who are not. `address`: the caller's, for counting wrong passwords. */
export function authenticate(
  accounts: Accounts,
  request: Request,
  address: string | undefined,
): { user: SiteUser } | { refused: Response } {
  const program = accounts.programOf(request, address);
  if (program.outcome === 'in') return { user: program.caller.user };
  if (program.outcome === 'wait') return { refused: refuseToWait(program.waitMs) };
  if (program.outcome === 'wrong') return notLoggedIn('the login or the application password is wrong');
  const caller = accounts.callerOf(request);
  if (caller.by === 'guest') return notLoggedIn();
  if (!accounts.isOwnPage(request)) return notLoggedIn('the request comes from a page of another site');
  const nonce = request.headers.get('x-site-nonce');
  if (!nonce) return notLoggedIn('the header X-Site-Nonce is missing, with a nonce for the action rest');
  if (!accounts.isNonce(caller, 'rest', nonce))
    return notLoggedIn('the nonce is wrong, too old, or of another session: load the page again');
  return { user: caller.user };
}

const notLoggedIn = (why?: string) => ({
  refused: refuse('not_logged_in', { message: why === undefined ? LOGGED_IN : `${LOGGED_IN}: ${why}` }),
});
