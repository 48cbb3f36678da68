/** What the emulated processor's API offers, one row a path. */
import type { Queries } from '../../../ledger/database/database.ts';
import { type EmulatedObject, endDeliveries, findObject } from '../../../ledger/emulator/processor.ts';
import type { Charge } from '../objects/payment-objects.ts';
import { lineItems, type Session, type SessionNotes } from '../objects/session-object.ts';
import { expireSession } from '../pay-session.ts';
import { addEndpoint, type Telling, type WebhookEndpoint } from '../record-event.ts';
import type { Change, StripeObject } from '../records.ts';
import { chargeOfPayment, refundCharge, refundReasons } from '../return-payment.ts';
import { invalidRequest, noSuchObject } from '../stripe-error.ts';
import { createSession } from './create-session.ts';
import type { Parameters } from './form-parameters.ts';
import { expand, listPage, type Show } from './list-objects.ts';
import {
  closeDispute,
  readEventTypes,
  updateDispute,
  updateEndpoint,
  updateIntent,
  updateSession,
} from './update-objects.ts';

interface Asked {
  /** Of the path. */
  params: Record<string, string>;
  parameters: Parameters;
}

interface AskedToChange extends Asked {
  change: Change;
  request: NonNullable<Telling['request']>;
}

export type ApiRoute = { method: string; path: string } & (
  | { change?: undefined; read: (asked: Asked) => Promise<object> }
  | { change: (asked: AskedToChange) => Promise<object> }
);

export interface RouteDeps {
  db: Queries;
  /** Address of the page on which a session is paid. */
  pageOf: (sessionId: string) => string;
}

type ReadWith<Rest extends unknown[]> = (...rest: Rest) => (asked: Asked) => Promise<object>;

/** How objects are read, one by one and as lists. */
interface Reading {
  show: (paths: readonly string[]) => Show;
  one: ReadWith<[kind: string, param?: string]>;
  list: ReadWith<[kind: string, url: string, filters?: (parameters: Parameters) => Partial<ListFilters>]>;
}

export function apiRoutes(deps: RouteDeps): ApiRoute[] {
  const reading = readingOf(deps);
  return [
    ...sessionRoutes(deps, reading),
    ...paymentRoutes(reading),
    ...disputeRoutes(reading),
    ...eventRoutes(reading),
  ];
}

function readingOf(deps: RouteDeps): Reading {
  const show = showWith(deps);
  return {
    show,
    one:
      (kind, param = 'id') =>
      async ({ params, parameters }) => {
        const paths = parameters.texts('expand');
        parameters.finish();
        const found = await shown(deps.db, show(paths), { kind, id: params.id ?? '', param });
        return expand(deps.db, show(paths), found, paths);
      },
    list:
      (kind, url, filters = () => ({})) =>
      async ({ parameters }) => {
        const paths = parameters.texts('expand');
        const inList = show(paths.map((path) => path.replace(/^data\./, '')));
        const page = await listPage(deps.db, parameters, { kind, url, show: inList, ...filters(parameters) });
        parameters.finish();
        return expand(deps.db, inList, page, paths);
      },
  };
}

function sessionRoutes({ db }: RouteDeps, { show, one, list }: Reading): ApiRoute[] {
  const sessions = '/v1/checkout/sessions';
  return [
    { method: 'POST', path: sessions, change: (asked) => createdSession(show, asked) },
    { method: 'GET', path: sessions, read: list('checkout.session', sessions, sessionFilters) },
    { method: 'GET', path: `${sessions}/:id`, read: one('checkout.session', 'session') },
    {
      method: 'POST',
      path: `${sessions}/:id`,
      change: updated(show, 'checkout.session', ({ change, parameters }, id) =>
        updateSession(change, id, parameters),
      ),
    },
    {
      method: 'GET',
      path: `${sessions}/:id/line_items`,
      async read({ params, parameters }) {
        const paths = parameters.texts('expand').map((path) => `line_items.${path}`);
        parameters.whole('limit');
        parameters.finish();
        const wanted = { kind: 'checkout.session', id: params.id ?? '', param: 'session' };
        const asked = ['line_items', ...paths];
        const found = await expand(db, show(asked), await shown(db, show(asked), wanted), paths);
        return (found as Session).line_items ?? {};
      },
    },
    {
      method: 'POST',
      path: `${sessions}/:id/expire`,
      async change({ change, params, parameters, request }) {
        const paths = parameters.texts('expand');
        parameters.finish();
        await expireSession(change, params.id ?? '', { request });
        return again(change, show(paths), 'checkout.session', params.id ?? '');
      },
    },
  ];
}

