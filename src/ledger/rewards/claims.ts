/** How often an event was claimed, per user and in all: the database itself refuses a claim above a limit. */
import { and, lt, lte, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { claimCounters, claimTotals } from '../schema/rewards.ts';

interface ClaimKey {
  brandId: BrandId;
  eventType: string;
  userKey: string;
}
type ClaimCounter = typeof claimCounters.$inferSelect;

/** Text under which a claim key is found in a map; user keys hold no space. */
export const claimKeyText = (key: ClaimKey) => `${key.brandId} ${key.eventType} ${key.userKey}`;

const unique = <T>(values: T[]) => [...new Set(values)];

/** The counters of these claims. */
export async function readClaimCounters(tx: Queries, keys: ClaimKey[]): Promise<Map<string, ClaimCounter>> {
  if (keys.length === 0) return new Map();
  const [brandIds, eventTypes, userKeys] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { brandId, eventType, userKey } of keys) {
    brandIds.add(brandId);
    eventTypes.add(eventType);
    userKeys.add(userKey);
  }
  const lists = { brandIds: [...brandIds], eventTypes: [...eventTypes], userKeys: [...userKeys] };
  const rows = await countersOf(tx, lists);
  return new Map(rows.map((row) => [claimKeyText(row), row]));
}

// Three lists instead of one of triples: the few extra rows cost less than the longer statement.
const countersOf = preparedQuery(
  (db, of: Of<{ brandIds: string[]; eventTypes: string[]; userKeys: string[] }>) =>
    db
      .select()
      .from(claimCounters)
      .where(
        and(
          isOneOf(claimCounters.brandId, of.brandIds),
          isOneOf(claimCounters.eventType, of.eventTypes),
          isOneOf(claimCounters.userKey, of.userKeys),
        ),
      ),
);

export interface Claim extends ClaimKey {
  rewardId: string;
  amount: number;
  nowMs: number;
  /** The claim is granted only while the user has fewer claims than this … */
  claimsBelow: number;
  /** … and the last one is no later than this. */
  lastAtMost: number;
}

/**
 * Counts these claims, each of another key, and returns the users of those that were granted: a row that meanwhile
 * reached its limit, or was claimed too recently, is left as it is. One statement, so no two callers can
 * both take the last claim.
 */
export async function takeClaims(tx: Queries, claims: Claim[]): Promise<string[]> {
  const rows = claims.map((claim) => ({
    brandId: claim.brandId,
    eventType: claim.eventType,
    userKey: claim.userKey,
    claims: 1,
    lastAt: claim.nowMs,
    lastRewardId: claim.rewardId,
    lastAmount: claim.amount,
    termsMaxClaims: claim.claimsBelow,
    termsLastBefore: claim.lastAtMost,
  }));
  const granted = await writeClaims(tx, rows.sort(byKey));
  return granted.map(({ userKey }) => userKey);
}

/** One order for everybody: two processes with overlapping claims wait for each other instead of deadlocking. */
const byKey = (a: ClaimKey, b: ClaimKey) =>
  inOrder(a.userKey, b.userKey) || inOrder(a.brandId, b.brandId) || inOrder(a.eventType, b.eventType);
const inOrder = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const writeClaims = bulkInsert(claimCounters, (insert) =>
  insert
    .onConflictDoUpdate({
      target: [claimCounters.brandId, claimCounters.eventType, claimCounters.userKey],
      set: {
        claims: sql`${claimCounters.claims} + 1`,
        lastAt: sql`excluded.last_at`,
        lastRewardId: sql`excluded.last_reward_id`,
        lastAmount: sql`excluded.last_amount`,
        termsMaxClaims: sql`excluded.terms_max_claims`,
        termsLastBefore: sql`excluded.terms_last_before`,
      },
      setWhere: and(
        lt(claimCounters.claims, sql`excluded.terms_max_claims`),
        lte(claimCounters.lastAt, sql`excluded.terms_last_before`),
      ),
    })
    .returning({ userKey: claimCounters.userKey }),
);

/** Text under which an event is found in a map. */
export const eventKeyText = (key: { brandId: BrandId; eventType: string }) =>
  `${key.brandId} ${key.eventType}`;

/** Grants so far of these events, to all users. */
export async function readClaimTotals(
  tx: Queries,
  events: { brandId: BrandId; eventType: string }[],
): Promise<Map<string, number>> {
  if (events.length === 0) return new Map();
  const rows = await totalsOf(tx, {
    brandIds: unique(events.map((event) => event.brandId)),
    eventTypes: unique(events.map((event) => event.eventType)),
  });
  return new Map(rows.map((row) => [eventKeyText(row), row.claims]));
}

const totalsOf = preparedQuery((db, of: Of<{ brandIds: string[]; eventTypes: string[] }>) =>
  db
    .select()
    .from(claimTotals)
    .where(and(isOneOf(claimTotals.brandId, of.brandIds), isOneOf(claimTotals.eventType, of.eventTypes))),
);

/** More grants of an event. */
export interface AddedClaims {
  brandId: BrandId;
  eventType: string;
  claims: number;
  /** Grants that the event may have, with these. */
  maxTotalClaims: number;
}

/**
 * Counts more grants of these events, each another one, in their order. False when one would have more than its maximum:
 * then nothing is counted for it, and the caller takes back what was for the others.
 */
export async function addClaimTotals(tx: Queries, added: AddedClaims[]): Promise<boolean> {
  if (added.some(({ claims, maxTotalClaims }) => claims > maxTotalClaims)) return false;
  const rows = added.map(({ brandId, eventType, claims, maxTotalClaims }) => [
    ...[brandId, eventType, claims, maxTotalClaims - claims],
  ]);
  const counted = await countTotals(tx, { added: JSON.stringify(rows) });
  return counted.length === added.length;
}

const countTotals = preparedQuery((db, of: Of<{ added: string }>) => {
  const columns = {
    brand_id: 'text',
    event_type: 'text',
    claims: 'bigint',
    claims_before: 'bigint',
  } as const;
  const added = jsonRows('added', of.added, columns);
  return db
    .insert(claimTotals)
    .select(sql`select added.brand_id, added.event_type, added.claims from ${added} where true`)
    .onConflictDoUpdate({
      target: [claimTotals.brandId, claimTotals.eventType],
      set: { claims: sql`${claimTotals.claims} + excluded.claims` },
      setWhere: lte(
        claimTotals.claims,
        sql`(select added.claims_before from ${added} where added.brand_id = excluded.brand_id and added.event_type = excluded.event_type)`,
      ),
    })
    .returning({ claims: claimTotals.claims });
});
