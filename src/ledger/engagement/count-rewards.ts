/**
 * Counts the rewards of a payout on the leaderboards in the commit that books its block, once, and takes them off when the
 * chain takes the block back. A mark on the transaction says which has been done.
 */
import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { brands } from '../schema/brands.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';
import { payloadOf } from '../transactions/transactions.ts';
import { type Activity, countActivity } from './count-activity.ts';

/** A payout, and the sequences of the rewards that it pays. */
export interface Payout {
  transactionId: string;
  sequences: number[];
}

/** Counts what these payouts have paid, as far as it is not counted yet. Their blocks are booked, with what the escrow skipped. */
export async function countPayouts(tx: Queries, payouts: Payout[]): Promise<void> {
  await countOnce(tx, { payouts, onBoards: true });
}

/** Takes what these payouts had paid off the boards again, as far as it was counted; before their failures are forgotten. */
export async function takeBackPayouts(
  tx: Queries,
  of: { transactionIds: string[]; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<void> {
  const counted = await inChunks(of.transactionIds, (some) =>
    tx
      .select({ transactionId: transactions.id })
      .from(transactions)
      .where(and(inArray(transactions.id, some), eq(transactions.onBoards, true))),
  );
  const payouts = await payoutsOf(tx, { ...of, transactionIds: counted.map((one) => one.transactionId) });
  await countOnce(tx, { payouts, onBoards: false });
}

/** Payouts that are in a block and on no board: of before there were boards. */
export async function countEarlierPayouts(
  tx: Queries,
  of: { limit: number; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<number> {
  const earlier = await tx
    .select({ transactionId: transactions.id })
    .from(transactions)
    .where(
      and(
        eq(transactions.purpose, 'payout'),
        eq(transactions.outcome, 'done'),
        eq(transactions.onBoards, false),
      ),
    )
    .limit(of.limit)
    .for('update');
  const payouts = await payoutsOf(tx, { ...of, transactionIds: earlier.map((one) => one.transactionId) });
  await countPayouts(tx, payouts);
  return payouts.length;
}

async function payoutsOf(
  tx: Queries,
  of: { transactionIds: string[]; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<Payout[]> {
  const payouts: Payout[] = [];
  for (const transactionId of of.transactionIds) {
    const raw = await payloadOf(tx, transactionId);
    payouts.push({ transactionId, sequences: raw ? of.sequencesOf(raw) : [] });
  }
  return payouts;
}

async function countOnce(tx: Queries, of: { payouts: Payout[]; onBoards: boolean }): Promise<void> {
  const marked = await inChunks(
    of.payouts.map(({ transactionId }) => transactionId),
    (some) =>
      tx
        .update(transactions)
        .set({ onBoards: of.onBoards })
        .where(and(inArray(transactions.id, some), eq(transactions.onBoards, !of.onBoards)))
        .returning({ id: transactions.id }),
  );
  const ids = new Set(marked.map(({ id }) => id));
  const payouts = of.payouts.filter(({ transactionId }) => ids.has(transactionId));
  await countActivity(tx, await activitiesOf(tx, payouts, of.onBoards ? 1 : -1));
}

async function activitiesOf(tx: Queries, payouts: Payout[], times: 1 | -1): Promise<Activity[]> {
  const ids = new Set(payouts.map(({ transactionId }) => transactionId));
  const { brandId, userKey, amount, createdAt, platform, transactionId } = rewards;
  const paid = await inChunks(
    payouts.flatMap(({ sequences }) => sequences),
    (some) =>
      tx
        .select({ brandId, userKey, amount, createdAt, platform, transactionId })
        .from(rewards)
        .where(and(inArray(rewards.sequence, some), isNull(rewards.failure))),
  );
  // A reward that an earlier transaction was to pay, without effect, is bound to another one by now.
  const own = paid.filter((reward) => reward.transactionId !== null && ids.has(reward.transactionId));
  const zones = await timeZonesOf(
    tx,
    own.map((reward) => reward.brandId),
  );
  return own.map((reward) => ({
    ...{ brandId: reward.brandId, userKey: reward.userKey, platform: reward.platform ?? undefined },
    ...{ atMs: reward.createdAt, timeZone: zones.get(reward.brandId) ?? 'UTC' },
    ...{ rwtEarned: times * reward.amount, claims: times },
  }));
}

async function timeZonesOf(tx: Queries, brandIds: `0x${string}`[]): Promise<Map<string, string | undefined>> {
  const rows = await inChunks([...new Set(brandIds)], (some) =>
    tx
      .select({ brandId: brands.brandId, profile: brands.profile })
      .from(brands)
      .where(inArray(brands.brandId, some)),
  );
  return new Map(rows.map(({ brandId, profile }) => [brandId, profile.timeZone]));
}