const ofPayment = (parameters: Parameters) => ({ about: parameters.text('payment_intent') });
const ofCharge = (parameters: Parameters) => {
  const charge = parameters.text('charge');
  const isOf = (object: StripeObject) => 'charge' in object && object.charge === charge;
  return { ...ofPayment(parameters), ...(charge !== undefined && { matches: isOf }) };
};

function paymentRoutes({ show, one, list }: Reading): ApiRoute[] {
  return [
    { method: 'GET', path: '/v1/payment_intents', read: list('payment_intent', '/v1/payment_intents') },
    { method: 'GET', path: '/v1/payment_intents/:id', read: one('payment_intent', 'intent') },
    {
      method: 'POST',
      path: '/v1/payment_intents/:id',
      change: updated(show, 'payment_intent', ({ change, parameters }, id) =>
        updateIntent(change, id, parameters),
      ),
    },
    { method: 'GET', path: '/v1/charges', read: list('charge', '/v1/charges', ofPayment) },
    { method: 'GET', path: '/v1/charges/:id', read: one('charge') },
    { method: 'POST', path: '/v1/refunds', change: createdRefund },
    { method: 'GET', path: '/v1/refunds', read: list('refund', '/v1/refunds', ofCharge) },
    { method: 'GET', path: '/v1/refunds/:id', read: one('refund') },
  ];
}

function disputeRoutes({ show, one, list }: Reading): ApiRoute[] {
  return [
    { method: 'GET', path: '/v1/disputes', read: list('dispute', '/v1/disputes', ofCharge) },
    { method: 'GET', path: '/v1/disputes/:id', read: one('dispute') },
    {
      method: 'POST',
      path: '/v1/disputes/:id',
      change: updated(show, 'dispute', ({ change, parameters, request }, id) =>
        updateDispute(change, { id, parameters }, { request }),
      ),
    },
    {
      method: 'POST',
      path: '/v1/disputes/:id/close',
      change: updated(show, 'dispute', async ({ change, parameters, request }, id) => {
        parameters.finish();
        return closeDispute(change, id, { request });
      }),
    },
  ];
}

function eventRoutes({ show, one, list }: Reading): ApiRoute[] {
  const endpoints = '/v1/webhook_endpoints';
  return [
    { method: 'GET', path: '/v1/events', read: list('event', '/v1/events', eventFilters) },
    { method: 'GET', path: '/v1/events/:id', read: one('event') },
    { method: 'POST', path: endpoints, change: createdEndpoint },
    { method: 'GET', path: endpoints, read: list('webhook_endpoint', endpoints) },
    { method: 'GET', path: `${endpoints}/:id`, read: one('webhook_endpoint') },
    {
      method: 'POST',
      path: `${endpoints}/:id`,
      change: updated(show, 'webhook_endpoint', ({ change, parameters }, id) =>
        updateEndpoint(change, id, parameters),
      ),
    },
    { method: 'DELETE', path: `${endpoints}/:id`, change: removedEndpoint },
  ];
}

interface ListFilters {
  about: string | undefined;
  matches: (object: StripeObject) => boolean;
}

const sessionFilters = (parameters: Parameters): Partial<ListFilters> => {
  const status = parameters.oneOf('status', ['open', 'complete', 'expired']);
  const about = parameters.text('payment_intent');
  const email = parameters.group('customer_details')?.email('email');
  return {
    about,
    matches(object) {
      const session = object as Session;
      return (
        (status === undefined || session.status === status) &&
        (email === undefined || session.customer_details?.email === email)
      );
    },
  };
};

