/** POST create-checkout (contract: Endpoints, Checkout session). */
import type { Handler } from 'hono';
import type { Effect } from '../../actions/answer-once.ts';
import type { CheckoutOutcome, WantedCheckout } from '../../actions/payments/create-checkout.ts';
import { type CheckoutResult, checkoutBody } from '../../contract/events/create-checkout.ts';
import { problemsOf } from '../../contract/shapes.ts';
import { readJsonBody } from '../frame/body.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';
import { clientAddress, countedAddress, forwardedFacts, type ProxyTrust } from '../frame/client-address.ts';
import {
  type AnswerOnce,
  answerKeyed,
  idempotencyKeyOf,
  idempotently,
  type Reply,
} from '../frame/idempotently.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface CreateCheckoutDeps extends BrandKeyDeps {
  /** `actions/payments/create-checkout` with its deps bound; absent where the service takes no payments. */
  createCheckout: ((wanted: WantedCheckout, effect?: Effect) => Promise<CheckoutOutcome>) | undefined;
  answerOnce: AnswerOnce;
  proxies: ProxyTrust;
  refuser: EventsRefuser;
  settings: { bodyLimitBytes: number };
}

export function createCheckoutHandler(deps: CreateCheckoutDeps): Handler<RequestVariables> {
  const { createCheckout, refuser, settings } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) return refuser.answer(context, body.refusal);
    context.get('notes').body = body.text;
    if (!createCheckout) return refuser.answer(context, { code: 'payments_not_configured' });
    const fields = checkoutBody.safeParse(body.value);
    const keyed = idempotencyKeyOf(context.req.header('idempotency-key'), body.value);
    if (!fields.success || 'problem' in keyed) {
      const errors = fields.success ? [] : problemsOf(fields.error);
      if ('problem' in keyed && !errors.some((error) => error.startsWith('idempotencyKey')))
        errors.push(keyed.problem);
      return refuser.answer(context, { code: 'invalid_event_data', errors });
    }
    const { amount: amountCents, idempotencyKey: _, ...wanted } = fields.data;
    const hasKey = (await brandOfKey(deps, context)) === wanted.brandId;
    const openedFrom = hasKey
      ? undefined
      : countedAddress(clientAddress(forwardedFacts(context), deps.proxies));
    // Whoever guesses a brand's keys from another page gets nothing of its requests.
    const asker = context.req.header('origin') ?? 'no origin';
    const request = {
      scope: `create-checkout ${wanted.brandId} from ${asker}`,
      key: keyed.key,
      body: body.text,
    };
    const answer = await idempotently(deps.answerOnce, request, async (effect) =>
      answerTo(deps, await createCheckout({ ...wanted, amountCents, openedFrom }, effect)),
    );
    return 'code' in answer ? refuser.answer(context, answer) : answerKeyed(context, answer);
  };
}

function answerTo({ refuser }: CreateCheckoutDeps, outcome: CheckoutOutcome): Reply {
  if ('refusal' in outcome) {
    const { status, headers, body } = refuser.reply(outcome.refusal);
    // The processor may have made the session all the same.
    const kept = outcome.refusal.code === 'processor_unavailable' ? 'id' : 'nothing';
    return { status, headers, body, kept };
  }
  const result: CheckoutResult = {
    success: true,
    checkoutUrl: outcome.url,
    sessionId: outcome.sessionId,
  };
  return { status: 200, body: result, kept: 'answer' };
}
