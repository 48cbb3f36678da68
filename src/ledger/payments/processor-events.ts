/** The processor's events that were worked off: the processor sends each at least once, here each has its effect once. */
import { eq } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { processorEvents } from '../schema/payments.ts';

export type ProcessorEventRow = typeof processorEvents.$inferSelect;

/**
 * Records an event in the commit of its effect. False when it is recorded already: the caller leaves the effect out.
 * Another commit that records the same event waits for this one.
 */
export async function recordProcessorEvent(tx: Queries, event: ProcessorEventRow): Promise<boolean> {
  const recorded = await tx
    .insert(processorEvents)
    .values(event)
    .onConflictDoNothing()
    .returning({ id: processorEvents.id });
  return recorded.length === 1;
}

/** An event that was worked off, by the processor's id. */
export async function findProcessorEvent(db: Queries, id: string): Promise<ProcessorEventRow | undefined> {
  const [row] = await db.select().from(processorEvents).where(eq(processorEvents.id, id));
  return row;
}
