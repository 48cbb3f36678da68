/** Rewards: written when a claim is granted, and bound to one chain transaction until that is known to have had no effect. */
import { and, asc, desc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

export type Reward = typeof rewards.$inferSelect;

export async function recordRewards(
  tx: Queries,
  granted: Omit<typeof rewards.$inferInsert, 'failedTries'>[],
): Promise<void> {
  await insertRewards(
    tx,
    granted.map((reward) => ({ ...reward, failedTries: 0 })),
  );
}

const insertRewards = bulkInsert(rewards, (insert) => insert);

/** A reward as the payout lane reads it. `failedTries`: transactions that were to pay it and did nothing. */
export type WaitingReward = Awaited<ReturnType<typeof waitingRewards>>[number];

/** Rewards that no transaction carries yet, oldest first. */
export const waitingRewards = (tx: Queries, limit: number) => firstWaiting(tx, { limit });

/** Of these, those that no transaction was to pay before. */
export const untriedRewards = (tx: Queries, limit: number) => firstUntried(tx, { limit });

const ofWaiting = {
  id: rewards.id,
  sequence: rewards.sequence,
  brandId: rewards.brandId,
  wallet: rewards.wallet,
  amount: rewards.amount,
  failedTries: rewards.failedTries,
};

const firstUntried = preparedQuery((db, of: Of<{ limit: number }>) =>
  db
    .select(ofWaiting)
    .from(rewards)
    .where(and(isNull(rewards.transactionId), isNull(rewards.failure), sql`${rewards.failedTries} = 0`))
    .orderBy(asc(rewards.sequence))
    .limit(of.limit)
    .for('update'),
);

const firstWaiting = preparedQuery((db, of: Of<{ limit: number }>) =>
  db
    .select(ofWaiting)
    .from(rewards)
    .where(and(isNull(rewards.transactionId), isNull(rewards.failure)))
    .orderBy(asc(rewards.sequence))
    .limit(of.limit)
    .for('update'),
);

/** Whether any reward waits; locks nothing. */
export async function areRewardsWaiting(db: Queries): Promise<boolean> {
  const [one] = await oneWaiting(db, {});
  return one !== undefined;
}

const oneWaiting = preparedQuery((db) =>
  db
    .select({ sequence: rewards.sequence })
    .from(rewards)
    .where(and(isNull(rewards.transactionId), isNull(rewards.failure)))
    .limit(1),
);

/** Binds rewards to the transaction that pays them. */
export async function bindRewards(
  tx: Queries,
  binding: { sequences: number[]; transactionId: string },
): Promise<void> {
  const bound = await bind(tx, binding);
  if (bound.length !== binding.sequences.length)
    throw new Error('a reward was bound to a transaction before');
}

const bind = preparedQuery((db, of: Of<{ sequences: number[]; transactionId: string }>) =>
  db
    .update(rewards)
    .set({ transactionId: sql`${of.transactionId}` })
    .where(and(isOneOf(rewards.sequence, of.sequences), isNull(rewards.transactionId)))
    .returning({ sequence: rewards.sequence }),
);

/** Makes rewards wait again: their transaction is final and had no effect. */
export async function unbindRewards(
  tx: Queries,
  binding: { sequences: number[]; transactionId: string },
): Promise<void> {
  await tx
    .update(rewards)
    .set({ transactionId: null, failedTries: sql`${rewards.failedTries} + 1` })
    .where(
      and(inArray(rewards.sequence, binding.sequences), eq(rewards.transactionId, binding.transactionId)),
    );
}

/** Marks rewards as not paid, with the reason. */
export async function failRewards(
  tx: Queries,
  failed: { sequences: number[]; failure: string },
): Promise<void> {
  await tx
    .update(rewards)
    .set({ failure: failed.failure })
    .where(inArray(rewards.sequence, failed.sequences));
}

/** Failed rewards of these transactions whose claims have not been given back. */
const unreleased = (transactionIds: string[]) =>
  and(isNotNull(rewards.failure), isNull(rewards.releasedAt), inArray(rewards.transactionId, transactionIds));

/** Clears failures that came from blocks which a reorganisation removed. */
export async function forgetFailures(tx: Queries, transactionIds: string[]): Promise<void> {
  if (transactionIds.length === 0) return;
  await tx.update(rewards).set({ failure: null }).where(unreleased(transactionIds));
}

/** Failed rewards of these transactions whose claims have not been given back. */
export async function unreleasedFailures(tx: Queries, transactionIds: string[]): Promise<Reward[]> {
  if (transactionIds.length === 0) return [];
  return tx.select().from(rewards).where(unreleased(transactionIds));
}

export async function markReleased(tx: Queries, release: { sequence: number; nowMs: number }): Promise<void> {
  await tx.update(rewards).set({ releasedAt: release.nowMs }).where(eq(rewards.sequence, release.sequence));
}

/** The newest reward of a claim key that did not fail. */
export async function newestReward(
  tx: Queries,
  of: { brandId: BrandId; eventType: string; userKey: string },
): Promise<Reward | undefined> {
  const [row] = await tx
    .select()
    .from(rewards)
    .where(
      and(
        eq(rewards.userKey, of.userKey),
        eq(rewards.brandId, of.brandId),
        eq(rewards.eventType, of.eventType),
        isNull(rewards.failure),
      ),
    )
    .orderBy(desc(rewards.sequence))
    .limit(1);
  return row;
}

/** A reward together with the transaction that pays it, when there is one. */
export async function findReward(db: Queries, id: string) {
  const [row] = await rewardOf(db, { id });
  return row;
}

const rewardOf = preparedQuery((db, of: Of<{ id: string }>) =>
  db
    .select({ reward: rewards, transaction: transactions })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(eq(rewards.id, of.id)),
);

/** How far rewards have come; `hash`, `status` and `outcome` are null until a transaction carries them. */
export const readRewardProgress = (db: Queries, ids: string[]) => progressOf(db, { ids });

const progressOf = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db
    .select({
      rewardId: rewards.id,
      hash: transactions.hash,
      status: transactions.status,
      outcome: transactions.outcome,
      failure: rewards.failure,
    })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(isOneOf(rewards.id, of.ids)),
);

