/** Recoveries of the ledger: one at a time, each with the rows that it wrote. */
import { and, asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { counters } from '../schema/facts-and-counters.ts';
import { type CountersBefore, type RecoveredKind, recoveredRows, recoveries } from '../schema/recoveries.ts';

export type Recovery = typeof recoveries.$inferSelect;
export type RecoveredRow = typeof recoveredRows.$inferSelect;

/** The recovery that was begun and not finished; undefined where there is none. */
export async function unfinishedRecovery(db: Queries): Promise<Recovery | undefined> {
  const [row] = await db.select().from(recoveries).where(isNull(recoveries.finishedAt)).limit(1);
  return row;
}

/** All of them, newest first. */
export const everyRecovery = (db: Queries): Promise<Recovery[]> =>
  db.select().from(recoveries).orderBy(desc(recoveries.startedAt), desc(recoveries.id));

export async function beginRecovery(tx: Queries, recovery: Recovery): Promise<void> {
  await tx.insert(recoveries).values(recovery);
}

/** How far the chain was searched by the latest run of it. */
export async function noteSearched(tx: Queries, of: { id: string; headBlock: number }): Promise<void> {
  await tx.update(recoveries).set({ headBlock: of.headBlock }).where(eq(recoveries.id, of.id));
}

export async function finishRecovery(tx: Queries, of: { id: string; nowMs: number }): Promise<void> {
  await tx.update(recoveries).set({ finishedAt: of.nowMs }).where(eq(recoveries.id, of.id));
}

/** Notes a row that was written; one that is noted already keeps its first note. */
export async function noteRecovered(tx: Queries, row: RecoveredRow): Promise<void> {
  await tx.insert(recoveredRows).values(row).onConflictDoNothing();
}

/** What a recovery wrote, in a steady order. */
export const rowsOfRecovery = (db: Queries, recoveryId: string): Promise<RecoveredRow[]> =>
  db
    .select()
    .from(recoveredRows)
    .where(eq(recoveredRows.recoveryId, recoveryId))
    .orderBy(asc(recoveredRows.kind), asc(recoveredRows.rowId));

/** Of these ids, those of rows of this kind that a recovery wrote. */
export async function recoveredAmong(db: Queries, kind: RecoveredKind, ids: string[]): Promise<Set<string>> {
  const rows = await inChunks(ids, (some) =>
    db
      .select({ rowId: recoveredRows.rowId })
      .from(recoveredRows)
      .where(and(eq(recoveredRows.kind, kind), inArray(recoveredRows.rowId, some))),
  );
  return new Set(rows.map(({ rowId }) => rowId));
}

/** The next numbers of the counters that stand for something on chain; 0 where none was handed out yet. */
export async function readCounters(db: Queries): Promise<CountersBefore> {
  const rows = await db.select().from(counters);
  const next = (name: keyof CountersBefore) => rows.find((row) => row.name === name)?.next ?? 0;
  return {
    reward_sequence: next('reward_sequence'),
    wallet_index: next('wallet_index'),
    gas_wallet_index: next('gas_wallet_index'),
  };
}

/** Makes a counter go on with `next` or later; never takes a number back. */
export async function raiseCounter(
  tx: Queries,
  { name, next }: { name: keyof CountersBefore; next: number },
): Promise<void> {
  await tx
    .insert(counters)
    .values({ name, next })
    .onConflictDoUpdate({
      target: counters.name,
      set: {
        next: sql`case when ${counters.next} < excluded.next then excluded.next else ${counters.next} end`,
      },
    });
}
