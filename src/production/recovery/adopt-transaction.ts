/** Takes one transaction that the ledger has lost into it, with the work that it carries, in one commit; relayed calls and top-ups of gas wallets are here. */

import type { LaneCall } from '../../chain/contracts/calls/lane-call.ts';
import { isSamePayload } from '../../chain/contracts/calls/read-attempt.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { perkOfToken } from '../../ledger/recovery/adopt-perk-terms.ts';
import { adoptRelay, adoptTopUp, bindWaitingRelay, payerOf } from '../../ledger/recovery/adopt-queued.ts';
import {
  adoptTransaction,
  emptyTransaction,
  refillTransaction,
  transactionAt,
} from '../../ledger/recovery/adopt-transactions.ts';
import { budgetDay } from '../../ledger/relay/gas-budgets.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { acceptNonces } from '../../ledger/transactions/accepted-nonces.ts';
import { adoptAttempt, type FoundBytes, offersMore } from '../../ledger/transactions/found-attempts.ts';
import { findByHashes, payloadOf, type Transaction } from '../../ledger/transactions/transactions.ts';
import { adoptMintOf, adoptRedemptionOf } from './adopt-keyed.ts';
import { adoptPayout } from './adopt-payout.ts';
import { adoptPerkTerms } from './adopt-terms.ts';
import { type FoundTransaction, note, type RecoveryContext, timeOf } from './context.ts';

const GWEI = 1_000_000_000n;

async function adoptRelayOf(
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

async function adoptTopUpOf(
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

const PURPOSES: Record<FoundTransaction['call']['kind'], LanePurpose> = {
  payout: 'payout',
  mint: 'mint',
  redeem: 'redeem',
  perk_terms: 'redeem',
  relay: 'relay',
  top_up: 'relay',
  other: 'setup',
};

/** Nothing is done about a transaction that the ledger has. Two runs of the same work write it once. */
export async function adopt(tx: Queries, context: RecoveryContext, found: FoundTransaction): Promise<void> {
  if ((await findByHashes(tx, [found.hash])).length > 0) return;
  const { lane, nonce, raw } = found;
  const before = await transactionAt(tx, found);
  if (raw === undefined) return adoptUnreadable(tx, context, found);
  const bytes: FoundBytes = {
    hash: found.hash,
    raw,
    maxFeeWei: found.maxFeeWei,
    priorityFeeWei: found.priorityFeeWei,
  };
  if (before) return adoptUnder(tx, context, { before, found, bytes });
  const id = context.deps.random.uuid();
  await adoptTransaction(tx, {
    ...bytes,
    id,
    lane,
    nonce,
    purpose: PURPOSES[found.call.kind],
    epoch: context.epochOf(lane),
    createdAt: timeOf(context, found),
  });
  await note(tx, context, 'transaction', id, described(found));
  await bind(tx, context, found, id);
}

const described = ({ lane, nonce, hash, call, block }: FoundTransaction) => ({
  account: lane,
  nonce,
  hash,
  carries: call.kind,
  block: block?.number ?? null,
});

/** The ledger has a transaction under this nonce: these are other bytes of it, or somebody else used its nonce. */
async function adoptUnder(
  tx: Queries,
  context: RecoveryContext,
  of: { before: Transaction; found: FoundTransaction; bytes: FoundBytes },
): Promise<void> {
  const { before, found, bytes } = of;
  const createdAt = timeOf(context, found);
  const payload = await payloadOf(tx, before.id);
  const isNoop = found.data === '0x' && found.valueWei === 0n;
  const isSame = payload !== undefined && isSamePayload(payload, bytes.raw);
  if (isSame || isNoop) {
    const kind = isSame ? 'payload' : 'noop';
    const isOutbid = isOutbidInPool(context, found);
    await adoptAttempt(tx, bytes, { transactionId: before.id, kind, createdAt, isOutbid });
    await note(tx, context, 'attempt', found.hash, described(found));
    return;
  }
  const released = await emptyTransaction(tx, before.id);
  await refillTransaction(tx, {
    ...bytes,
    id: before.id,
    purpose: PURPOSES[found.call.kind],
    epoch: context.epochOf(found.lane),
    createdAt,
  });
  await note(tx, context, 'released', before.hash, { ...described(found), waitsAgain: released });
  await note(tx, context, 'transaction', before.id, described(found));
  await bind(tx, context, found, before.id);
}

/** Whether a pool has other bytes of this nonce that offer more. What a block has, nothing outbids. */
function isOutbidInPool({ work }: RecoveryContext, found: FoundTransaction): boolean {
  const { lane, nonce } = found;
  if (found.block !== undefined) return false;
  return work.transactions.some((one) => one.lane === lane && one.nonce === nonce && offersMore(one, found));
}

/** Its nonce is used, and its bytes are of a form that the ledger cannot keep: the nonce is skipped, as by an operator. */
async function adoptUnreadable(
  tx: Queries,
  context: RecoveryContext,
  found: FoundTransaction,
): Promise<void> {
  const { lane, nonce, hash } = found;
  if (found.block === undefined) return;
  await note(tx, context, 'unreadable', hash, described(found));
  await acceptNonces(tx, {
    lane,
    fromNonce: nonce,
    nextNonce: nonce + 1,
    acceptedBy: 'rewards recover',
    reason: `recovery ${context.recoveryId}: ${hash}`,
    createdAt: context.nowMs,
  });
}

async function bind(
  tx: Queries,
  context: RecoveryContext,
  found: FoundTransaction,
  transactionId: string,
): Promise<void> {
  const { call } = found;
  if (call.kind === 'payout') await adoptPayout(tx, context, { found, entries: call.entries, transactionId });
  if (call.kind === 'mint') await adoptMintOf(tx, context, { found, call, transactionId });
  if (call.kind === 'redeem') await adoptRedemptionOf(tx, context, { found, call, transactionId });
  if (call.kind === 'perk_terms') await adoptPerkTerms(tx, context, { found, call, transactionId });
  if (call.kind === 'relay') await adoptRelayOf(tx, context, { found, call, transactionId });
  if (call.kind === 'top_up') await adoptTopUpOf(tx, context, { found, transactionId });
}
