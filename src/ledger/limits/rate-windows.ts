/** Limits of N uses per window of time: counted in the database, so that all replicas count together. */
import { and, eq, gt, lt, lte, or, sql } from 'drizzle-orm';
import type { Queries, SqlTime } from '../database/database.ts';
import { atTime, isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
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

/** Takes one use, as `takeFromWindows` does. */
export async function takeFromWindow(
  tx: Queries,
  { subject, ...limit }: RateLimit & { subject: string; now: SqlTime },
): Promise<RateWindow & { taken: boolean }> {
  const [answer] = await takeFromWindows(tx, limit, [subject]);
  if (!answer) throw new Error('a use of a window has no answer');
  return answer;
}

/**
 * Takes a use for each of the subjects, of which any may be there several times, from the windows that their first uses
 * began; the answers are in the same order. `taken` is false when the window is used up; then nothing was counted. No
 * more than `limit` uses are taken within a window, however many callers and processes ask at once. Rows are locked in
 * the order of the subjects.
 */
export async function takeFromWindows(
  tx: Queries,
  limited: RateLimit & { now: SqlTime },
  subjects: string[],
): Promise<(RateWindow & { taken: boolean })[]> {
  const { limit, windowMs } = limited;
  const uses = new Map<string, number>();
  for (const subject of subjects.toSorted()) uses.set(subject, (uses.get(subject) ?? 0) + 1);
  const fitting = [...uses].filter(([, count]) => count <= limit || count === 1);
  const rows = new Map((await useWindows(tx, limited, fitting)).map((row) => [row.subject, row]));
  // Uses that do not all fit are taken one after the other.
  const crowded = [...uses].filter(([subject, count]) => count > 1 && !rows.has(subject));
  const singly = new Map<string, (RateWindow & { taken: boolean })[]>();
  for (const [subject, count] of crowded) {
    const answers = [];
    for (let use = 0; use < count; use++) answers.push(await takeFromWindow(tx, { ...limited, subject }));
    singly.set(subject, answers);
  }
  const usedUp = [...uses.keys()].filter((subject) => !rows.has(subject) && !singly.has(subject));
  const full = usedUp.length > 0 ? await readWindows(tx, limited, usedUp) : new Map<string, never>();
  return subjects.map((subject) => {
    const one = singly.get(subject)?.shift();
    if (one) return one;
    const row = rows.get(subject);
    if (!row) {
      const { nowMs: _, ...window } = full.get(subject) as RateWindow & { nowMs: number };
      return { taken: false, ...window };
    }
    const left = (uses.get(subject) ?? 1) - 1;
    uses.set(subject, left);
    return { taken: true, limit, remaining: limit - row.used + left, resetAtMs: row.startedAt + windowMs };
  });
}

/** Takes all uses of a subject or none; the rows are those of which they were taken. */
async function useWindows(
  tx: Queries,
  { scope, limit, windowMs, now }: RateLimit & { now: SqlTime },
  uses: [subject: string, count: number][],
) {
  if (uses.length === 0) return [];
  return addUses(now)(tx, { scope, limit, windowMs, uses: JSON.stringify(uses) });
}

const addUses = atTime((now) =>
  preparedQuery((db, of: Of<{ scope: string; limit: number; windowMs: number; uses: string }>) => {
    const { scope, limit, windowMs } = of;
    // A clock that was set back by more than a window leaves a window that begins in the future: it is treated as over.
    const over = or(
      lte(rateWindows.startedAt, sql`${now} - ${windowMs}`),
      gt(rateWindows.startedAt, sql`${now} + ${windowMs}`),
    );
    return db
      .insert(rateWindows)
      .select(
        sql`select ${scope}, uses.subject, ${now}, uses.used from ${jsonRows('uses', of.uses, { subject: 'text', used: 'bigint' })} where true`,
      )
      .onConflictDoUpdate({
        target: [rateWindows.scope, rateWindows.subject],
        set: {
          used: sql`case when ${over} then excluded.used else ${rateWindows.used} + excluded.used end`,
          startedAt: sql`case when ${over} then ${now} else ${rateWindows.startedAt} end`,
        },
        setWhere: or(over, sql`${rateWindows.used} + excluded.used <= ${limit}`),
      })
      .returning({
        subject: rateWindows.subject,
        startedAt: rateWindows.startedAt,
        used: rateWindows.used,
      });
  }),
);

/** How far a window is used up, without using it, and what `now` said. */
export async function readWindow(
  db: Queries,
  { subject, ...limit }: RateLimit & { subject: string; now: SqlTime },
): Promise<RateWindow & { nowMs: number }> {
  const window = (await readWindows(db, limit, [subject])).get(subject);
  if (!window) throw new Error('a statement without conditions gave no row');
  return window;
}

/** The same for several subjects. */
export async function readWindows(
  db: Queries,
  { scope, limit, windowMs, now }: RateLimit & { now: SqlTime },
  subjects: string[],
): Promise<Map<string, RateWindow & { nowMs: number }>> {
  const rows = await usesAt(now)(db, { scope, subjects });
  const [any] = rows;
  if (!any) throw new Error('a statement without conditions gave no row');
  const { nowMs } = any;
  const known = new Map(rows.map((row) => [row.subject, row]));
  return new Map(
    subjects.map((subject) => {
      const { startedAt, used } = known.get(subject) ?? { startedAt: null, used: null };
      const holds = startedAt !== null && startedAt > nowMs - windowMs && startedAt <= nowMs + windowMs;
      const window = holds
        ? { remaining: Math.max(0, limit - (used ?? 0)), resetAtMs: startedAt + windowMs }
        : { remaining: limit, resetAtMs: nowMs + windowMs };
      return [subject, { nowMs, limit, ...window }];
    }),
  );
}

const usesAt = atTime((now) =>
  preparedQuery((db, of: Of<{ scope: string; subjects: string[] }>) =>
    db
      .select({
        nowMs: now,
        subject: rateWindows.subject,
        startedAt: rateWindows.startedAt,
        used: rateWindows.used,
      })
      .from(sql`(select 1) as one`)
      .leftJoin(rateWindows, and(eq(rateWindows.scope, of.scope), isOneOf(rateWindows.subject, of.subjects))),
  ),
);

/** Deletes windows that began before `beforeMs`: they are over, and no limit reads them again. */
export async function forgetOldWindows(db: Queries, beforeMs: number): Promise<void> {
  await db.delete(rateWindows).where(lt(rateWindows.startedAt, beforeMs));
}
