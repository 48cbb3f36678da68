/** Limits of N uses per window of time: counted in the database, so that all replicas count together. */
import { and, eq, gt, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
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
  one: RateLimit & { subject: string; nowMs: number },
): Promise<RateWindow & { taken: boolean }> {
  const { scope, subject, limit, windowMs, nowMs } = one;
  // A clock that was set back by more than a window leaves a window that begins in the future: it is treated as over.
  const over = or(lte(rateWindows.startedAt, nowMs - windowMs), gt(rateWindows.startedAt, nowMs + windowMs));
  const [row] = await tx
    .insert(rateWindows)
    .values({ scope, subject, startedAt: nowMs, used: 1 })
    .onConflictDoUpdate({
      target: [rateWindows.scope, rateWindows.subject],
      set: {
        used: sql`case when ${over} then 1 else ${rateWindows.used} + 1 end`,
        startedAt: sql`case when ${over} then ${nowMs} else ${rateWindows.startedAt} end`,
      },
      setWhere: or(over, lt(rateWindows.used, limit)),
    })
    .returning({ startedAt: rateWindows.startedAt, used: rateWindows.used });
  if (row) {
    return { taken: true, limit, remaining: limit - row.used, resetAtMs: row.startedAt + windowMs };
  }
  return { taken: false, ...(await readWindow(tx, one)) };
}

/** How far a window is used up, without using it. */
export async function readWindow(
  db: Queries,
  one: RateLimit & { subject: string; nowMs: number },
): Promise<RateWindow> {
  const { scope, subject, limit, windowMs, nowMs } = one;
  const [row] = await db
    .select()
    .from(rateWindows)
    .where(and(eq(rateWindows.scope, scope), eq(rateWindows.subject, subject)));
  const holds = row && row.startedAt > nowMs - windowMs && row.startedAt <= nowMs + windowMs;
  if (!holds) return { limit, remaining: limit, resetAtMs: nowMs + windowMs };
  return { limit, remaining: Math.max(0, limit - row.used), resetAtMs: row.startedAt + windowMs };
}

/** Deletes windows that began before `beforeMs`: they are over, and no limit reads them again. */
export async function forgetOldWindows(db: Queries, beforeMs: number): Promise<void> {
  await db.delete(rateWindows).where(lt(rateWindows.startedAt, beforeMs));
}