export type RewardProgress = Awaited<ReturnType<typeof readRewardProgress>>[number];

/** Ids of rewards by their sequences. */
export const findBySequences = (db: Queries, sequences: number[]) =>
  db
    .select({
      id: rewards.id,
      sequence: rewards.sequence,
      transactionId: rewards.transactionId,
      failedTries: rewards.failedTries,
      releasedAt: rewards.releasedAt,
    })
    .from(rewards)
    .where(inArray(rewards.sequence, sequences));

/** A user's rewards from one brand, newest first. */
export const rewardHistory = (db: Queries, of: { brandId: BrandId; userKey: string; limit: number }) =>
  db
    .select({
      transactionHash: transactions.hash,
      eventType: rewards.eventType,
      amount: rewards.amount,
      timestamp: rewards.createdAt,
    })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(and(eq(rewards.userKey, of.userKey), eq(rewards.brandId, of.brandId), isNull(rewards.failure)))
    .orderBy(desc(rewards.sequence))
    .limit(of.limit);

/** The latest rewards of a user with every brand, paid or not, and what carries each. */
export const rewardsOfUser = (db: Queries, of: { userKeys: readonly string[]; limit: number }) =>
  db
    .select({ reward: rewards, transaction: transactions })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(inArray(rewards.userKey, [...of.userKeys]))
    .orderBy(desc(rewards.sequence))
    .limit(of.limit);

/** How many rewards of a brand a user got that did not fail, and what they came to. */
export async function sumRewards(
  db: Queries,
  of: { brandId: BrandId; userKey: string },
): Promise<{ earned: number; claims: number }> {
  const [row] = await db
    .select({
      earned: sql<number>`coalesce(sum(${rewards.amount}), 0)`.mapWith(Number),
      claims: sql<number>`count(*)`.mapWith(Number),
    })
    .from(rewards)
    .where(and(eq(rewards.userKey, of.userKey), eq(rewards.brandId, of.brandId), isNull(rewards.failure)));
  return row ?? { earned: 0, claims: 0 };
}
