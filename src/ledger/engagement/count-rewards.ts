/**
 * Counts the rewards of payouts on the leaderboards once their block is booked, at once or later, and takes them off in the
 * commit that takes the block back. A mark on the transaction says which has been done.
 */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, statement } from '../database/statement.ts';
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
  if (payouts.length === 0) return;
  const marked = await mark(tx, { ids: payouts.map(({ transactionId }) => transactionId) });
  const ids = new Set(marked.map(({ id }) => id));
  const fresh = payouts.filter(({ transactionId }) => ids.has(transactionId));
  await countActivity(tx, await activitiesOf(tx, fresh, 1));
}

/** Takes what these payouts had paid off the boards again, as far as it was counted; before their failures are forgotten. */
export async function takeBackPayouts(
  tx: Queries,
  of: { transactionIds: string[]; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<void> {
  const marked = await unmark(tx, { ids: of.transactionIds });
  const transactionIds = marked.map(({ id }) => id);
  await countActivity(tx, await activitiesOf(tx, await payoutsOf(tx, { ...of, transactionIds }), -1));
}

/** Payouts that are in a block and on no board: of before there were boards, or of a process that ended before it counted them. */
export async function countEarlierPayouts(
  tx: Queries,
  of: { limit: number; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<number> {
  const earlier = await uncounted(tx, { limit: of.limit });
  const payouts = await payoutsOf(tx, { ...of, transactionIds: earlier.map(({ id }) => id) });
  await countPayouts(tx, payouts);
  return payouts.length;
}

// The condition is that of its index, whose words SQLite wants to see written out.
const uncounted = statement((db, of: Of<{ limit: number }>) =>
  db
    .select({ id: transactions.id })
    .from(transactions)
    .where(sql`purpose = 'payout' and outcome = 'done' and not on_boards`)
    .limit(of.limit)
    .for('update'),
);

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

const { id } = transactions;

// A payout whose block was taken back before it was counted has no outcome any more.
const mark = statement((db, of: Of<{ ids: string[] }>) =>
  db
    .update(transactions)
    .set({ onBoards: true })
    .where(and(isOneOf(id, of.ids), eq(transactions.onBoards, false), eq(transactions.outcome, 'done')))
    .returning({ id }),
);

const unmark = statement((db, of: Of<{ ids: string[] }>) =>
  db
    .update(transactions)
    .set({ onBoards: false })
    .where(and(isOneOf(id, of.ids), eq(transactions.onBoards, true)))
    .returning({ id }),
);

async function activitiesOf(tx: Queries, payouts: Payout[], times: 1 | -1): Promise<Activity[]> {
  if (payouts.length === 0) return [];
  const ids = new Set(payouts.map(({ transactionId }) => transactionId));
  const paid = await paidOf(tx, { sequences: payouts.flatMap(({ sequences }) => sequences) });
  // A reward that an earlier transaction was to pay, without effect, is bound to another one by now.
  const own = paid.filter((reward) => reward.transactionId !== null && ids.has(reward.transactionId));
  const zones = await timeZonesOf(tx, [...new Set(own.map((reward) => reward.brandId))]);
  return own.map((reward) => ({
    ...{ brandId: reward.brandId, userKey: reward.userKey, platform: reward.platform ?? undefined },
    ...{ atMs: reward.createdAt, timeZone: zones.get(reward.brandId) ?? 'UTC' },
    ...{ rwtEarned: times * reward.amount, claims: times },
  }));
}

const { brandId, userKey, amount, createdAt, platform, transactionId } = rewards;
const paidOf = statement((db, of: Of<{ sequences: number[] }>) =>
  db
    .select({ brandId, userKey, amount, createdAt, platform, transactionId })
    .from(rewards)
    .where(and(isOneOf(rewards.sequence, of.sequences), isNull(rewards.failure))),
);

async function timeZonesOf(tx: Queries, brandIds: string[]): Promise<Map<string, string | undefined>> {
  const rows = await profilesOf(tx, { brandIds });
  return new Map(rows.map((row) => [row.brandId, row.profile.timeZone]));
}

const profilesOf = statement((db, of: Of<{ brandIds: string[] }>) =>
  db
    .select({ brandId: brands.brandId, profile: brands.profile })
    .from(brands)
    .where(isOneOf(brands.brandId, of.brandIds)),
);
