/** `rewards checkout`: begins a payment as a brand's server would, and steers the emulated payment processor. */

import type { ControlCall, ControlReply } from '../../client/control-call.ts';
import type { BodyOf, RequestOf } from '../../contract/control/control-endpoint.ts';
import {
  type CheckoutSession,
  declineSession,
  disputeSession,
  expireSession,
  listProcessorEvents,
  listSessions,
  type ProcessorEvents,
  paySession,
  refundSession,
  showSession,
} from '../../contract/control/processor.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { asks } from '../service/control.ts';
import { mustSucceed, replyResult } from '../service/control-reply.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { callFor, clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

interface Told {
  session: string;
  /** False: no endpoint hears of it. */
  webhook: boolean;
}

export const payCheckout: Handler<Told & { async?: boolean; delay?: string; decline?: string }> = (
  context,
  { session, webhook, async: later = false, delay, decline },
) => {
  if (decline === '') throw usageError('--decline takes a code.', 'Leave the code out for generic_decline.');
  const arrivesLater = later || delay !== undefined;
  if (decline !== undefined && !arrivesLater)
    return take(context, session, declineSession, { code: decline, webhook });
  return take(context, session, paySession, {
    ...(arrivesLater && { later: true }),
    ...(delay !== undefined && { delay }),
    ...(decline !== undefined && { fails: decline }),
    webhook,
  });
};

export const declineCheckout: Handler<Told & { code: string }> = (context, { session, code, webhook }) =>
  take(context, session, declineSession, { code, webhook });

export const expireCheckout: Handler<Told> = (context, { session, webhook }) =>
  take(context, session, expireSession, { webhook });

