/** Reads the ledger in pages, to compare it with itself and with the chain. Every page is one statement, so one moment. */
import { and, asc, eq, gt, gte, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Hex } from '../lib/hex.ts';
import type { BrandId } from '../rules/brands/brand.ts';
import type { Queries } from './database/database.ts';
import { counters } from './schema/facts-and-counters.ts';
import { brandFunds, claimCounters, claimTotals, movements, rewards } from './schema/rewards.ts';
import { attempts, transactions } from './schema/transactions.ts';

// Subqueries write columns out in full: the builder would drop the table's name and refer to another table's column.

/** Rewards of `sequences` from..below, with the transaction that each is bound to. */
export const auditedRewards = (db: Queries, range: { from: number; below: number }) =>
  db
    .select({
      sequence: rewards.sequence,
      id: rewards.id,
      brandId: rewards.brandId,
      wallet: rewards.wallet,
      amount: rewards.amount,
      failure: rewards.failure,
      releasedAt: rewards.releasedAt,
      transactionId: rewards.transactionId,
      status: transactions.status,
      outcome: transactions.outcome,
      blockNumber: transactions.blockNumber,
      feedPosition: transactions.feedPosition,
      eventType: rewards.eventType,
    })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(and(gte(rewards.sequence, range.from), lt(rewards.sequence, range.below)))
    .orderBy(asc(rewards.sequence));

export type AuditedReward = Awaited<ReturnType<typeof auditedRewards>>[number];

/** Those rewards of `sequences` from..below that still count, and that no counter counts. */
export const uncountedRewards = (db: Queries, range: { from: number; below: number }) =>
  db
    .select({ sequence: rewards.sequence, id: rewards.id, transactionId: rewards.transactionId })
    .from(rewards)
    .leftJoin(
      claimCounters,
      and(
        eq(claimCounters.brandId, rewards.brandId),
        eq(claimCounters.eventType, rewards.eventType),
        eq(claimCounters.userKey, rewards.userKey),
      ),
    )
    .where(
      and(
        gte(rewards.sequence, range.from),
        lt(rewards.sequence, range.below),
        isNull(rewards.releasedAt),
        isNull(claimCounters.claims),
      ),
    )
    .orderBy(asc(rewards.sequence));

const paidReward = {
  sequence: rewards.sequence,
  id: rewards.id,
  brandId: rewards.brandId,
  wallet: rewards.wallet,
  amount: rewards.amount,
  transactionId: rewards.transactionId,
};
/** Sequences that one statement names; it names none when they lie close together. */
const NAMED_MAX = 500;

/** The rewards that have one of `sequences`, and perhaps others between the lowest and the highest. */
export async function rewardsBySequence(db: Queries, sequences: number[]) {
  if (sequences.length === 0) return [];
  const lowest = sequences.reduce((one, other) => Math.min(one, other));
  const highest = sequences.reduce((one, other) => Math.max(one, other));
  const select = () => db.select(paidReward).from(rewards);
  if (highest - lowest < sequences.length * 2) {
    return select().where(and(gte(rewards.sequence, lowest), lte(rewards.sequence, highest)));
  }
  const found: Awaited<ReturnType<typeof select>> = [];
  for (let from = 0; from < sequences.length; from += NAMED_MAX) {
    const named = sequences.slice(from, from + NAMED_MAX);
    found.push(...(await select().where(inArray(rewards.sequence, named))));
  }
  return found;
}

/** The highest sequence that a reward has; undefined without rewards. */
export async function lastSequence(db: Queries): Promise<number | undefined> {
  const [row] = await db
    .select({ sequence: rewards.sequence })
    .from(rewards)
    .orderBy(sql`${rewards.sequence} desc`)
    .limit(1);
  return row?.sequence;
}

/** The sequence that the next reward will get. */
export async function nextSequence(db: Queries): Promise<number> {
  const [row] = await db.select().from(counters).where(eq(counters.name, 'reward_sequence'));
  return row?.next ?? 0;
}

/** Brands' accounts, in pages that begin after a given brand. */
export const fundsPage = (db: Queries, page: { after: string; limit: number }) =>
  db
    .select()
    .from(brandFunds)
    .where(gt(brandFunds.brandId, page.after as BrandId))
    .orderBy(asc(brandFunds.brandId))
    .limit(page.limit);

export const movementsIn = (db: Queries, blocks: { from: number; to: number }) =>
  db
    .select()
    .from(movements)
    .where(and(gte(movements.blockNumber, blocks.from), lte(movements.blockNumber, blocks.to)));

export interface ClaimPlace {
  brandId: string;
  eventType: string;
  userKey: string;
}

/** Counters after `place`, each with how many of its rewards still count. */
export async function auditedCounters(db: Queries, page: { after: ClaimPlace | undefined; limit: number }) {
  const { after } = page;
  const rows = await db
    .select({
      brandId: claimCounters.brandId,
      eventType: claimCounters.eventType,
      userKey: claimCounters.userKey,
      claims: claimCounters.claims,
      rewards: sql<string | number>`(select count(*) from rewards r where r.user_key = claim_counters.user_key
        and r.brand_id = claim_counters.brand_id and r.event_type = claim_counters.event_type
        and r.released_at is null)`,
    })
    .from(claimCounters)
    // Compared as one value, so that the index begins at the place: with `or`, each page would read all before it.
    .where(
      after &&
        sql`(${claimCounters.brandId}, ${claimCounters.eventType}, ${claimCounters.userKey}) >
          (${after.brandId}, ${after.eventType}, ${after.userKey})`,
    )
    .orderBy(asc(claimCounters.brandId), asc(claimCounters.eventType), asc(claimCounters.userKey))
    .limit(page.limit);
  return rows.map((row) => ({ ...row, rewards: Number(row.rewards) }));
}

export const everyTotal = (db: Queries) =>
  db.select().from(claimTotals).orderBy(asc(claimTotals.brandId), asc(claimTotals.eventType));

/** Accounts that have transactions, whether or not they have a lane. */
export const everySender = (db: Queries) => db.selectDistinct({ lane: transactions.lane }).from(transactions);

/** The lowest nonce of a lane whose transaction is not final, or is in this block or a later one; undefined without one. */
export async function firstNonceSince(db: Queries, of: { lane: Hex; block: number }) {
  const [row] = await db
    .select({ nonce: transactions.nonce })
    .from(transactions)
    .where(
      and(
        eq(transactions.lane, of.lane),
        or(
          inArray(transactions.status, ['stored', 'sent', 'included']),
          gte(transactions.blockNumber, of.block),
        ),
      ),
    )
    .orderBy(asc(transactions.nonce))
    .limit(1);
  return row?.nonce;
}

/** Transactions of a lane from a nonce on. */
export const auditedTransactions = (db: Queries, page: { lane: Hex; fromNonce: number; limit: number }) =>
  db
    .select()
    .from(transactions)
    .where(and(eq(transactions.lane, page.lane), gte(transactions.nonce, page.fromNonce)))
    .orderBy(asc(transactions.nonce))
    .limit(page.limit);

export const attemptsOf = (db: Queries, transactionIds: string[]) =>
  db
    .select()
    .from(attempts)
    .where(inArray(attempts.transactionId, transactionIds))
    .orderBy(asc(attempts.transactionId), asc(attempts.attempt));
