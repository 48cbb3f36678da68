/** What happens to a session's payment: paid, declined, on its way, arrived, expired. Each in one change, with its events. */

import { type Charge, newCharge, newPaymentIntent, type PaymentIntent } from './objects/payment-objects.ts';
import { customerDetails, type Session, type SessionNotes } from './objects/session-object.ts';
import { declineMessage, type TestCard, testCards } from './objects/test-cards.ts';
import { recordEvent, type Telling } from './record-event.ts';
import type { Change, Entry, Records } from './records.ts';
import { invalidRequest } from './stripe-error.ts';

type OpenSession = Entry<Session, SessionNotes>;

/** How a buyer pays. */
export interface PaymentWish {
  outcome: TestCard['outcome'];
  /** Of a payment that arrives later: how much later, and whether it then fails. */
  delayMs?: number | undefined;
  arrives?: 'paid' | { declined: string } | undefined;
  /** What the buyer has typed, where the session names no address. */
  email?: string | undefined;
  /** Recorded, but told to no endpoint. */
  silent?: boolean | undefined;
}

/** How a session stands after an attempt to pay it; a decline leaves it open. */
export interface PaymentResult {
  session: Session;
  /** Of a declined card: the code and what the buyer is told. */
  declined?: { code: string; message: string };
}

/** A bank debit takes days; a minute is long enough to see the state in between. */
export const LATER_MS = 60_000;

/** Pays an open session, or tries to. Throws a `StripeError` where nothing can be paid. */
export const paySession = (books: Records, sessionId: string, wish: PaymentWish): Promise<PaymentResult> =>
  books.change(async (change) => {
    const entry = await openSession(change, sessionId);
    const { body: session } = entry;
    if (wish.email !== undefined && session.customer_email === null) {
      session.customer_details = customerDetails(wish.email);
    }
    const telling = { silent: wish.silent };
    if (session.payment_status === 'no_payment_required') {
      complete(entry);
      await change.store(entry);
      await recordEvent(change, 'checkout.session.completed', session, telling);
      return { session };
    }
    return takePayment(change, entry, wish, telling);
  });

async function takePayment(
  change: Change,
  entry: OpenSession,
  wish: PaymentWish,
  telling: Telling,
): Promise<PaymentResult> {
  const { body: session } = entry;
  const intent = await intentOf(change, entry);
  if (typeof wish.outcome === 'object') {
    const code = wish.outcome.declined;
    await decline(change, { intent, session, code }, telling);
    entry.about = intent.id;
    await change.store(entry);
    return { session, declined: { code, message: declineMessage(code) } };
  }
  const later = wish.outcome === 'later';
  const charge = chargeOf(change, { intent, session, outcome: wish.outcome });
  intent.latest_charge = charge.id;
  intent.payment_method = charge.payment_method;
  intent.last_payment_error = null;
  intent.status = later ? 'processing' : 'succeeded';
  if (!later) intent.amount_received = intent.amount;
  await change.add({ body: charge, about: intent.id });
  await storeIntent(change, intent);
  complete(entry);
  entry.about = intent.id;
  if (later) {
    entry.notes.settles = wish.arrives ?? 'paid';
    entry.notes.silent = wish.silent ?? false;
    entry.dueAt = change.nowMs + (wish.delayMs ?? LATER_MS);
  } else {
    session.payment_status = 'paid';
  }
  await change.store(entry);
  if (!later) await recordEvent(change, 'payment_intent.succeeded', intent, telling);
  await recordEvent(change, 'checkout.session.completed', session, telling);
  return { session };
}

/** A completed session takes no further payment, and time does nothing to it. */
function complete(entry: OpenSession): void {
  entry.body.status = 'complete';
  entry.dueAt = null;
}

const chargeOf = (
  change: Change,
  of: { intent: PaymentIntent; session: Session; outcome: TestCard['outcome'] },
): Charge => {
  const { outcome } = of;
  const code = typeof outcome === 'object' ? outcome.declined : undefined;
  const card =
    testCards.find((one) =>
      typeof one.outcome === 'object' ? one.outcome.declined === code : one.outcome === outcome,
    ) ?? (testCards[1] as TestCard);
  return newCharge({
    id: change.newId('ch_3'),
    created: change.now,
    intent: of.intent,
    paymentMethodId: change.newId('pm_1'),
    email: of.session.customer_details?.email ?? null,
    card,
    outcome:
      code !== undefined
        ? { declined: code, message: declineMessage(code) }
        : outcome === 'later'
          ? 'pending'
          : 'succeeded',
  });
};