export const refundCheckout: Handler<
  Told & { amount?: number; reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer' }
> = (context, { session, amount, reason, webhook }) =>
  take(context, session, refundSession, {
    ...(amount !== undefined && { amount }),
    ...(reason && { reason }),
    webhook,
  });

export const disputeCheckout: Handler<Told & { reason: string }> = (context, { session, reason, webhook }) =>
  take(context, session, disputeSession, { reason, webhook });

/** What happens to a session, and what is told of it. */
async function take<E extends SessionStep>(
  context: CommandContext,
  session: string,
  step: E,
  body: BodyOf<E>,
) {
  const call: ControlCall<SessionStep> = await callFor(context);
  const reply = await call(step, { path: { session }, body } as RequestOf<E>);
  return replyResult(reply as ControlReply<CheckoutSession>, { text: sessionLine });
}
type SessionStep =
  | typeof paySession
  | typeof declineSession
  | typeof expireSession
  | typeof refundSession
  | typeof disputeSession;

export const showCheckout: Handler<{ session: string }> = async (context, { session }) => {
  const call = await callFor(context);
  const reply = await call(showSession, { path: { session } });
  mustSucceed(reply);
  const told = await call(listProcessorEvents, { query: { session: reply.body.id } });
  mustSucceed(told);
  const events = told.body.events.toReversed();
  return {
    ok: true,
    data: { status: reply.status, headers: reply.headers, body: { ...reply.body, events } },
    env: reply.body,
    text: (style) => sessionText(reply.body, events, style),
  };
};

export const listCheckouts = asks(listSessions, {
  request: (query: { status?: 'open' | 'complete' | 'expired'; user?: string; limit: number }) => ({
    query: { status: query.status, user: query.user, limit: query.limit },
  }),
  text: ({ sessions }, style) =>
    sessions.length === 0
      ? style.dim('no checkouts yet: `rewards checkout create` begins one')
      : sessions.map((session) => sessionLine(session, style)).join('\n'),
});

interface CreateOptions {
  amount: number;
  user: string;
  brand?: string;
  successUrl?: string;
  cancelUrl?: string;
  currency: string;
  idempotencyKey?: string;
  expect?: string;
}

export const createCheckout: Handler<CreateOptions> = async (context, wish) => {
  const expected = wish.expect === undefined ? undefined : parseExpectation(wish.expect);
  const target = await resolveTarget(context);
  const { brandId, domain } = await demandBrand(context, target, wish.brand);
  const body = {
    brandId,
    amount: wish.amount,
    currency: wish.currency,
    userEmail: wish.user,
    successUrl: wish.successUrl ?? pageOf(domain, 'thank-you?session={CHECKOUT_SESSION_ID}'),
    cancelUrl: wish.cancelUrl ?? pageOf(domain, 'cart'),
  };
  const headers: Record<string, string> =
    wish.idempotencyKey === undefined ? {} : { 'idempotency-key': wish.idempotencyKey };
  const reply = await clientFor(target, context).createCheckout(body, { headers });
  noteRequest(context, reply);
  return serviceResult(reply, { expected, text: (style) => checkoutText(reply.body, style) });
};

function pageOf(domain: string | undefined, path: string): string {
  if (domain) return `https://${domain}/${path}`;
  throw usageError(
    'This target does not tell the domain of the brand, to which the buyer comes back.',
    'Add --success-url and --cancel-url, on a domain of the brand.',
  );
}

function checkoutText(body: unknown, style: Style): string {
  const { sessionId, checkoutUrl } = isObject(body) ? body : {};
  return [
    `${style.green('open')}  ${sessionId}`,
    `  ${style.dim('page')}  ${checkoutUrl}`,
    `  ${style.dim('pay it on an emulator with `rewards checkout pay latest`')}`,
  ].join('\n');
}

/** `5.00 usd`. The emulator's own sessions are in dollars; others may be in a currency without cents. */
const money = (amount: number, currency: string) => `${(amount / 100).toFixed(2)} ${currency}`;

/** `complete paid`, `open`, `expired`. */
function stateOf(
  { status, paymentStatus, refunded, amount, disputed }: CheckoutSession,
  style: Style,
): string {
  const paid = paymentStatus !== 'unpaid';
  const paint = status === 'expired' ? style.dim : status === 'open' || !paid ? style.yellow : style.green;
  return [
    paint(status === 'complete' ? (paid ? 'paid' : 'complete, unpaid until it arrives') : status),
    ...(refunded > 0
      ? [style.yellow(refunded === amount ? 'refunded' : `${refunded} of ${amount} refunded`)]
      : []),
    ...(disputed ? [style.red('disputed')] : []),
  ].join(', ');
}

const sessionLine = (session: CheckoutSession, style: Style): string =>
  [
    style.dim(session.createdAt.slice(0, 19).replace('T', ' ')),
    session.id,
    style.bold(money(session.amount, session.currency)),
    stateOf(session, style),
    session.email ?? '',
  ].join('  ');

function sessionText(session: CheckoutSession, events: ProcessorEvents['events'], style: Style): string {
  const row = (name: string, text: string | null) =>
    text === null || text === '' ? [] : [`  ${style.dim(name.padEnd(9))} ${text}`];
  return [
    `${style.bold(money(session.amount, session.currency))}  ${stateOf(session, style)}`,
    ...row('session', session.id),
    ...row('checkout', session.checkoutId),
    ...row('buyer', session.email),
    ...row('payment', session.paymentIntentId),
    ...Object.entries(session.metadata).flatMap(([key, value]) => row(key, value)),
    ...row('page', session.url),
    ...row(
      session.status === 'open' ? 'expires' : 'created',
      session.status === 'open' ? session.expiresAt : session.createdAt,
    ),
    ...events.map((event) => eventLine(event, style)),
  ].join('\n');
}

/** What the processor has told about a checkout, and who took it. */
function eventLine({ id, type, deliveries }: ProcessorEvents['events'][number], style: Style): string {
  const states = deliveries.map(({ state, attempts }) => {
    const paint = state === 'delivered' ? style.green : state === 'failed' ? style.red : style.yellow;
    const last = attempts.at(-1);
    const said = last === undefined || state === 'delivered' ? '' : ` ${last.status ?? last.answer}`;
    return paint(`${state}${said}`);
  });
  return `  ${style.dim('told'.padEnd(9))} ${type}  ${style.dim(id)}  ${states.join(', ') || style.dim('nobody')}`;
}