const eventFilters = (parameters: Parameters): Partial<ListFilters> => {
  const type = parameters.text('type');
  const types = parameters.texts('types');
  if (type !== undefined && types.length > 0) {
    throw invalidRequest('You cannot pass both `type` and `types`', { param: 'types' });
  }
  const wanted = type === undefined ? types : [type];
  const delivered = parameters.oneOf('delivery_success', ['true', 'false']);
  return {
    matches(object) {
      const { type: its, pending_webhooks: pending } = object as StripeObject & Record<string, unknown>;
      const isOfType = wanted.some((one) =>
        one.endsWith('*') ? String(its).startsWith(one.slice(0, -1)) : one === its,
      );
      return (
        (wanted.length === 0 || isOfType) &&
        (delivered === undefined || (pending === 0) === (delivered === 'true'))
      );
    },
  };
};

/** An object as it is shown: an open session with its page, and with its lines where they are asked for. */
const showWith =
  ({ pageOf }: Pick<RouteDeps, 'pageOf'>) =>
  (paths: readonly string[]): Show =>
  ({ body, notes }: EmulatedObject) => {
    const object = { ...body } as unknown as StripeObject;
    if (object.object !== 'checkout.session') return object;
    const session = object as Session;
    const wholeProducts = paths.includes('line_items.data.price.product');
    const data = lineItems(session, notes as unknown as SessionNotes, { wholeProducts });
    const url = `/v1/checkout/sessions/${session.id}/line_items`;
    return {
      ...session,
      url: session.status === 'open' ? pageOf(session.id) : null,
      ...(paths.some((path) => /^line_items(\.|$)/.test(path)) && {
        line_items: { object: 'list', data, has_more: false, url },
      }),
    } as unknown as StripeObject;
  };

async function shown(db: Queries, show: Show, of: { kind: string; id: string; param: string }) {
  const row = await findObject(db, of.id);
  if (row?.kind !== of.kind) throw noSuchObject(of.kind, of.id, of.param);
  return show(row);
}

const again = (change: Change, show: Show, kind: string, id: string) =>
  shown(change.queries, show, { kind, id, param: 'id' });

/** A change of an object, which is shown as it is then. */
const updated =
  (
    show: (paths: readonly string[]) => Show,
    kind: string,
    update: (asked: AskedToChange, id: string) => Promise<object>,
  ) =>
  async (asked: AskedToChange): Promise<object> => {
    const paths = asked.parameters.texts('expand');
    const id = asked.params.id ?? '';
    await update(asked, id);
    const { queries } = asked.change;
    return expand(queries, show(paths), await again(asked.change, show(paths), kind, id), paths);
  };

async function createdSession(
  show: (paths: readonly string[]) => Show,
  { change, parameters }: AskedToChange,
): Promise<object> {
  const paths = parameters.texts('expand');
  const { id } = await createSession(change, parameters);
  const made = await again(change, show(paths), 'checkout.session', id);
  return expand(change.queries, show(paths), made, paths);
}

async function createdRefund({ change, parameters, request }: AskedToChange): Promise<object> {
  const chargeId = parameters.text('charge');
  const intentId = parameters.text('payment_intent');
  const wish = {
    amount: parameters.whole('amount', { min: 1 }),
    reason: parameters.oneOf('reason', refundReasons),
    metadata: parameters.metadata(),
  };
  parameters.texts('expand');
  parameters.finish();
  if (chargeId === undefined && intentId === undefined) {
    throw invalidRequest(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  }
  const charge =
    intentId === undefined
      ? await change.need<Charge>('charge', chargeId ?? '', 'charge')
      : await chargeOfPayment(change, intentId);
  return refundCharge(change, charge, wish, { request });
}

async function createdEndpoint({ change, parameters }: AskedToChange): Promise<object> {
  const url = parameters.url('url') ?? parameters.needed('url');
  const events = readEventTypes(parameters);
  const description = parameters.text('description') ?? null;
  parameters.finish();
  const { body, notes } = await addEndpoint(change, { url, events, description });
  // Shown at its creation only, as Stripe does.
  return { ...body, secret: notes.secret };
}

async function removedEndpoint({ change, params }: AskedToChange): Promise<object> {
  const { body } = await change.need<WebhookEndpoint>(
    'webhook_endpoint',
    params.id ?? '',
    'webhook_endpoint',
  );
  await endDeliveries(change.queries, body.id);
  await change.remove(body.id);
  return { id: body.id, object: 'webhook_endpoint', deleted: true };
}