/** The payment that an earlier attempt began, or a new one; the session names it from then on. */
async function intentOf(change: Change, { body: session, notes }: OpenSession): Promise<PaymentIntent> {
  const known = session.payment_intent;
  if (typeof known === 'string') return (await change.need<PaymentIntent>('payment_intent', known)).body;
  const id = change.newId('pi_3');
  const intent = newPaymentIntent({
    id,
    created: change.now,
    clientSecret: change.newId(`${id}_secret_`),
    amount: session.amount_total ?? 0,
    currency: session.currency ?? 'usd',
    description: notes.paymentDescription,
    metadata: notes.paymentMetadata,
    paymentMethodTypes: session.payment_method_types,
  });
  await change.add({ body: intent, about: id });
  session.payment_intent = id;
  return intent;
}

const storeIntent = (change: Change, intent: PaymentIntent) =>
  change.store({ body: intent, notes: {}, about: intent.id, dueAt: null });

async function decline(
  change: Change,
  { intent, session, code }: { intent: PaymentIntent; session: Session; code: string },
  telling: Telling,
): Promise<void> {
  const charge = chargeOf(change, { intent, session, outcome: { declined: code } });
  intent.latest_charge = charge.id;
  intent.status = 'requires_payment_method';
  intent.last_payment_error = {
    type: 'card_error',
    code: 'card_declined',
    decline_code: code,
    charge: charge.id,
    message: declineMessage(code),
  };
  await change.add({ body: charge, about: intent.id });
  await storeIntent(change, intent);
  await recordEvent(change, 'payment_intent.payment_failed', intent, telling);
}

async function openSession(change: Change, id: string): Promise<OpenSession> {
  const entry = await change.need<Session, SessionNotes>('checkout.session', id, 'session');
  const { status } = entry.body;
  if (status !== 'open') {
    throw invalidRequest(
      status === 'expired'
        ? `The session ${id} has expired: nothing can be paid any more`
        : `The session ${id} is complete: it was paid already`,
      { code: `checkout_session_${status}` },
    );
  }
  return entry;
}

/** `POST /v1/checkout/sessions/{id}/expire`. */
export async function expireSession(change: Change, id: string, telling: Telling = {}): Promise<Session> {
  const entry = await change.need<Session, SessionNotes>('checkout.session', id, 'session');
  if (entry.body.status !== 'open') {
    throw invalidRequest(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${entry.body.status}\`.`,
    );
  }
  return expire(change, entry, telling);
}

async function expire(change: Change, entry: OpenSession, telling: Telling): Promise<Session> {
  entry.body.status = 'expired';
  entry.dueAt = null;
  await change.store(entry);
  await recordEvent(change, 'checkout.session.expired', entry.body, telling);
  return entry.body;
}

/** What time does to a session: an open one expires, a payment on its way arrives or fails. */
export async function settleSession(change: Change, entry: OpenSession): Promise<void> {
  const { body: session, notes } = entry;
  entry.dueAt = null;
  if (session.status === 'open') {
    await expire(change, entry, { silent: notes.silent });
    return;
  }
  const intentId = typeof session.payment_intent === 'string' ? session.payment_intent : '';
  const { body: intent } = await change.need<PaymentIntent>('payment_intent', intentId);
  const chargeId = typeof intent.latest_charge === 'string' ? intent.latest_charge : '';
  const charge = await change.need<Charge>('charge', chargeId);
  const telling = { silent: notes.silent };
  const failure = typeof notes.settles === 'object' ? notes.settles.declined : undefined;
  if (failure === undefined) {
    Object.assign(charge.body, {
      status: 'succeeded',
      paid: true,
      captured: true,
      amount_captured: intent.amount,
    });
    Object.assign(intent, { status: 'succeeded', amount_received: intent.amount });
    session.payment_status = 'paid';
  } else {
    const message = declineMessage(failure);
    Object.assign(charge.body, { status: 'failed', failure_code: failure, failure_message: message });
    intent.status = 'requires_payment_method';
    intent.last_payment_error = { type: 'card_error', code: failure, charge: chargeId, message };
  }
  await change.store(charge);
  await storeIntent(change, intent);
  await change.store(entry);
  const succeeded = failure === undefined;
  await recordEvent(
    change,
    succeeded ? 'payment_intent.succeeded' : 'payment_intent.payment_failed',
    intent,
    telling,
  );
  await recordEvent(
    change,
    succeeded ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed',
    session,
    telling,
  );
}
