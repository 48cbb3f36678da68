/** What the control API shows of the emulated processor, and does with it. */
import type { ControlProcessorDeps, ProcessorRefusal, SessionStep } from '../../http/control/processor.ts';
import {
  type EmulatedDelivery,
  type EmulatedObject,
  endDeliveries,
  findObject,
  listDeliveries,
  listObjects,
} from '../../ledger/emulator/processor.ts';
import type { Charge, PaymentIntent } from './objects/payment-objects.ts';
import type { Session } from './objects/session-object.ts';
import { expireSession, paySession } from './pay-session.ts';
import {
  addEndpoint,
  type EndpointNotes,
  eventTypes,
  type ProcessorEvent,
  resendEvent,
  type WebhookEndpoint,
} from './record-event.ts';
import type { Change, Records } from './records.ts';
import { chargeOfPayment, disputeCharge, refundCharge } from './return-payment.ts';
import { invalidRequest, StripeError } from './stripe-error.ts';

interface ControlDeps {
  books: Records;
  catchUp: () => Promise<void>;
  nudge: () => void;
  pageOf: (sessionId: string) => string;
  /** Id of the endpoint that is this stack's own. */
  ownEndpoint: string;
}

/** Sessions among which a checkout's own id is looked for. */
const SEARCHED_MAX = 1_000;

export const controlProcessor = (deps: ControlDeps): Omit<ControlProcessorDeps, 'begin'> => ({
  ...controlSessions(deps),
  ...controlEvents(deps),
  ...controlEndpoints(deps),
});

function controlSessions(deps: ControlDeps): Pick<ControlProcessorDeps, 'sessions' | 'session' | 'step'> {
  const { books, catchUp, nudge } = deps;
  const view = (row: EmulatedObject) => sessionView(deps, row);
  return {
    async sessions({ status, user, limit }) {
      await catchUp();
      const rows = await listObjects(books.db, { kind: 'checkout.session', limit: SEARCHED_MAX });
      const chosen = rows.filter(
        ({ body }) =>
          (status === undefined || body.status === status) &&
          (user === undefined || emailOf(body as unknown as Session)?.toLowerCase() === user.toLowerCase()),
      );
      return Promise.all(chosen.slice(0, limit).map(view));
    },
    async session(name) {
      await catchUp();
      const row = await findSession(books, name);
      return row ? view(row) : missing('session', name);
    },
    step: (name, step, { silent }) =>
      orRefusal(async () => {
        await catchUp();
        const row = await findSession(books, name);
        if (!row) return missing('session', name);
        await take(books, row.id, step, silent);
        nudge();
        const now = await findObject(books.db, row.id);
        return view(now ?? row);
      }),
  };
}

function controlEvents({
  books,
  nudge,
}: ControlDeps): Pick<ControlProcessorDeps, 'events' | 'event' | 'resend' | 'deliveries'> {
  return {
    async events({ type, object, session, limit }) {
      const of = session === undefined ? [object] : await belongingTo(books, session);
      const lists = await Promise.all(
        of.map((about) => listObjects(books.db, { kind: 'event', about, limit: SEARCHED_MAX })),
      );
      const chosen = lists
        .flat()
        .filter(
          ({ body, about }) =>
            (type === undefined || body.type === type) && (object === undefined || about === object),
        )
        .sort((one, other) => other.number - one.number)
        .slice(0, limit);
      return eventViews(books, chosen);
    },
    async event(name) {
      const row = await findEvent(books, name);
      const [shown] = row ? await eventViews(books, [row]) : [];
      return shown ?? missing('event', name);
    },
    resend: (name, endpointId) =>
      orRefusal(async () => {
        const row = await findEvent(books, name);
        if (!row) return missing('event', name);
        if (endpointId !== undefined && !(await books.find<WebhookEndpoint>('webhook_endpoint', endpointId)))
          return missing('endpoint', endpointId);
        await resendEvent(books, { eventId: row.id, endpointId });
        nudge();
        const [shown] = await eventViews(books, [row]);
        return shown ?? missing('event', name);
      }),
    async deliveries({ event, endpoint, state, limit }) {
      const found = await listDeliveries(books.db, {
        eventIds: event === undefined ? undefined : [event],
        endpointId: endpoint,
        state,
        limit,
      });
      return found.map(deliveryView);
    },
  };
}

function controlEndpoints(
  deps: ControlDeps,
): Pick<ControlProcessorDeps, 'endpoints' | 'addEndpoint' | 'removeEndpoint'> {
  const { books } = deps;
  return {
    async endpoints() {
      const rows = await listObjects(books.db, { kind: 'webhook_endpoint', limit: SEARCHED_MAX });
      return rows.map(({ body, notes }) =>
        endpointView(deps, body as unknown as WebhookEndpoint, notes as unknown as EndpointNotes),
      );
    },
    addEndpoint: (wish) =>
      orRefusal(async () => {
        const unknown = wish.events.find(
          (one) => one !== '*' && !(eventTypes as readonly string[]).includes(one),
        );
        if (unknown !== undefined || wish.events.length === 0) {
          throw invalidRequest(
            `Invalid event type: ${unknown ?? 'none'}. Use * or some of ${eventTypes.join(', ')}`,
          );
        }
        const { body, notes } = await books.change((change) => addEndpoint(change, wish));
        return endpointView(deps, body, notes);
      }),
    async removeEndpoint(id) {
      if (!(await books.find<WebhookEndpoint>('webhook_endpoint', id))) return missing('endpoint', id);
      await books.change(async (change) => {
        await endDeliveries(change.queries, id);
        await change.remove(id);
      });
      return { removed: id };
    },
  };
}

