/**
 * Finds what no event told: sessions that were paid, sessions that the processor made and this ledger never noted, and
 * refunds and disputes. Looks by the service's clock.
 */
import type { Database } from '../../ledger/database/database.ts';
import {
  type CheckoutSession,
  findCheckout,
  hasCheckouts,
  planLook,
  sessionsToLookAt,
} from '../../ledger/payments/checkout-sessions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { PaymentProcessor, ProcessorEvent } from '../../payments/processor.ts';
import { attachLost, type MintDeps, settlePayment } from './mint-payment.ts';

export interface ReconcileDeps extends Omit<MintDeps, 'mints' | 'processor' | 'log' | 'settings'> {
  database: Database;
  processor: PaymentProcessor;
  mints: { nudge(): void };
  /** `receive-processor-event.ts` with its deps bound. */
  receive: (event: ProcessorEvent) => Promise<unknown>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  settings: ReconcileSettings & MintDeps['settings'];
}

export interface ReconcileSettings {
  /** Between two looks at an open session. */
  lookEveryMs: number;
  /** The same once its page takes no payment: a bank's answer may take days. */
  lateLookEveryMs: number;
  /** After its page has closed, a session that is still open is given up. */
  lateLooksMs: number;
  /** Sessions of one turn. */
  looksMax: number;
  /** Between two looks at the processor's events. */
  eventsEveryMs: number;
  /** How far back a process that has just started looks at them. */
  eventsBackMs: number;
  /** How far later looks overlap: events may appear late, or of payments that were not known yet. */
  eventsOverlapMs: number;
  /** How much earlier than ours the processor's clock may date a session. */
  skewMs: number;
  /** How often the clock is looked at, in real time. */
  pollMs: number;
}

/** A loop; replicas may all look, since everything that a look does is done once. */
export function createReconciler(deps: ReconcileDeps) {
  const { database, clock, settings, log } = deps;
  let eventsDueMs = Number.NEGATIVE_INFINITY;
  let eventsSinceMs: number | undefined;
  const look = async (signal: AbortSignal): Promise<'worked' | 'idle'> => {
    const nowMs = clock.now();
    const due = await sessionsToLookAt(database.db, { nowMs, limit: settings.looksMax });
    const lost = due.filter(({ processorSessionId }) => processorSessionId === null);
    if (lost.length > 0) await findLost(deps, lost, nowMs);
    for (const checkout of due) {
      if (signal.aborted) return 'idle';
      await lookAt(deps, checkout, nowMs);
    }
    // Before its time too where the clock was set back.
    const isDue = nowMs >= eventsDueMs || nowMs < eventsDueMs - settings.eventsEveryMs;
    // Before the first checkout nothing can be given back, and nobody is asked.
    if (isDue && (await hasCheckouts(database.db))) {
      await readEvents(deps, eventsSinceMs ?? nowMs - settings.eventsBackMs, signal);
      eventsSinceMs = nowMs - settings.eventsOverlapMs;
      eventsDueMs = nowMs + settings.eventsEveryMs;
    }
    return due.length < settings.looksMax ? 'idle' : 'worked';
  };
  return createLoop({
    name: 'payments',
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

/** Looks for the sessions of checkouts that have none: our process may have ended before it noted them. */
async function findLost(deps: ReconcileDeps, lost: CheckoutSession[], nowMs: number): Promise<void> {
  const { database, processor, settings } = deps;
  const waiting = new Map(lost.map((checkout) => [checkout.id, checkout]));
  const oldestMs = Math.min(...lost.map(({ createdAt }) => createdAt));
  for await (const session of processor.sessionsSince(oldestMs - settings.skewMs)) {
    if (session.checkoutId === null || !waiting.has(session.checkoutId)) continue;
    // Attached, it is due at once.
    if (await attachLost(deps, session)) waiting.delete(session.checkoutId);
    if (waiting.size === 0) return;
  }
  // A caller with an idempotency key may still come back and have it made.
  for (const { id, expiresAt } of waiting.values())
    await planLook(database.db, {
      id,
      nextLookAt: nowMs < expiresAt ? nowMs + settings.lateLookEveryMs : null,
    });
}

async function lookAt(deps: ReconcileDeps, checkout: CheckoutSession, nowMs: number): Promise<void> {
  const { id, processorSessionId, expiresAt } = checkout;
  if (processorSessionId === null) return;
  const settled = await settlePayment(deps, processorSessionId);
  if ('refusal' in settled && settled.refusal.code === 'processor_unavailable')
    throw new Error('the payment processor tells nothing');
  // Paid or over, it is not looked at again.
  const { state } = (await findCheckout(deps.database.db, processorSessionId)) ?? checkout;
  if (state !== 'open') return;
  const everyMs = nowMs < expiresAt ? deps.settings.lookEveryMs : deps.settings.lateLookEveryMs;
  const isGivenUp = nowMs > expiresAt + deps.settings.lateLooksMs;
  await planLook(deps.database.db, { id, nextLookAt: isGivenUp ? null : nowMs + everyMs });
}

/** From the oldest on, so that one that fails is not overtaken by the mark of those after it. */
async function readEvents(deps: ReconcileDeps, sinceMs: number, signal: AbortSignal): Promise<void> {
  const events: ProcessorEvent[] = [];
  for await (const event of deps.processor.eventsSince(sinceMs)) events.push(event);
  for (const event of events.reverse()) {
    if (signal.aborted) return;
    if (event.about.kind === 'refund' || event.about.kind === 'dispute') await deps.receive(event);
  }
}
