/** `rewards relay permit`: signs as the user's own wallet would. */

import type { PermitBody } from '../../client/bodies.ts';
import type { UserWallet, UserWallets } from '../../client/chain/user-wallet.ts';
import { showClock } from '../../contract/control/clock.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { logIn, userWalletsOf } from '../talk/relay-user.ts';

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
