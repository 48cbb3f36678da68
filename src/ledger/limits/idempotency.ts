/** First answers, kept under the caller's Idempotency-Key. */
import { and, eq, gt, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { atTime, type Of, preparedQuery } from '../database/prepared-query.ts';
import { idempotencyKeys } from '../schema/limits.ts';

export type IdempotentRequest = typeof idempotencyKeys.$inferSelect;
type Named = { scope: string; key: string };

const named = ({ scope, key }: Of<Named>) =>
  and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key));
/** The request has no answer yet. */
const open = (of: Of<Named>) => and(named(of), isNull(idempotencyKeys.status));
/** A request on which a caller works until then. */
type Claimed = Named & { busyUntil: number };
/** The request has no answer yet, and the caller is the one that works on it. */
const openUntil = (of: Of<Claimed>) => and(open(of), eq(idempotencyKeys.busyUntil, of.busyUntil));

/** How long a claim on a request holds, counted by `now`: the clock of the database, which all processes share. */
interface ClaimTerm {
  now: SqlTime;
  forMs: number;
}
type Term = Named & Pick<ClaimTerm, 'forMs'>;

/** Notes a request as begun; undefined when the key was used before. */
export async function beginRequest(
  db: Queries,
  { now, ...request }: ClaimTerm & NewRequest,
): Promise<IdempotentRequest | undefined> {
  const [row] = await begin(now)(db, request);
  return row;
}

type NewRequest = Named & Pick<IdempotentRequest, 'requestDigest' | 'effectId'>;

const begin = atTime((now) =>
  preparedQuery((db, of: Of<NewRequest & Term>) => {
    const { scope, key, requestDigest, effectId } = of;
    const claimed = { busyUntil: sql`${now} + ${of.forMs}`, createdAt: now };
    return db
      .insert(idempotencyKeys)
      .values({ scope, key, requestDigest, effectId, ...claimed })
      .onConflictDoNothing()
      .returning();
  }),
);

export async function findRequest(
  db: Queries,
  { scope, key }: Named,
): Promise<IdempotentRequest | undefined> {
  const [row] = await find(db, { scope, key });
  return row;
}

const find = preparedQuery((db, of: Of<Named>) => db.select().from(idempotencyKeys).where(named(of)));

/** Takes over a request whose worker has stopped renewing it; the end of the new claim, or undefined when another caller has it. */
export async function takeOverRequest(
  db: Queries,
  { now, ...of }: Named & ClaimTerm,
): Promise<number | undefined> {
  const [taken] = await takeOver(now)(db, of);
  return taken?.busyUntil;
}

const takeOver = atTime((now) =>
  preparedQuery((db, of: Of<Term>) => {
    const end = sql<number>`${now} + ${of.forMs}`;
    // A claim never ends later than its length from now, unless the clock was ahead when it was written.
    const isOver = or(lte(idempotencyKeys.busyUntil, now), gt(idempotencyKeys.busyUntil, end));
    return db
      .update(idempotencyKeys)
      .set({ busyUntil: end })
      .where(and(open(of), isOver))
      .returning({ busyUntil: idempotencyKeys.busyUntil });
  }),
);

/** Renews the claim on a request; its new end, or undefined when another caller has taken it over. */
export async function renewRequest(
  db: Queries,
  { now, ...of }: Claimed & ClaimTerm,
): Promise<number | undefined> {
  const [renewed] = await renew(now)(db, of);
  return renewed?.busyUntil;
}

const renew = atTime((now) =>
  preparedQuery((db, of: Of<Claimed & Term>) =>
    db
      .update(idempotencyKeys)
      .set({ busyUntil: sql`${now} + ${of.forMs}` })
      .where(openUntil(of))
      .returning({ busyUntil: idempotencyKeys.busyUntil }),
  ),
);

/** Gives the effect of a request another id, after that of an earlier try was undone; false when another caller has taken it over. */
export async function renewEffect(db: Queries, of: Claimed & { effectId: string }): Promise<boolean> {
  return (await writeEffect(db, of)).length === 1;
}

const writeEffect = preparedQuery((db, of: Of<Claimed & { effectId: string }>) =>
  db
    .update(idempotencyKeys)
    .set({ effectId: sql`${of.effectId}` })
    .where(openUntil(of))
    .returning({ key: idempotencyKeys.key }),
);

/** The first answer under a key. */
interface FirstAnswer extends Named {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Keeps the first answer; later callers get it word for word. False when there is one already. */
export async function keepAnswer(db: Queries, answer: FirstAnswer): Promise<boolean> {
  const headers = JSON.stringify(answer.headers);
  return (await writeAnswer(db, { ...answer, headers })).length === 1;
}

const writeAnswer = preparedQuery((db, of: Of<Omit<FirstAnswer, 'headers'> & { headers: string }>) =>
  db
    .update(idempotencyKeys)
    .set({ status: sql`${of.status}`, headers: sql`${of.headers}`, body: sql`${of.body}` })
    .where(open(of))
    .returning({ key: idempotencyKeys.key }),
);

/** Ends this try's claim, so that the next try need not wait; changes nothing when another try has taken over. */
export async function freeRequest(db: Queries, of: Claimed): Promise<void> {
  await free(db, of);
}

const free = preparedQuery((db, of: Of<Claimed>) =>
  db.update(idempotencyKeys).set({ busyUntil: 0 }).where(openUntil(of)),
);

/** Forgets a request that had no effect: its key is free again. Changes nothing when another try has taken over. */
export async function forgetRequest(db: Queries, of: Claimed): Promise<void> {
  await forget(db, of);
}

const forget = preparedQuery((db, of: Of<Claimed>) => db.delete(idempotencyKeys).where(openUntil(of)));

/** Deletes answers that were kept for `keptMs`. */
export async function forgetOldRequests(
  db: Queries,
  { now, keptMs }: { now: SqlTime; keptMs: number },
): Promise<void> {
  await forgetOld(now)(db, { keptMs });
}

const forgetOld = atTime((now) =>
  preparedQuery((db, of: Of<{ keptMs: number }>) =>
    db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, sql`${now} - ${of.keptMs}`)),
  ),
);
