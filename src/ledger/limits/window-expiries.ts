/** Windows of limits that end ahead: what an emulator's clock meets on its way. */
import { and, asc, desc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import type { Queries, TimeRange } from '../database/database.ts';
import { rateWindows } from '../schema/limits.ts';

/** Scopes whose windows last equally long. */
interface Scopes {
  scopes: string[];
  windowMs: number;
}

/** The earliest end first; `total` in each row counts those beyond the limit too. */
export const windowExpiries = (
  db: Queries,
  { scopes, windowMs, afterMs, untilMs, limit }: Scopes & TimeRange,
) =>
  db
    .select({
      atMs: sql<number>`${rateWindows.startedAt} + ${windowMs}`.mapWith(Number),
      scope: rateWindows.scope,
      subject: rateWindows.subject,
      used: rateWindows.used,
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(rateWindows)
    .where(
      and(
        inArray(rateWindows.scope, scopes),
        gt(rateWindows.startedAt, afterMs - windowMs),
        lte(rateWindows.startedAt, untilMs - windowMs),
      ),
    )
    .orderBy(asc(rateWindows.startedAt), asc(rateWindows.subject))
    .limit(limit);

/** The windows that count the uses of one subject, those that began last first. */
export const windowsOf = (db: Queries, { scopes, subject }: { scopes: string[]; subject: string }) =>
  db
    .select()
    .from(rateWindows)
    .where(and(inArray(rateWindows.scope, scopes), eq(rateWindows.subject, subject)))
    .orderBy(desc(rateWindows.startedAt));

/** The windows of a scope that have not ended, the most used first; `total` in each row counts those beyond the limit too. */
export const busiestWindows = (
  db: Queries,
  of: { scope: string; subject?: string | undefined; windowMs: number; nowMs: number; limit: number },
) =>
  db
    .select({
      subject: rateWindows.subject,
      startedAt: rateWindows.startedAt,
      used: rateWindows.used,
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(rateWindows)
    .where(
      and(
        eq(rateWindows.scope, of.scope),
        gt(rateWindows.startedAt, of.nowMs - of.windowMs),
        of.subject === undefined ? undefined : eq(rateWindows.subject, of.subject),
      ),
    )
    .orderBy(desc(rateWindows.used), asc(rateWindows.subject))
    .limit(of.limit);
