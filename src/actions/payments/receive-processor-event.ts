/** What an event of the processor does: a paid session mints, refunds and disputes are recorded. In any order, any number of times. */
import type { Database } from '../../ledger/database/database.ts';
import {
  type CheckoutSession,
  recordDispute,
  recordRefund,
} from '../../ledger/payments/checkout-sessions.ts';
import { readMint } from '../../ledger/payments/mints.ts';
import { findProcessorEvent, recordProcessorEvent } from '../../ledger/payments/processor-events.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { EventSubject, ProcessorEvent } from '../../payments/processor.ts';
import type { MintOutcome } from './mint-payment.ts';

export interface ReceiveDeps {
  database: Database;
  /** `mint-payment.ts` with its deps bound. */
  mintPayment: (sessionId: string) => Promise<MintOutcome>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'warn'>;
}

export type EventOutcome =
  /** Of a session: as payment-mint would answer for it. */
  | MintOutcome
  /** A refund or dispute was recorded now, or was known already. */
  | { recorded: 'refund' | 'dispute'; isNew: boolean }
  /** Nothing to do: of no interest, or not of a payment that the ledger knows. */
  | { ignored: true };

/** An event that was verified. Throws only where it should come again: the database is away, say. */
export function receiveProcessorEvent(deps: ReceiveDeps, event: ProcessorEvent): Promise<EventOutcome> {
  const { about } = event;
  if (about.kind === 'session') return ofSession(deps, event, about.sessionId);
  if (about.kind === 'other') return ofNoInterest(deps, event);
  return ofReturnedMoney(deps, event, about);
}

async function ofSession(deps: ReceiveDeps, event: ProcessorEvent, sessionId: string): Promise<EventOutcome> {
  // The session itself is asked, whatever the event says: events are late, and come in any order.
  const outcome = await deps.mintPayment(sessionId);
  const result = 'minted' in outcome ? 'minted' : outcome.refusal.code;
  // What is not known yet is not worked off: the event comes again.
  if (!UNSETTLED.has(result)) await recordProcessorEvent(deps.database.db, rowOf(deps, event, result));
  return outcome;
}

const UNSETTLED = new Set<string>(['processor_unavailable', 'mint_pending', 'session_not_found']);

async function ofNoInterest(deps: ReceiveDeps, event: ProcessorEvent): Promise<EventOutcome> {
  await recordProcessorEvent(deps.database.db, rowOf(deps, event, 'ignored'));
  return { ignored: true };
}

const rowOf = ({ clock }: ReceiveDeps, event: ProcessorEvent, result: string) => ({
  id: event.id,
  type: event.type,
  objectId: event.objectId,
  result,
  createdAt: event.createdAtMs,
  receivedAt: clock.now(),
});

type ReturnedMoney = Extract<EventSubject, { kind: 'refund' | 'dispute' }>;

/**
 * A payment that the ledger does not know, or not yet, stays unrecorded: a later look at the processor's events finds
 * it again, and a session that is minted meanwhile shows its refund itself.
 */
async function ofReturnedMoney(
  deps: ReceiveDeps,
  event: ProcessorEvent,
  about: ReturnedMoney,
): Promise<EventOutcome> {
  const { database } = deps;
  const recorded = about.kind;
  const known = await findProcessorEvent(database.db, event.id);
  if (known) return { recorded, isNew: false };
  const noted = await database.atomically(async (tx) => {
    const checkout =
      about.kind === 'refund'
        ? await recordRefund(tx, { ...about, refundedCents: about.refundedAmount })
        : await recordDispute(tx, { ...about, disputedAt: event.createdAtMs });
    if (!checkout) return undefined;
    const isNew = await recordProcessorEvent(tx, rowOf(deps, event, 'recorded'));
    return { checkout, isNew };
  });
  if (!noted) return { ignored: true };
  if (noted.isNew) await warnOfReturned(deps, { event, checkout: noted.checkout });
  return { recorded, isNew: noted.isNew };
}

/** What the RWT was minted for went back: a person decides what becomes of the RWT. */
async function warnOfReturned(
  { database, log }: ReceiveDeps,
  { event, checkout }: { event: ProcessorEvent; checkout: CheckoutSession },
): Promise<void> {
  const { id, brandId, processorSessionId: session, refundedCents, amountCents } = checkout;
  const mint = session === null ? undefined : await readMint(database.db, session);
  const facts = { checkout: id, session, brandId, amountCents, refundedCents, minted: mint !== undefined };
  log.warn({ event: event.id, ...facts }, `${event.type}: a payment went back, or is asked back`);
}
