/** The port to the payment processor: checkout sessions, and the events that it signs. */
import type { SessionFacts } from '../rules/payments/session-checks.ts';

/** A checkout session as the processor has it now. */
export interface ProcessorSession extends SessionFacts {
  /** The processor's, such as `cs_test_…`. */
  id: string;
  /** Our id of the checkout, which the processor was given; null for sessions that something else made. */
  checkoutId: string | null;
  /** The hosted page; null once nothing can be paid there. */
  url: string | null;
  /** `open`, `complete` or `expired`; null where the processor tells none. */
  status: string | null;
  /** Null until the buyer has begun to pay. */
  paymentIntentId: string | null;
  /** Milliseconds since 1970, on the processor's clock. */
  createdAtMs: number;
  /** From then on the page takes no payment: 24 h after its creation. */
  expiresAtMs: number;
}

/** What a session is made from. */
export interface SessionRequest {
  /**
   * Our id of the checkout: the processor keeps it with the session (`checkoutId`), and it is the idempotency key, so
   * that the same request again gives the same session. The processor keeps keys for 24 h.
   */
  id: string;
  /** In the currency's smallest unit. */
  amount: number;
  /** ISO 4217 in lower case. */
  currency: string;
  /** What is bought, for the hosted page and the receipt. */
  productName: string;
  userEmail: string;
  successUrl: string;
  cancelUrl: string;
  /** Contract: Mint metadata. Kept with the session and with its payment. */
  metadata: Record<string, string>;
}

/** Something that happened at the processor. Events come more than once, late, and in any order. */
export interface ProcessorEvent {
  /** The same for every delivery of one event. */
  id: string;
  /** The processor's name, such as `checkout.session.completed`. */
  type: string;
  /** Milliseconds since 1970, on the processor's clock. */
  createdAtMs: number;
  livemode: boolean;
  /** The object that it is about: a session's, a charge's, a dispute's id. Empty where the event names none. */
  objectId: string;
  about: EventSubject;
}

/** What an event means to the service. */
export type EventSubject =
  /**
   * Of a session: completed, expired, paid or failed later. By the time that the event arrives, the session is what
   * `findSession` says.
   */
  | {
      kind: 'session';
      sessionId: string;
      /** Whether the session was paid when the event was made: asked about before others, and believed no more than they. */
      saysPaid: boolean;
    }
  /** Money went back; `refundedAmount` is all that has gone back of this payment so far, in the smallest unit. */
  | { kind: 'refund'; paymentIntentId: string; refundedAmount: number }
  /** The buyer's bank asks the money back. */
  | { kind: 'dispute'; paymentIntentId: string; disputeId: string }
  /** Of no interest here, such as `payment_intent.succeeded`. */
  | { kind: 'other' };

/** The processor. Every call may throw a `ProcessorFailure`; none of them has a key or a body in its text. */
export interface PaymentProcessor {
  /** Whether it moves real money. A session, an event or a ledger of the other mode is refused. */
  livemode: boolean;
  /** Makes the session, or answers with the one that an earlier request with the same `id` made. */
  createSession(request: SessionRequest): Promise<ProcessorSession>;
  /** Undefined when the processor has no session with this id. */
  findSession(id: string): Promise<ProcessorSession | undefined>;
  /** All sessions made at or after a moment, newest first; asks page after page as the caller goes on. */
  sessionsSince(ms: number): AsyncIterable<ProcessorSession>;
  /** Events since a moment that mean something to the service, newest first; the processor keeps them for 30 days. */
  eventsSince(ms: number): AsyncIterable<ProcessorEvent>;
  /**
   * Verifies an event that was sent to us, over the bytes that came. `signature` is the header `Stripe-Signature`.
   * Throws an `EventProblem` that names the part that failed.
   */
  readEvent(sent: { body: Uint8Array; signature: string }): Promise<ProcessorEvent>;
}

/** Events may be this old, and may seem to come from as far in the future: clocks differ, and a replay is older. */
export const EVENT_TOLERANCE_MS = 300_000;

/** `unavailable`: an outage, a limit or a lost answer; a later try may pass. `refused`: the same request never will. */
export class ProcessorFailure extends Error {
  readonly kind: 'unavailable' | 'refused';
  /** The processor's own code, such as `rate_limit` or `api_key_expired`. */
  readonly code: string;

  constructor(kind: ProcessorFailure['kind'], code: string, message: string) {
    super(message);
    this.name = 'ProcessorFailure';
    this.kind = kind;
    this.code = code;
  }
}

/** Which part of an event that was sent to us does not hold. */
export type EventProblemCode =
  /** The header is missing, empty or has no `t=` and `v1=`. */
  | 'signature_malformed'
  /** None of the signatures is made with our secret over these bytes. */
  | 'signature_wrong'
  /** Signed more than the tolerance ago. */
  | 'timestamp_too_old'
  /** Signed for a moment further ahead than the tolerance. */
  | 'timestamp_in_future'
  /** Signed, but not UTF-8, not JSON, or not an event. */
  | 'body_malformed'
  /** Of the processor's test mode where real money is moved, or the reverse. */
  | 'livemode_wrong';

/** An event that cannot be believed, which its sender has to mend. */
export class EventProblem extends Error {
  readonly code: EventProblemCode;
  /** What to change at the sender. */
  readonly fix: string;

  constructor(problem: { code: EventProblemCode; message: string; fix: string }) {
    super(problem.message);
    this.name = 'EventProblem';
    this.code = problem.code;
    this.fix = problem.fix;
  }
}
