/** Steps that buy RWT, steer the payment processor, and deliver its webhooks. */

import { createHmac } from 'node:crypto';
import { z } from 'zod';
import {
  declineSession,
  disputeSession,
  expireSession,
  listProcessorEvents,
  paySession,
  refundSession,
  showProcessorEvent,
  showSession,
} from '../../contract/control/processor.ts';
import { answerSeen, brandOf, controlBody, type StepContext, StepError, userNamed } from './step-context.ts';
import {
  answer,
  brandField,
  choice,
  duration,
  stepKind,
  text,
  userField,
  whole,
  yesNo,
} from './step-kind.ts';

const sessionField = () =>
  text('id of the session, as `checkout` saw it, or `latest`; default: `latest`').optional();
const told = yesNo('false: the processor tells nobody').optional();

export const checkout = stepKind({
  about: 'Begins a purchase of RWT (`POST create-checkout`)',
  sees: answer,
  input: z.strictObject({
    amount: whole('in US cents'),
    user: userField(),
    brand: brandField(),
    currency: text('default: usd').optional(),
    successUrl: text('where the buyer comes back to; default: a page of the brand').optional(),
    cancelUrl: text('the same for a buyer who does not pay').optional(),
    idempotencyKey: text('the same key gets the first answer again').optional(),
  }),
  async run(context, { amount, user, brand: name, currency, successUrl, cancelUrl, idempotencyKey }) {
    const { brandId, domain } = brandOf(context, name);
    const body = {
      brandId,
      amount,
      userEmail: userNamed(context, user),
      currency,
      successUrl: successUrl ?? `https://${domain}/thank-you?session={CHECKOUT_SESSION_ID}`,
      cancelUrl: cancelUrl ?? `https://${domain}/cart`,
    };
    const headers: Record<string, string> =
      idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return answerSeen(await context.client.createCheckout(body, { headers }));
  },
});

export const pay = stepKind({
  about: 'Pays a session, as its buyer; or declines, expires or disputes it',
  needs: 'payments',
  sees: answer,
  input: z.strictObject({
    session: sessionField(),
    outcome: choice(['paid', 'declined', 'expired', 'disputed'], 'default: paid').optional(),
    delay: duration('the money arrives so much later, as with a bank debit').optional(),
    fails: text('of one that arrives later: it fails then, with this code').optional(),
    webhook: told,
  }),
  async run({ client }, { session = 'latest', outcome = 'paid', delay, fails, webhook }) {
    const { call } = client;
    const path = { session };
    if (outcome === 'declined') return answerSeen(await call(declineSession, { path, body: { webhook } }));
    if (outcome === 'expired') return answerSeen(await call(expireSession, { path, body: { webhook } }));
    if (outcome === 'disputed') return answerSeen(await call(disputeSession, { path, body: { webhook } }));
    const later = delay !== undefined || fails !== undefined ? true : undefined;
    return answerSeen(await call(paySession, { path, body: { later, delay, fails, webhook } }));
  },
});

export const refund = stepKind({
  about: 'Gives money of a session back, all that is left or a part of it',
  needs: 'payments',
  sees: answer,
  input: z.strictObject({
    session: sessionField(),
    amount: whole('in US cents; default: all that is left', { least: 1 }).optional(),
    reason: choice(['duplicate', 'fraudulent', 'requested_by_customer'], 'of the refund').optional(),
    webhook: told,
  }),
  async run({ client }, { session = 'latest', ...body }) {
    return answerSeen(await client.call(refundSession, { path: { session }, body }));
  },
});

export const mint = stepKind({
  about: 'Asks for the RWT of a paid session (`POST payment-mint`)',
  sees: { ...answer, mints: 'how often the chain has minted for the session, on a stack of the emulator' },
  input: z.strictObject({ session: sessionField() }),
  async run(context, { session: named = 'latest' }) {
    const session = await sessionId(context, named);
    const reply = await context.client.paymentMint(session);
    return { ...answerSeen(reply), ...(await mintsSeen(context, session)) };
  },
});

/** What a test may do to a delivery, so that it must be refused. */
const badly = ['body', 'signature', 'stale'] as const;
const OUT_OF_TOLERANCE_SECONDS = 600;

export const webhook = stepKind({
  about: 'Delivers an event of the payment processor to the service again, under a fresh signature',
  needs: 'payments',
  sees: { ...answer, mints: 'how often the chain has minted for the session' },
  input: z.strictObject({
    deliver: text('the type of the event; default: `checkout.session.completed`').optional(),
    session: sessionField(),
    spoil: choice(badly, 'changes the body or the signature, or signs ten minutes in the past').optional(),
  }),
  async run(context, { deliver = 'checkout.session.completed', session: named = 'latest', spoil }) {
    const session = await sessionId(context, named);
    const { payload } = await recordedEvent(context, { type: deliver, session });
    const signedSeconds =
      Math.floor((await context.nowMs()) / 1_000) - (spoil === 'stale' ? OUT_OF_TOLERANCE_SECONDS : 0);
    const signed = JSON.stringify(payload);
    const digest = createHmac(
      'sha256',
      spoil === 'signature' ? 'whsec_of_somebody_else' : (context.target.webhookSecret ?? ''),
    )
      .update(`${signedSeconds}.${signed}`)
      .digest('hex');
    const reply = await context.client.request({
      host: 'events',
      path: '/rewards-api/payment-mint',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'stripe-signature': `t=${signedSeconds},v1=${digest}` },
      body: spoil === 'body' ? signed.replace('"livemode":false', '"livemode":true') : signed,
    });
    return { ...answerSeen(reply), ...(await mintsSeen(context, session)) };
  },
});

async function sessionId({ client, target }: StepContext, name: string): Promise<string> {
  if (name !== 'latest') return name;
  if (!target.can.has('payments'))
    throw new StepError('`latest` works with the emulated processor only: give the id of the session');
  return controlBody(await client.call(showSession, { path: { session: name } })).id;
}

/** The event may be about the session, or about its payment. */
async function recordedEvent({ client }: StepContext, { type, session }: { type: string; session: string }) {
  const { call } = client;
  const { id, paymentIntentId } = controlBody(await call(showSession, { path: { session } }));
  for (const object of [id, paymentIntentId]) {
    if (object === null) continue;
    const [found] = controlBody(await call(listProcessorEvents, { query: { type, object } })).events;
    if (found) return controlBody(await call(showProcessorEvent, { path: { event: found.id } }));
  }
  throw new StepError(`the processor has no event ${type} of the session ${session}; is it paid?`);
}

async function mintsSeen(context: StepContext, session: string): Promise<{ mints?: number }> {
  return context.target.can.has('chain') ? { mints: await context.chain().mintsOf(session) } : {};
}
