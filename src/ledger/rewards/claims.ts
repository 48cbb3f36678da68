/** How often an event was claimed, per user and in all: the database itself refuses a claim above a limit. */
import { and, inArray, lt, lte, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
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
  // Three lists instead of one of triples: the few extra rows cost less than the longer statement.
  const rows = await tx
    .select()
    .from(claimCounters)
    .where(
      and(
        inArray(claimCounters.brandId, unique(keys.map((key) => key.brandId))),
        inArray(claimCounters.eventType, unique(keys.map((key) => key.eventType))),
        inArray(claimCounters.userKey, unique(keys.map((key) => key.userKey))),
      ),
    );
  return new Map(rows.map((row) => [claimKeyText(row), row]));
}

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
 * Counts these claims, each of another key, and returns the keys that were granted: a row that meanwhile
 * reached its limit, or was claimed too recently, is left as it is. One statement, so no two callers can
 * both take the last claim.
 */
export async function takeClaims(tx: Queries, claims: Claim[]): Promise<Set<string>> {
  // In key order, so that two processes with overlapping claims wait for each other instead of deadlocking.
  const ordered = claims
    .map((claim) => ({ claim, key: claimKeyText(claim) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const granted = await tx
    .insert(claimCounters)
    .values(
      ordered.map(({ claim }) => ({
        brandId: claim.brandId,
        eventType: claim.eventType,
        userKey: claim.userKey,
        claims: 1,
        lastAt: claim.nowMs,
        lastRewardId: claim.rewardId,
        lastAmount: claim.amount,
        termsMaxClaims: claim.claimsBelow,
        termsLastBefore: claim.lastAtMost,
      })),
    )
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
    .returning({
      brandId: claimCounters.brandId,
      eventType: claimCounters.eventType,
      userKey: claimCounters.userKey,
    });
  return new Set(granted.map(claimKeyText));
}

/** Text under which an event is found in a map. */
export const eventKeyText = (key: { brandId: BrandId; eventType: string }) =>
  `${key.brandId} ${key.eventType}`;

/** Grants so far of these events, to all users. */
export async function readClaimTotals(
  tx: Queries,
  events: { brandId: BrandId; eventType: string }[],
): Promise<Map<string, number>> {
  if (events.length === 0) return new Map();
  const rows = await tx
    .select()
    .from(claimTotals)
    .where(
      and(
        inArray(claimTotals.brandId, unique(events.map((event) => event.brandId))),
        inArray(claimTotals.eventType, unique(events.map((event) => event.eventType))),
      ),
    );
  return new Map(rows.map((row) => [eventKeyText(row), row.claims]));
}

/** Counts `claims` more grants of an event, unless that would exceed `maxTotalClaims`: then false, and nothing is counted. */
export async function addClaimTotal(
  tx: Queries,
  grant: { brandId: BrandId; eventType: string; claims: number; maxTotalClaims: number },
): Promise<boolean> {
  const { brandId, eventType, claims, maxTotalClaims } = grant;
  if (claims > maxTotalClaims) return false;
  const counted = await tx
    .insert(claimTotals)
    .values({ brandId, eventType, claims })
    .onConflictDoUpdate({
      target: [claimTotals.brandId, claimTotals.eventType],
      set: { claims: sql`${claimTotals.claims} + ${claims}` },
      setWhere: lte(claimTotals.claims, maxTotalClaims - claims),
    })
    .returning({ claims: claimTotals.claims });
  return counted.length === 1;
}
