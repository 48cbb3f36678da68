/** First answers, kept under the caller's Idempotency-Key. */
import { and, eq, isNull, lt, lte } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { idempotencyKeys } from '../schema/limits.ts';

export type IdempotentRequest = typeof idempotencyKeys.$inferSelect;
type Named = { scope: string; key: string };

const named = ({ scope, key }: Named) => and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key));
/** The request has no answer yet. */
const open = (of: Named) => and(named(of), isNull(idempotencyKeys.status));
/** The request has no answer yet, and the caller is the one that works on it. */
const openUntil = (of: Named & { busyUntil: number }) =>
  and(open(of), eq(idempotencyKeys.busyUntil, of.busyUntil));

/** Notes a request as begun; undefined when the key was used before. */
export async function beginRequest(
  db: Queries,
  request: Omit<IdempotentRequest, 'status' | 'headers' | 'body'>,
): Promise<IdempotentRequest | undefined> {
  const [row] = await db.insert(idempotencyKeys).values(request).onConflictDoNothing().returning();
  return row;
}

export async function findRequest(
  db: Queries,
  of: { scope: string; key: string },
): Promise<IdempotentRequest | undefined> {
  const [row] = await db.select().from(idempotencyKeys).where(named(of));
  return row;
}

/** Takes over a request whose worker has stopped renewing it; false when another caller was faster. */
export async function takeOverRequest(
  db: Queries,
  of: { scope: string; key: string; nowMs: number; busyUntil: number },
): Promise<boolean> {
  const taken = await db
    .update(idempotencyKeys)
    .set({ busyUntil: of.busyUntil })
    .where(and(open(of), lte(idempotencyKeys.busyUntil, of.nowMs)))
    .returning({ key: idempotencyKeys.key });
  return taken.length === 1;
}

/** Renews the claim on a request; false when another caller has taken it over. */
export async function renewRequest(
  db: Queries,
  of: { scope: string; key: string; busyUntil: number; until: number },
): Promise<boolean> {
  const renewed = await db
    .update(idempotencyKeys)
    .set({ busyUntil: of.until })
    .where(openUntil(of))
    .returning({ key: idempotencyKeys.key });
  return renewed.length === 1;
}

/** Gives the effect of a request another id, after that of an earlier try was undone; false when another caller has taken it over. */
export async function renewEffect(
  db: Queries,
  of: { scope: string; key: string; busyUntil: number; effectId: string },
): Promise<boolean> {
  const renewed = await db
    .update(idempotencyKeys)
    .set({ effectId: of.effectId })
    .where(openUntil(of))
    .returning({ key: idempotencyKeys.key });
  return renewed.length === 1;
}

/** Keeps the first answer; later callers get it word for word. False when there is one already. */
export async function keepAnswer(
  db: Queries,
  answer: { scope: string; key: string; status: number; headers: Record<string, string>; body: string },
): Promise<boolean> {
  const kept = await db
    .update(idempotencyKeys)
    .set({ status: answer.status, headers: answer.headers, body: answer.body })
    .where(open(answer))
    .returning({ key: idempotencyKeys.key });
  return kept.length === 1;
}

/** Ends this try's claim, so that the next try need not wait; changes nothing when another try has taken over. */
export async function freeRequest(
  db: Queries,
  of: { scope: string; key: string; busyUntil: number },
): Promise<void> {
  await db.update(idempotencyKeys).set({ busyUntil: 0 }).where(openUntil(of));
}

/** Forgets a request that had no effect: its key is free again. Changes nothing when another try has taken over. */
export async function forgetRequest(
  db: Queries,
  of: { scope: string; key: string; busyUntil: number },
): Promise<void> {
  await db.delete(idempotencyKeys).where(openUntil(of));
}

/** Deletes answers older than `beforeMs`. */
export async function forgetOldRequests(db: Queries, beforeMs: number): Promise<void> {
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, beforeMs));
}
