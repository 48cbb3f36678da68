/** Reads the ledger in pages, to compare it with itself and with the chain. Every page is one statement, so one moment. */
import { and, asc, eq, gt, gte, inArray, lt, lte, or, sql } from 'drizzle-orm';
import type { BrandId } from '../rules/brands/brand.ts';
import type { Queries } from './database/database.ts';
import { counters } from './schema/counters.ts';
import { brandFunds, claimCounters, claimTotals, movements, rewards } from './schema/rewards.ts';
import { attempts, transactions } from './schema/transactions.ts';

type Hex = `0x${string}`;

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
      claims: claimCounters.claims,
    })
    .from(rewards)
    .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
    .leftJoin(
      claimCounters,
      and(
        eq(claimCounters.brandId, rewards.brandId),
        eq(claimCounters.eventType, rewards.eventType),
        eq(claimCounters.userKey, rewards.userKey),
      ),
    )
    .where(and(gte(rewards.sequence, range.from), lt(rewards.sequence, range.below)))
    .orderBy(asc(rewards.sequence));

export type AuditedReward = Awaited<ReturnType<typeof auditedRewards>>[number];

export const rewardsBySequence = (db: Queries, sequences: number[]) =>
  db
    .select({
      sequence: rewards.sequence,
      id: rewards.id,
      brandId: rewards.brandId,
      wallet: rewards.wallet,
      amount: rewards.amount,
      transactionId: rewards.transactionId,
    })
    .from(rewards)
    .where(inArray(rewards.sequence, sequences));

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

/** A brand's account beside what its rewards and movements add up to, all at one moment. Reads every reward. */
export async function auditedFunds(db: Queries, brandId: BrandId) {
  const [row] = await db
    .select({
      deposited: brandFunds.deposited,
      promised: brandFunds.promised,
      unreleased: sql<string | number>`(select coalesce(sum(r.amount), 0) from rewards r
        where r.brand_id = brand_funds.brand_id and r.released_at is null)`,
      moved: sql<
        string | number
      >`(select coalesce(sum(case when m.kind = 'deposit' then m.amount else -m.amount end), 0)
        from movements m where m.brand_id = brand_funds.brand_id)`,
    })
    .from(brandFunds)
    .where(eq(brandFunds.brandId, brandId));
  return row && { ...row, unreleased: Number(row.unreleased), moved: Number(row.moved) };
}

/** What a brand's deposits, less its withdrawals, came to in blocks up to `block`. */
export async function movedUpTo(db: Queries, of: { brandId: Hex; block: number }): Promise<bigint> {
  const rows = await db
    .select({ kind: movements.kind, amount: sql<string | number>`coalesce(sum(${movements.amount}), 0)` })
    .from(movements)
    .where(and(eq(movements.brandId, of.brandId), lte(movements.blockNumber, of.block)))
    .groupBy(movements.kind);
  return rows.reduce((sum, { kind, amount }) => sum + BigInt(amount) * (kind === 'deposit' ? 1n : -1n), 0n);
}

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
    .where(
      after &&
        or(
          gt(claimCounters.brandId, after.brandId as BrandId),
          and(
            eq(claimCounters.brandId, after.brandId as BrandId),
            or(
              gt(claimCounters.eventType, after.eventType),
              and(eq(claimCounters.eventType, after.eventType), gt(claimCounters.userKey, after.userKey)),
            ),
          ),
        ),
    )
    .orderBy(asc(claimCounters.brandId), asc(claimCounters.eventType), asc(claimCounters.userKey))
    .limit(page.limit);
  return rows.map((row) => ({ ...row, rewards: Number(row.rewards) }));
}

export const everyTotal = (db: Queries) =>
  db.select().from(claimTotals).orderBy(asc(claimTotals.brandId), asc(claimTotals.eventType));

/** An event's total beside what its users' counters add up to, both at one moment. */
export async function auditedTotal(db: Queries, of: { brandId: BrandId; eventType: string }) {
  const [row] = await db
    .select({
      claims: claimTotals.claims,
      counted: sql<string | number>`(select coalesce(sum(c.claims), 0) from claim_counters c
        where c.brand_id = claim_totals.brand_id and c.event_type = claim_totals.event_type)`,
    })
    .from(claimTotals)
    .where(and(eq(claimTotals.brandId, of.brandId), eq(claimTotals.eventType, of.eventType)));
  return row && { claims: row.claims, counted: Number(row.counted) };
}

/** Accounts that have transactions, whether or not they have a lane. */
export const everySender = (db: Queries) => db.selectDistinct({ lane: transactions.lane }).from(transactions);

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
