/** The user of a relayed call: token and wallet, from the emulator or from options. */

import type { PermitBody } from '../../client/bodies.ts';
import { openUserWallets, type UserWallet, type UserWallets } from '../../client/chain/user-wallet.ts';
import type { createClient } from '../../client/create-client.ts';
import { accountIn } from '../../client/person.ts';
import { showClock } from '../../contract/control/clock.ts';
import { issueToken, showWallet } from '../../contract/control/users.ts';
import { secureRandom } from '../../lib/ids.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';

type Client = ReturnType<typeof createClient>;

export interface RelayUser {
  token: string;
  address: string;
  /** Undefined when the user's key is unknown. */
  wallet: UserWallet | undefined;
}

/** Tools for the contracts of the stack that runs here; E_NOT_RUNNING for any other target. */
export function userWalletsOf(context: CommandContext, { run }: Target): UserWallets {
  if (!run) {
    throw new CliError('E_NOT_RUNNING', {
      message: 'Names of contracts and users work only with a stack that runs here.',
      fix: 'Run this in the directory of the stack, or give --to and --data.',
    });
  }
  const random = secureRandom(context.runtime.clock);
  return openUserWallets({ contracts: run.contracts, rpcUrl: run.urls.rpc, random });
}

/** The user of `--as`, logged in at the emulator's own identity provider. */
export async function logIn(client: Client, target: Target, name: string): Promise<RelayUser> {
  const email = await emailOf(client, target, name);
  const issued = await client.call(issueToken, { body: { user: email } });
  mustSucceed(issued);
  const { token, address } = issued.body;
  return { token, address, wallet: await walletOf(client, address) };
}

/** The user of a token from the command line: the first wallet that the token names. */
export function userOfToken(token: string): RelayUser {
  const claims = claimsIn(token);
  const [address] = Array.isArray(claims.wallets) ? claims.wallets : [];
  if (typeof address === 'string') return { token, address, wallet: undefined };
  throw usageError('The token does not name a wallet.', 'Name its user with --as <user>.');
}

/** A wallet of the emulator with its place in the key tree. */
async function walletOf(client: Client, name: string): Promise<UserWallet> {
  const reply = await client.call(showWallet, { path: { user: name } });
  mustSucceed(reply);
  return { address: reply.body.address, index: reply.body.index };
}

/** `alice` is the demo user of that name, `discord:1…` the stand-in e-mail of that account. */
async function emailOf(client: Client, { run }: Target, name: string): Promise<string> {
  if (accountIn(name)) {
    const reply = await client.call(showWallet, { path: { user: name } });
    mustSucceed(reply);
    return reply.body.user;
  }
  if (name.includes('@')) return name;
  const known = run?.users.find(({ email }) => email.startsWith(`${name.toLowerCase()}@`));
  if (known) return known.email;
  throw usageError(
    `This stack does not know the user ${name}.`,
    run ? `Give an e-mail, or one of ${run.users.map(({ email }) => email).join(', ')}.` : 'Give an e-mail.',
  );
}

function claimsIn(token: string): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

export const signPermit: Handler<{ as: string; spender: string; value: string; deadline: number }> = async (
  context,
  wish,
) => {
  const value = amountOf(wish.value, '--value');
  const target = await resolveTarget(context);
  const wallets = userWalletsOf(context, target);
  const spender = wallets.contractAddress(wish.spender);
  if (!spender) {
    throw usageError(
      `${wish.spender} is neither the name of a contract nor an address.`,
      'Give token, perks, pointsSale, escrow or an address.',
    );
  }
  const client = clientFor(target, context);
  const { wallet } = await logIn(client, target, wish.as);
  const deadline = await secondsFromNow(client, wish.deadline);
  const permit = await permitOf(wallets, wallet, { spender, value, deadline });
  return { ok: true, data: permit, text: () => JSON.stringify(permit, null, 2) };
};

/** Signs with the user's key, which must be one of the emulator's. */
export async function permitOf(
  wallets: UserWallets,
  wallet: UserWallet | undefined,
  wish: { spender: `0x${string}`; value: bigint; deadline: number },
): Promise<PermitBody> {
  if (wallet) return wallets.permit(wallet, wish);
  throw new CliError('E_NO_USER_KEY', { fix: 'Name the user with --as in place of --token.' });
}

/** Seconds since 1970 by the clock of the emulator, which its chain follows. */
export async function secondsFromNow(
  client: Pick<ReturnType<typeof clientFor>, 'call'>,
  ms: number,
): Promise<number> {
  const reply = await client.call(showClock);
  mustSucceed(reply);
  return Math.floor((reply.body.nowMs + ms) / 1_000);
}

/** A whole number of RWT or wei; E_USAGE names its option. */
export function amountOf(text: string, flag: string): bigint {
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw usageError(`${flag} ${text} is not an amount.`, `Give ${flag} as a whole number, 0 or more.`);
}