const missing = (
  kind: Extract<ProcessorRefusal, { code: 'processor_object_not_found' }>['kind'],
  name: string,
): { refusal: ProcessorRefusal } => ({ refusal: { code: 'processor_object_not_found', kind, name } });

/** What the processor refuses is an expected no of the control API. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | { refusal: ProcessorRefusal }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StripeError)) throw error;
    const { message, code = null } = error.body;
    return { refusal: { code: 'processor_refused', message, reason: code } };
  }
}

async function take(books: Records, id: string, step: SessionStep, silent: boolean): Promise<void> {
  if (step.kind === 'pay') {
    const { later, email } = step;
    const arrives = later?.fails === undefined ? 'paid' : { declined: later.fails };
    const outcome = later ? 'later' : 'paid';
    await paySession(books, id, { outcome, delayMs: later?.delayMs, arrives, email, silent });
  } else if (step.kind === 'decline') {
    await paySession(books, id, { outcome: { declined: step.declineCode }, silent });
  } else if (step.kind === 'expire') {
    await books.change((change) => expireSession(change, id, { silent }));
  } else {
    await books.change(async (change) => {
      const charge = await chargeOfSession(change, id);
      if (step.kind === 'refund') await refundCharge(change, charge, step, { silent });
      else await disputeCharge(change, charge, step, { silent });
    });
  }
}

async function chargeOfSession(change: Change, id: string) {
  const { body } = await change.need<Session>('checkout.session', id, 'session');
  if (typeof body.payment_intent !== 'string') {
    throw invalidRequest(`The session ${id} has not been paid`, { code: 'payment_intent_unexpected_state' });
  }
  return chargeOfPayment(change, body.payment_intent);
}

/** By the processor's id, the checkout's own, or `latest`. */
async function findSession({ db }: Records, name: string): Promise<EmulatedObject | undefined> {
  const kind = 'checkout.session';
  const row = await findObject(db, name);
  if (row?.kind === kind) return row;
  const rows = await listObjects(db, { kind, limit: SEARCHED_MAX });
  return name === 'latest' ? rows[0] : rows.find(({ body }) => body.client_reference_id === name);
}

/** Ids of the session, its payment, and the charges and disputes of that. */
async function belongingTo(books: Records, name: string): Promise<string[]> {
  const row = await findSession(books, name);
  const intent = row?.body.payment_intent;
  if (!row) return [];
  if (typeof intent !== 'string') return [row.id];
  const returns = await Promise.all(
    ['charge', 'dispute'].map((kind) => listObjects(books.db, { kind, about: intent, limit: SEARCHED_MAX })),
  );
  return [row.id, intent, ...returns.flat().map(({ id }) => id)];
}

async function findEvent({ db }: Records, name: string): Promise<EmulatedObject | undefined> {
  if (name === 'latest') return (await listObjects(db, { kind: 'event', limit: 1 }))[0];
  const row = await findObject(db, name);
  return row?.kind === 'event' ? row : undefined;
}

const instant = (ms: number) => new Date(ms).toISOString();

const emailOf = (session: Session): string | null =>
  session.customer_email ?? session.customer_details?.email ?? null;

async function sessionView({ books, pageOf }: ControlDeps, { body }: EmulatedObject) {
  const session = body as unknown as Session;
  const intentId = typeof session.payment_intent === 'string' ? session.payment_intent : null;
  const intent = intentId === null ? undefined : await books.find<PaymentIntent>('payment_intent', intentId);
  const chargeId = intent?.body.latest_charge;
  const charge = typeof chargeId === 'string' ? await books.find<Charge>('charge', chargeId) : undefined;
  const status = session.status ?? 'open';
  return {
    id: session.id,
    status,
    paymentStatus: session.payment_status,
    amount: session.amount_total ?? 0,
    currency: session.currency ?? '',
    email: emailOf(session),
    checkoutId: session.client_reference_id,
    paymentIntentId: intentId,
    refunded: charge?.body.amount_refunded ?? 0,
    disputed: charge?.body.disputed ?? false,
    url: status === 'open' ? pageOf(session.id) : null,
    metadata: session.metadata ?? {},
    createdAt: instant(session.created * 1_000),
    expiresAt: instant(session.expires_at * 1_000),
  };
}

async function eventViews({ db }: Records, rows: EmulatedObject[]) {
  const deliveries =
    rows.length === 0 ? [] : await listDeliveries(db, { eventIds: rows.map(({ id }) => id), limit: 10_000 });
  return rows.map(({ id, about, createdAt, body }) => ({
    id,
    type: (body as unknown as ProcessorEvent).type,
    objectId: about ?? '',
    createdAt: instant(createdAt),
    deliveries: deliveries.filter(({ eventId }) => eventId === id).map(deliveryView),
    payload: body,
  }));
}

const deliveryView = ({ id, eventId, endpointId, state, createdAt, nextAt, attempts }: EmulatedDelivery) => ({
  id,
  eventId,
  endpointId,
  state,
  createdAt: instant(createdAt),
  nextAt: nextAt === null ? null : instant(nextAt),
  attempts: attempts.map((attempt) => ({ ...attempt, at: instant(attempt.at) })),
});

const endpointView = (
  { ownEndpoint }: Pick<ControlDeps, 'ownEndpoint'>,
  { id, url, enabled_events: events }: WebhookEndpoint,
  { secret }: EndpointNotes,
) => ({ id, url, events, secret, own: id === ownEndpoint });
