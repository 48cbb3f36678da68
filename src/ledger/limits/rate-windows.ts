/** Limits of N uses per window of time: counted in the database, so that all replicas count together. */
import { and, eq, gt, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { rateWindows } from '../schema/limits.ts';

export interface RateLimit {
  /** Which limit, for example `relay user`; part of the row's key. */
  scope: string;
  limit: number;
  windowMs: number;
}

/** How far a window is used up, as the three X-RateLimit headers tell it. */
export interface RateWindow {
  limit: number;
  /** How many more uses are allowed before the reset. */
  remaining: number;
  /** When the window ends and the full `limit` is available again. */
  resetAtMs: number;
}

/**
 * Takes one use from the window that the first use began. `taken` is false when the window is used up; then nothing
 * was counted. No more than `limit` uses are taken within a window, however many callers and processes ask at once.
 */
export async function takeFromWindow(
  tx: Queries,
  one: RateLimit & { subject: string; now: SqlTime },
): Promise<RateWindow & { taken: boolean }> {
  const { scope, subject, limit, windowMs, now } = one;
  // A clock that was set back by more than a window leaves a window that begins in the future: it is treated as over.
  const over = or(
    lte(rateWindows.startedAt, sql`${now} - ${windowMs}`),
    gt(rateWindows.startedAt, sql`${now} + ${windowMs}`),
  );
  const [row] = await tx
    .insert(rateWindows)
    .values({ scope, subject, startedAt: now, used: 1 })
    .onConflictDoUpdate({
      target: [rateWindows.scope, rateWindows.subject],
      set: {
        used: sql`case when ${over} then 1 else ${rateWindows.used} + 1 end`,
        startedAt: sql`case when ${over} then ${now} else ${rateWindows.startedAt} end`,
      },
      setWhere: or(over, lt(rateWindows.used, limit)),
    })
    .returning({ startedAt: rateWindows.startedAt, used: rateWindows.used });
  if (row) {
    return { taken: true, limit, remaining: limit - row.used, resetAtMs: row.startedAt + windowMs };
  }
  const { nowMs: _, ...window } = await readWindow(tx, one);
  return { taken: false, ...window };
}

/** How far a window is used up, without using it, and what `now` said. */
export async function readWindow(
  db: Queries,
  one: RateLimit & { subject: string; now: SqlTime },
): Promise<RateWindow & { nowMs: number }> {
  const { scope, subject, limit, windowMs, now } = one;
  const [row] = await db
    .select({ nowMs: now, startedAt: rateWindows.startedAt, used: rateWindows.used })
    .from(sql`(select 1) as one`)
    .leftJoin(rateWindows, and(eq(rateWindows.scope, scope), eq(rateWindows.subject, subject)));
  if (!row) throw new Error('a statement without conditions gave no row');
  const { nowMs, startedAt, used } = row;
  const holds = startedAt !== null && startedAt > nowMs - windowMs && startedAt <= nowMs + windowMs;
  if (!holds) return { nowMs, limit, remaining: limit, resetAtMs: nowMs + windowMs };
  return { nowMs, limit, remaining: Math.max(0, limit - (used ?? 0)), resetAtMs: startedAt + windowMs };
}

/** Deletes windows that began before `beforeMs`: they are over, and no limit reads them again. */
export async function forgetOldWindows(db: Queries, beforeMs: number): Promise<void> {
  await db.delete(rateWindows).where(lt(rateWindows.startedAt, beforeMs));
}
