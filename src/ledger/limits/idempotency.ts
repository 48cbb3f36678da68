/** First answers, kept under the caller's Idempotency-Key. */
import { and, eq, gt, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { idempotencyKeys } from '../schema/limits.ts';

export type IdempotentRequest = typeof idempotencyKeys.$inferSelect;
type Named = { scope: string; key: string };

const named = ({ scope, key }: Named) => and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key));
/** The request has no answer yet. */
const open = (of: Named) => and(named(of), isNull(idempotencyKeys.status));
/** The request has no answer yet, and the caller is the one that works on it. */
const openUntil = (of: Named & { busyUntil: number }) =>
  and(open(of), eq(idempotencyKeys.busyUntil, of.busyUntil));

/** How long a claim on a request holds, counted by `now`: the clock of the database, which all processes share. */
interface ClaimTerm {
  now: SqlTime;
  forMs: number;
}
const endOf = ({ now, forMs }: ClaimTerm) => sql<number>`${now} + ${forMs}`;

/** Notes a request as begun; undefined when the key was used before. */
export async function beginRequest(
  db: Queries,
  { now, forMs, ...request }: Named & ClaimTerm & Pick<IdempotentRequest, 'requestDigest' | 'effectId'>,
): Promise<IdempotentRequest | undefined> {
  const [row] = await db
    .insert(idempotencyKeys)
    .values({ ...request, busyUntil: endOf({ now, forMs }), createdAt: now })
    .onConflictDoNothing()
    .returning();
  return row;
}

export async function findRequest(
  db: Queries,
  of: { scope: string; key: string },
): Promise<IdempotentRequest | undefined> {
  const [row] = await db.select().from(idempotencyKeys).where(named(of));
  return row;
}

/** Takes over a request whose worker has stopped renewing it; the end of the new claim, or undefined when another caller has it. */
export async function takeOverRequest(db: Queries, of: Named & ClaimTerm): Promise<number | undefined> {
  const end = endOf(of);
  // A claim never ends later than its length from now, unless the clock was ahead when it was written.
  const isOver = or(lte(idempotencyKeys.busyUntil, of.now), gt(idempotencyKeys.busyUntil, end));
  const [taken] = await db
    .update(idempotencyKeys)
    .set({ busyUntil: end })
    .where(and(open(of), isOver))
    .returning({ busyUntil: idempotencyKeys.busyUntil });
  return taken?.busyUntil;
}

/** Renews the claim on a request; its new end, or undefined when another caller has taken it over. */
export async function renewRequest(
  db: Queries,
  of: Named & ClaimTerm & { busyUntil: number },
): Promise<number | undefined> {
  const [renewed] = await db
    .update(idempotencyKeys)
    .set({ busyUntil: endOf(of) })
    .where(openUntil(of))
    .returning({ busyUntil: idempotencyKeys.busyUntil });
  return renewed?.busyUntil;
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
export async function freeRequest(db: Queries, of: Named & { busyUntil: number }): Promise<void> {
  await db.update(idempotencyKeys).set({ busyUntil: 0 }).where(openUntil(of));
}

/** Forgets a request that had no effect: its key is free again. Changes nothing when another try has taken over. */
export async function forgetRequest(
  db: Queries,
  of: { scope: string; key: string; busyUntil: number },
): Promise<void> {
  await db.delete(idempotencyKeys).where(openUntil(of));
}

/** Deletes answers that were kept for `keptMs`. */
export async function forgetOldRequests(db: Queries, of: { now: SqlTime; keptMs: number }): Promise<void> {
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, sql`${of.now} - ${of.keptMs}`));
}
