/** When checkouts are looked at next: claimed by one process at a time, and sooner where an event calls one paid. */
import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lt, lte, or } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { checkoutSessions } from '../schema/payments.ts';
import type { CheckoutSession } from './checkout-sessions.ts';

/**
 * Takes up to `limit` checkouts whose time to be looked at has come: first those that an event calls paid, the newest
 * event first, then the longest overdue. They are due again after `claimMs`, for the case that this process ends.
 */
export async function claimLooks(
  db: Queries,
  of: { nowMs: number; limit: number; claimMs: number },
): Promise<CheckoutSession[]> {
  const { hintedAt, nextLookAt, id } = checkoutSessions;
  const isDue = lte(nextLookAt, of.nowMs);
  const hinted = await db
    .select({ id })
    .from(checkoutSessions)
    .where(and(isNotNull(hintedAt), isDue))
    .orderBy(desc(hintedAt), asc(id))
    .limit(of.limit);
  const others =
    hinted.length === of.limit
      ? []
      : await db
          .select({ id })
          .from(checkoutSessions)
          .where(and(isNull(hintedAt), isDue))
          .orderBy(asc(nextLookAt), asc(id))
          .limit(of.limit - hinted.length);
  const chosen = [...hinted, ...others].map((row) => row.id);
  if (chosen.length === 0) return [];
  const claimed = await db
    .update(checkoutSessions)
    .set({ nextLookAt: of.nowMs + of.claimMs })
    // Asked again, since another process may have taken them meanwhile.
    .where(and(inArray(id, chosen), isDue))
    .returning();
  const place = new Map(chosen.map((one, index) => [one, index]));
  return claimed.sort((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
}

/**
 * Plans the next look at a checkout that this process has claimed; null: never again. Where something else has planned
 * one meanwhile, such as an event that calls it paid, that stays.
 */
export async function planNextLook(
  db: Queries,
  look: { id: string; claimedUntil: number | null; nextLookAt: number | null },
): Promise<void> {
  const { id, claimedUntil, nextLookAt } = look;
  if (claimedUntil === null) return;
  await db
    .update(checkoutSessions)
    .set({ nextLookAt, ...(nextLookAt === null && { openedFrom: null }) })
    .where(and(eq(checkoutSessions.id, id), eq(checkoutSessions.nextLookAt, claimedUntil)));
}

/**
 * Makes checkouts due at once that events call paid, by the processor's ids of their sessions; each event does so once.
 * Returns how many are due by it.
 */
export async function hintPaid(
  db: Queries,
  hints: { processorSessionId: string; atMs: number }[],
  nowMs: number,
): Promise<number> {
  const newest = new Map<string, number>();
  for (const { processorSessionId, atMs } of hints)
    newest.set(processorSessionId, Math.max(atMs, newest.get(processorSessionId) ?? atMs));
  const known = await inChunks([...newest.keys()], (some) =>
    db
      .select({ id: checkoutSessions.id, session: checkoutSessions.processorSessionId })
      .from(checkoutSessions)
      .where(and(inArray(checkoutSessions.processorSessionId, some), isNotNull(checkoutSessions.nextLookAt))),
  );
  let due = 0;
  for (const { id, session } of known) {
    const atMs = newest.get(session ?? '');
    if (atMs === undefined) continue;
    const { hintedAt, nextLookAt } = checkoutSessions;
    const rows = await db
      .update(checkoutSessions)
      .set({ hintedAt: atMs, nextLookAt: nowMs })
      .where(
        and(eq(checkoutSessions.id, id), isNotNull(nextLookAt), or(isNull(hintedAt), lt(hintedAt, atMs))),
      )
      .returning({ id: checkoutSessions.id });
    due += rows.length;
  }
  return due;
}

/** Whether any checkout planned since a moment has no session yet: then an id that is not known here may be its. */
export async function hasUnattached(db: Queries, { sinceMs }: { sinceMs: number }): Promise<boolean> {
  const [row] = await db
    .select({ id: checkoutSessions.id })
    .from(checkoutSessions)
    .where(
      and(
        isNull(checkoutSessions.processorSessionId),
        // Each such checkout is looked for until its time is over.
        isNotNull(checkoutSessions.nextLookAt),
        gte(checkoutSessions.createdAt, sinceMs),
      ),
    )
    .limit(1);
  return row !== undefined;
}
