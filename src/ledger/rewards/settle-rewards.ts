/** Settles rewards once their transaction is final: paid ones stay, others wait again or are given up. */
import { and, eq, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { brandFunds, claimCounters, claimTotals } from '../schema/rewards.ts';
import { payloadOf, type Transaction } from '../transactions/transactions.ts';
import { lockAvailableFunds } from './funds.ts';
import { giveBackOnceClaim } from './once-claims.ts';
import {
  failRewards,
  findBySequences,
  markReleased,
  newestReward,
  type Reward,
  unbindRewards,
  unreleasedFailures,
} from './rewards.ts';
import { giveBackSpending } from './spending.ts';

/** Transactions without effect that a reward may be bound to, one after the other, before it is given up. */
const TRIES_MAX = 3;

/** Reads the sequences of the rewards that a payload pays. */
type SequencesOf = (raw: `0x${string}`) => number[];

/**
 * Settles payouts that have become final. Rewards of a payout without effect wait again, or are given up after
 * several tries; rewards that were given up, or that the escrow skipped, give their claims back.
 */
export async function settleRewards(
  tx: Queries,
  final: { transactions: Transaction[]; nowMs: number; sequencesOf: SequencesOf },
): Promise<void> {
  const { transactions, nowMs, sequencesOf } = final;
  for (const transaction of transactions) {
    if (transaction.outcome !== 'done') await tryAgain(tx, transaction, sequencesOf);
  }
  const ids = transactions.map(({ id }) => id);
  for (const reward of await unreleasedFailures(tx, ids)) await release(tx, reward, nowMs);
}

async function tryAgain(tx: Queries, transaction: Transaction, sequencesOf: SequencesOf): Promise<void> {
  const raw = await payloadOf(tx, transaction.id);
  const rewards = raw ? await findBySequences(tx, sequencesOf(raw)) : [];
  const bound = rewards.filter(({ transactionId }) => transactionId === transaction.id);
  const sequences = (of: typeof bound) => of.map(({ sequence }) => sequence);
  const again = bound.filter(({ failedTries }) => failedTries + 1 < TRIES_MAX);
  const given = bound.filter(({ failedTries }) => failedTries + 1 >= TRIES_MAX);
  if (again.length > 0)
    await unbindRewards(tx, { sequences: sequences(again), transactionId: transaction.id });
  if (given.length > 0) await failRewards(tx, { sequences: sequences(given), failure: 'reverted' });
}

/** Gives a claim back as if it had never been granted: counters, total, the brand's promise, and its spend limits. */
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
  await giveBackOnceClaim(tx, reward);
  await giveBackSpending(tx, reward);
  await markReleased(tx, { sequence, nowMs });
}
