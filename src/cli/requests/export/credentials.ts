/** Finds the credential that a kept request came with: of the environment, of the stack that runs here, or issued anew. */
import type { RequestDetail } from '../../../contract/control/requests.ts';
import { issueToken, showWallet } from '../../../contract/control/users.ts';
import type { Emulator } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import { notReplayable } from '../../talk/requests/sendable.ts';

/** Undefined for a request without one; E_NOT_REPLAYABLE when it cannot be had. */
export async function credentialValue(
  request: RequestDetail,
  { emulator, env }: { emulator: Emulator; env: Readonly<Record<string, string | undefined>> },
): Promise<string | undefined> {
  const { id, credential } = request;
  if (credential === null) return undefined;
  if (credential === 'key') {
    const key = env.REWARDS_API_KEY ?? keyOf(request, emulator);
    if (key) return key;
    throw notReplayable(id, "the brand's API key is not known here", 'Set REWARDS_API_KEY.');
  }
  if (credential === 'token') return env.REWARDS_USER_TOKEN ?? tokenFor(request, emulator);
  if (credential === 'signature')
    throw notReplayable(
      id,
      'its signature is not kept',
      'Use `rewards webhooks replay`, which signs the event anew.',
    );
  throw notReplayable(id, `its ${credential} is not kept`, 'Sign in again, and send the request anew.');
}

/** The key of the brand that the request names, else that of the stack's first brand. */
function keyOf({ brandId, path, requestBody }: RequestDetail, { run }: Emulator): string | undefined {
  const brands = run?.brands ?? [];
  const named = (one: { brandId: string }) =>
    [brandId ?? '', path, requestBody ?? ''].some((text) =>
      text.toLowerCase().includes(one.brandId.toLowerCase()),
    );
  return (brands.find(named) ?? brands[0])?.apiKey;
}

/** A token of an hour for the user whose wallet the call is from. */
async function tokenFor({ id, user }: RequestDetail, { call }: Emulator): Promise<string> {
  const fix = 'Set REWARDS_USER_TOKEN to what `rewards token issue --user <email>` prints.';
  if (user === null) throw notReplayable(id, 'it does not say whose token it had', fix);
  const wallet = await call(showWallet, { path: { user } });
  const email = wallet.status === 200 ? wallet.body.user : user;
  if (!email.includes('@')) throw notReplayable(id, `${user} is not the wallet of a user here`, fix);
  const issued = await call(issueToken, { body: { user: email } });
  mustSucceed(issued);
  return issued.body.token;
}
