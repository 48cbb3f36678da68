/** The people of a load test: each fresh, with a wallet, a token, an address on the net, and calls that are signed already. */

import type { UserWallets } from '../client/chain/user-wallet.ts';
import { ClientError } from '../client/client-error.ts';
import type { createClient } from '../client/create-client.ts';
import type { Reply } from '../client/reply.ts';
import { issueToken, showWallet } from '../contract/control/users.ts';

export type Client = ReturnType<typeof createClient>;

export interface LoadUser {
  email: string;
  address: string;
  token: string;
  /** Calls to relay, in any order: each cancels an authorisation that was never made, signed by the user, who needs no tokens for it. */
  calls: { to: string; data: string }[];
}

/** The control API did not give what a load test needs: its answer. */
export class PreparationError extends Error {
  readonly reply: Reply;
  constructor(what: string, reply: Reply) {
    super(`${what}: the service answered ${reply.status}`);
    this.name = 'PreparationError';
    this.reply = reply;
  }
}

/** Longer than any run, resets included: the emulator's clock is moved past each window. */
const TOKEN_LIFE = '7d';
/** Users prepared at once; more would only wait for each other's commits. */
const PREPARED_AT_ONCE = 8;

export async function prepareUsers(
  deps: { client: Client; wallets: UserWallets; signal: AbortSignal; onDone: () => void },
  wish: { count: number; callsEach: number; name: (index: number) => string },
): Promise<LoadUser[]> {
  const { client, wallets, signal } = deps;
  const users: LoadUser[] = [];
  let next = 0;
  const worker = async () => {
    while (next < wish.count && !signal.aborted) {
      const index = next;
      next += 1;
      const email = wish.name(index);
      // pregenerate-user would give the brand only a hundred new wallets a minute.
      const issued = await client.call(issueToken, { body: { user: email, expires: TOKEN_LIFE } });
      if (issued.status !== 201) throw new PreparationError('no token could be issued', issued);
      const { token, address } = issued.body;
      const shown = await client.call(showWallet, { path: { user: address } });
      if (shown.status !== 200) throw new PreparationError('a wallet could not be found', shown);
      const wallet = { address, index: shown.body.index };
      const calls: LoadUser['calls'] = [];
      while (calls.length < wish.callsEach && !signal.aborted) {
        calls.push(await wallets.cancel(wallet));
      }
      users[index] = { email, address, token, calls };
      deps.onDone();
    }
  };
  await Promise.all(Array.from({ length: PREPARED_AT_ONCE }, worker));
  return users;
}

/** One call of a user. Undefined when no complete answer came back. */
export async function relayOne(
  client: Client,
  {
    user,
    call,
    address,
    origin,
  }: { user: LoadUser; call: number; address?: string | undefined; origin?: string | undefined },
): Promise<Reply | undefined> {
  const request = user.calls[call];
  if (!request) throw new Error(`the user has no call ${call}`);
  const headers = { ...(origin && { origin }), ...(address && { 'x-forwarded-for': address }) };
  try {
    return await client.relay({ ...request, userAddress: user.address }, user.token, { headers });
  } catch (error) {
    if (error instanceof ClientError && error.kind !== 'unreachable') return undefined;
    throw error;
  }
}

/** 198.18.0.0/15 is set aside for tests like this one (RFC 2544). */
const NETWORK = 198 * 2 ** 24 + 18 * 2 ** 16;
const NETWORK_SIZE = 2 ** 17;
/** Below the hundred requests a minute that one address has, with room for a few more. */
const REQUESTS_PER_ADDRESS = 90;

/** The address that a user's request comes from; runs that follow each other begin elsewhere. */
export function addressOf(
  { base, perUser }: { base: number; perUser: number },
  { user, request }: { user: number; request: number },
): string {
  const each = Math.ceil(perUser / REQUESTS_PER_ADDRESS);
  const place = (base + user * each + Math.floor(request / REQUESTS_PER_ADDRESS)) % NETWORK_SIZE;
  const address = NETWORK + place;
  return [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.');
}
