/** Cooldowns that end ahead: what an emulator's clock meets on its way. */
import { and, asc, eq, gt, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries, TimeRange } from '../database/database.ts';
import { eventRules } from '../schema/brands.ts';
import { claimCounters } from '../schema/rewards.ts';

/** The contract's two ways to write "no limit" (Limits). */
const isUnlimited = or(eq(eventRules.maxClaims, -1), eq(eventRules.maxClaims, 999_999));

/** From then on neither the cooldown nor the duplicate window holds up the next claim. */
const endOf = (duplicateWindowMs: number) =>
  sql<number>`${claimCounters.lastAt} + case when ${eventRules.cooldownMs} > ${duplicateWindowMs}
    then ${eventRules.cooldownMs} else ${duplicateWindowMs} end`.mapWith(Number);

const columns = (duplicateWindowMs: number) => ({
  atMs: endOf(duplicateWindowMs),
  brandId: claimCounters.brandId,
  eventType: claimCounters.eventType,
  userKey: claimCounters.userKey,
  claims: claimCounters.claims,
  maxClaims: eventRules.maxClaims,
});

const ofRule = and(
  eq(eventRules.brandId, claimCounters.brandId),
  eq(eventRules.eventType, claimCounters.eventType),
);

/** The earliest end first, of users who may claim again; `total` in each row counts those beyond the limit too. */
export const cooldownExpiries = (
  db: Queries,
  { duplicateWindowMs, afterMs, untilMs, limit }: TimeRange & { duplicateWindowMs: number },
) =>
  db
    .select({ ...columns(duplicateWindowMs), total: sql<number>`count(*) over ()`.mapWith(Number) })
    .from(claimCounters)
    .innerJoin(eventRules, ofRule)
    .where(
      and(
        eq(eventRules.active, true),
        gt(claimCounters.claims, 0),
        or(isUnlimited, lt(claimCounters.claims, eventRules.maxClaims)),
        gt(endOf(duplicateWindowMs), afterMs),
        lte(endOf(duplicateWindowMs), untilMs),
      ),
    )
    .orderBy(asc(endOf(duplicateWindowMs)), asc(claimCounters.userKey))
    .limit(limit);

/** When the user may claim this event of each brand again, and how often they have claimed it. */
export const cooldownsOf = (
  db: Queries,
  {
    userKey,
    eventType,
    duplicateWindowMs,
  }: { userKey: string; eventType: string; duplicateWindowMs: number },
) =>
  db
    .select(columns(duplicateWindowMs))
    .from(claimCounters)
    .innerJoin(eventRules, ofRule)
    .where(
      and(
        eq(claimCounters.userKey, userKey),
        eq(claimCounters.eventType, eventType),
        gt(claimCounters.claims, 0),
      ),
    );
