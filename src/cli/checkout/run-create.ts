/** `rewards checkout create`: begins a payment through the service, as a brand's server would. */
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { parseExpectation } from '../service/expectation.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

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
