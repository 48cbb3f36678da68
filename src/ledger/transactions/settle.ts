/**
 * What becomes of work once its transaction can no longer change: rewards that were paid stay, others wait again or
 * are given up; of relayed calls the cost is known.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { settleGas } from '../relay/queued-relays.ts';
import { lockAvailableFunds } from '../rewards/funds.ts';
import {
  failRewards,
  findBySequences,
  markReleased,
  newestReward,
  type Reward,
  unbindRewards,
  unreleasedFailures,
} from '../rewards/rewards.ts';
import { brandFunds, claimCounters, claimTotals } from '../schema/rewards.ts';
import { includedUpTo, markFinal, markLost, payloadOf, type Transaction } from './transactions.ts';

/** Transactions without effect that a reward may be bound to, one after the other, before it is given up. */
const TRIES_MAX = 3;

/**
 * Makes every transaction in blocks up to `blockNumber` final. Rewards of one that did nothing wait again;
 * rewards that the escrow skipped give their claims back. `sequencesOf` reads a payload's rewards.
 */
export async function settleFinal(
  tx: Queries,
  final: { blockNumber: number; nowMs: number; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<void> {
  const settled = await includedUpTo(tx, final.blockNumber);
  if (settled.length === 0) return;
  await markFinal(
    tx,
    settled.map(({ id }) => id),
  );
  await settleGas(
    tx,
    settled.filter(({ purpose }) => purpose === 'relay').map(({ id }) => id),
  );
  for (const transaction of settled) {
    if (transaction.outcome !== 'done' && transaction.purpose === 'payout')
      await tryAgain(tx, transaction, final);
  }
  const ids = settled.map(({ id }) => id);
  for (const reward of await unreleasedFailures(tx, ids)) await release(tx, reward, final.nowMs);
}

/** Lets the rewards of a transaction wait again whose nonce somebody else used up, in a block that is final; false when a block holds it after all. */
export async function settleLost(
  tx: Queries,
  lost: { transactionId: string; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<boolean> {
  const transaction = await markLost(tx, lost.transactionId);
  if (transaction?.purpose === 'payout') await tryAgain(tx, transaction, lost);
  if (transaction?.purpose === 'relay') await settleGas(tx, [transaction.id]);
  return transaction !== undefined;
}

async function tryAgain(
  tx: Queries,
  transaction: Transaction,
  final: { sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<void> {
  const raw = await payloadOf(tx, transaction.id);
  const rewards = raw ? await findBySequences(tx, final.sequencesOf(raw)) : [];
  const bound = rewards.filter(({ transactionId }) => transactionId === transaction.id);
  const sequences = (of: typeof bound) => of.map(({ sequence }) => sequence);
  const again = bound.filter(({ failedTries }) => failedTries + 1 < TRIES_MAX);
  const given = bound.filter(({ failedTries }) => failedTries + 1 >= TRIES_MAX);
  if (again.length > 0)
    await unbindRewards(tx, { sequences: sequences(again), transactionId: transaction.id });
  if (given.length > 0) await failRewards(tx, { sequences: sequences(given), failure: 'reverted' });
}

/** Gives a claim back as if it had never been granted: counters, total, and the brand's promise. */
async function release(tx: Queries, reward: Reward, nowMs: number): Promise<void> {
  const { brandId, eventType, userKey, amount, sequence } = reward;
  await lockAvailableFunds(tx, [brandId]);
  const before = await newestReward(tx, { brandId, eventType, userKey });
  await tx
    .update(claimCounters)
    .set({
      claims: sql`${claimCounters.claims} - 1`,
      lastAt: before?.createdAt ?? 0,
      lastRewardId: before?.id ?? '',
      lastAmount: before?.amount ?? 0,
    })
    .where(
      and(
        eq(claimCounters.brandId, brandId),
        eq(claimCounters.eventType, eventType),
        eq(claimCounters.userKey, userKey),
      ),
    );
  await tx
    .update(claimTotals)
    .set({ claims: sql`${claimTotals.claims} - 1` })
    .where(and(eq(claimTotals.brandId, brandId), eq(claimTotals.eventType, eventType)));
  await tx
    .update(brandFunds)
    .set({ promised: sql`${brandFunds.promised} - ${amount}` })
    .where(eq(brandFunds.brandId, brandId));
  await markReleased(tx, { sequence, nowMs });
}
