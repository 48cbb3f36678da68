/** Reads the processor's list of events for what no event told us: sessions that were paid, refunds and disputes. */
import { type BusinessTime, type Database, readTime } from '../../ledger/database/database.ts';
import { hasCheckouts } from '../../ledger/payments/checkout-sessions.ts';
import { hintPaid } from '../../ledger/payments/due-looks.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { PaymentProcessor, ProcessorEvent } from '../../payments/processor.ts';

export interface EventReaderDeps {
  database: Database;
  businessTime: BusinessTime;
  processor: Pick<PaymentProcessor, 'eventsSince'>;
  /** `receive-processor-event.ts` with its deps bound. */
  receive: (event: ProcessorEvent) => Promise<unknown>;
  /** Checkouts have become due. */
  onHinted: () => void;
  log: Log;
  settings: EventReaderSettings;
}

export interface EventReaderSettings {
  /** Between two looks at the processor's events. */
  eventsEveryMs: number;
  /** How far back a process that has just started looks at them. */
  eventsBackMs: number;
  /** How far later looks overlap: events may appear late, or of payments that were not known yet. */
  eventsOverlapMs: number;
  /** The age from which an event that nobody brought counts as lost: until then it is left to the processor. */
  firstLookMs: number;
  /** How often the clock is looked at, in real time. */
  pollMs: number;
}

/** A loop of its own, so that looks at sessions do not wait for a list that is long or that does not come. */
export function createEventReader(deps: EventReaderDeps) {
  const { database, settings, log } = deps;
  let dueMs = Number.NEGATIVE_INFINITY;
  let sinceMs: number | undefined;
  const look = async (signal: AbortSignal): Promise<'idle'> => {
    const nowMs = await readTime({ db: database.db, now: deps.businessTime() });
    // Before its time too where the clock was set back.
    const isDue = nowMs >= dueMs || nowMs < dueMs - settings.eventsEveryMs;
    // Before the first checkout nothing can be given back, and nobody is asked.
    if (!isDue || !(await hasCheckouts(database.db))) return 'idle';
    await readEvents(deps, { sinceMs: sinceMs ?? nowMs - settings.eventsBackMs, nowMs }, signal);
    if (signal.aborted) return 'idle';
    sinceMs = nowMs - settings.eventsOverlapMs;
    dueMs = nowMs + settings.eventsEveryMs;
    return 'idle';
  };
  return createLoop({
    name: 'payment events',
    turn: (signal) =>
      look(signal).catch((error: unknown) => {
        // What a stop cuts off is looked at after the next start.
        if (signal.aborted) return 'idle' as const;
        throw error;
      }),
    pauseMs: () => settings.pollMs,
    log,
  });
}

/** Refunds and disputes from the oldest on, so that one that fails is not overtaken by the mark of those after it. */
async function readEvents(
  { database, processor, receive, onHinted, settings }: EventReaderDeps,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const events: ProcessorEvent[] = [];
  for await (const event of processor.eventsSince(sinceMs)) events.push(event);
  const hints = events.flatMap(({ about, createdAtMs }) =>
    about.kind === 'session' && about.saysPaid && createdAtMs <= nowMs - settings.firstLookMs
      ? [{ processorSessionId: about.sessionId, atMs: createdAtMs }]
      : [],
  );
  if ((await hintPaid(database.db, hints, nowMs)) > 0) onHinted();
  for (const event of events.reverse()) {
    if (signal.aborted) return;
    if (event.about.kind === 'refund' || event.about.kind === 'dispute') await receive(event);
  }
}
