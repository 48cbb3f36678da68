/** Relayed calls and top-ups of gas wallets that the ledger has lost. */
import type { LaneCall } from '../../chain/contracts/calls/lane-call.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { perkOfToken } from '../../ledger/recovery/adopt-perk-terms.ts';
import { adoptRelay, adoptTopUp, bindWaitingRelay, payerOf } from '../../ledger/recovery/adopt-queued.ts';
import { budgetDay } from '../../ledger/relay/gas-budgets.ts';
import { note, type RecoveryContext, timeOf } from './context.ts';
import type { FoundTransaction } from './types.ts';

const GWEI = 1_000_000_000n;

export async function adoptRelayOf(
  tx: Queries,
  context: RecoveryContext,
  of: { found: FoundTransaction; call: Extract<LaneCall, { kind: 'relay' }>; transactionId: string },
): Promise<void> {
  const { found, call, transactionId } = of;
  const { lane, to, data } = found;
  if (to === null) return;
  if (await bindWaitingRelay(tx, { lane, recipient: to, data, transactionId })) return;
  const perk = call.perkId === undefined ? undefined : await perkOfToken(tx, call.perkId);
  const wallet = await payerOf(tx, lane);
  const payer = wallet === undefined || wallet === 'service' ? (perk?.brandId ?? 'service') : wallet;
  const createdAt = timeOf(context, found);
  const id = context.deps.random.uuid();
  await adoptRelay(tx, {
    id,
    lane,
    payer,
    userAddress: call.userAddress,
    recipient: to,
    data,
    valueWei: String(found.valueWei),
    gas: found.gas,
    reservedGwei: Number((BigInt(found.gas) * found.maxFeeWei + GWEI - 1n) / GWEI),
    budgetDay: budgetDay(createdAt),
    createdAt,
    transactionId,
  });
  await note(tx, context, 'relay', id, { user: call.userAddress, payer, transaction: found.hash });
}

export async function adoptTopUpOf(
  tx: Queries,
  context: RecoveryContext,
  { found, transactionId }: { found: FoundTransaction; transactionId: string },
): Promise<void> {
  const { lane, to, valueWei } = found;
  if (to === null || (await payerOf(tx, lane)) !== 'service') return;
  const id = context.deps.random.uuid();
  const topUp = { id, lane, wallet: to, amountWei: String(valueWei), createdAt: timeOf(context, found) };
  if ((await adoptTopUp(tx, { ...topUp, transactionId })) === 'written')
    await note(tx, context, 'top_up', id, {
      wallet: to,
      amountWei: topUp.amountWei,
      transaction: found.hash,
    });
}
