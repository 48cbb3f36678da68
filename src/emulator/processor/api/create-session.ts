/** `POST /v1/checkout/sessions`: reads its parameters and creates the session. */

import {
  newSession,
  type Session,
  type SessionLine,
  type SessionNotes,
  totalOf,
} from '../objects/session-object.ts';
import type { Change } from '../records.ts';
import { invalidRequest } from '../stripe-error.ts';
import type { Parameters } from './form-parameters.ts';

/** Limits of the API. */
const EXPIRES_AFTER_MAX = 24 * 3_600;
const EXPIRES_AFTER_MIN = 30 * 60;
const LINES_MAX = 100;
const AMOUNT_MAX = 99_999_999;
/** The least that can be charged, in the currency's smallest unit; of currencies that are not here, nothing is asked. */
const leastAmounts: Record<string, number> = {
  usd: 50,
  eur: 50,
  gbp: 30,
  chf: 50,
  cad: 50,
  aud: 50,
  jpy: 50,
};

/** Stores the session; its expiry belongs to the clock from then on. */
export async function createSession(change: Change, parameters: Parameters): Promise<Session> {
  const { session, notes } = readSession(change, parameters);
  parameters.finish();
  await change.add({ body: session, notes, dueAt: session.expires_at * 1_000 });
  return session;
}

function readSession(change: Change, parameters: Parameters): { session: Session; notes: SessionNotes } {
  if (parameters.needed('mode') !== 'payment') {
    throw invalidRequest('The emulated processor sells once: `mode` must be payment', { param: 'mode' });
  }
  // `hosted` was its name before 2025.
  parameters.oneOf('ui_mode', ['hosted_page', 'hosted']);
  const { lines, currency } = readLines(change, parameters);
  const amount = checkedTotal(lines, currency);
  // Never converted here, so either wish is granted.
  const adaptive = parameters.group('adaptive_pricing');
  adaptive?.oneOf('enabled', ['true', 'false']);
  adaptive?.finish();
  const tax = parameters.group('automatic_tax');
  if (tax?.oneOf('enabled', ['true', 'false']) === 'true') {
    throw invalidRequest('The emulated processor computes no taxes: `automatic_tax[enabled]` must be false', {
      param: 'automatic_tax[enabled]',
    });
  }
  tax?.finish();
  const paid = parameters.group('payment_intent_data');
  const paymentMetadata = paid?.metadata() ?? {};
  const paymentDescription = paid?.text('description', { max: 1_000 }) ?? null;
  paid?.email('receipt_email');
  paid?.finish();
  const session = newSession({
    id: change.newId('cs_test_a1', 56),
    created: change.now,
    expiresAt: readExpiry(change.now, parameters),
    amount,
    currency,
    successUrl: neededUrl(parameters, 'success_url'),
    cancelUrl: parameters.url('cancel_url') ?? null,
    clientReferenceId: parameters.text('client_reference_id', { max: 200 }) ?? null,
    customerEmail: parameters.email('customer_email') ?? null,
    customerCreation: parameters.oneOf('customer_creation', ['always', 'if_required']) ?? 'if_required',
    locale: parameters.text('locale') ?? null,
    submitType: parameters.oneOf('submit_type', ['auto', 'book', 'donate', 'pay']) ?? null,
    paymentMethodTypes: readMethods(parameters),
    metadata: parameters.metadata() ?? {},
  });
  return { session, notes: { lines, paymentMetadata, paymentDescription } };
}

function readMethods(parameters: Parameters): string[] {
  const types = parameters.texts('payment_method_types');
  return types.length > 0 ? types : ['card'];
}

function neededUrl(parameters: Parameters, name: string): string {
  parameters.needed(name);
  return parameters.url(name) ?? '';
}

function readExpiry(now: number, parameters: Parameters): number {
  const expiresAt = parameters.whole('expires_at');
  if (expiresAt === undefined) return now + EXPIRES_AFTER_MAX;
  const param = 'expires_at';
  if (expiresAt < now + EXPIRES_AFTER_MIN) {
    throw invalidRequest(
      'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      { param },
    );
  }
  if (expiresAt > now + EXPIRES_AFTER_MAX) {
    throw invalidRequest(
      'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      { param },
    );
  }
  return expiresAt;
}

function readLines(change: Change, parameters: Parameters): { lines: SessionLine[]; currency: string } {
  const items = parameters.groups('line_items');
  if (items.length === 0) {
    throw invalidRequest('Missing required param: line_items.', {
      code: 'parameter_missing',
      param: 'line_items',
    });
  }
  if (items.length > LINES_MAX) {
    throw invalidRequest(`A session has at most ${LINES_MAX} line items`, { param: 'line_items' });
  }
  const read = items.map((item) => readLine(change, item));
  const [first] = read;
  const currency = first?.currency ?? '';
  if (read.some((one) => one.currency !== currency)) {
    throw invalidRequest('All prices on a Checkout Session must be denominated in the same currency.', {
      param: 'line_items',
    });
  }
  return { lines: read.map(({ line }) => line), currency };
}

function readLine(change: Change, item: Parameters): { line: SessionLine; currency: string } {
  if (item.has('price')) {
    const price = item.text('price') ?? '';
    throw invalidRequest(`No such price: '${price}'; the emulated processor takes \`price_data\``, {
      code: 'resource_missing',
      param: 'line_items[0][price]',
    });
  }
  const price = item.group('price_data');
  if (!price)
    throw invalidRequest('Missing required param: line_items[0][price_data].', {
      code: 'parameter_missing',
      param: 'line_items[0][price_data]',
    });
  const currency = price.needed('currency').toLowerCase();
  if (!/^[a-z]{3}$/.test(currency)) {
    throw invalidRequest(`Invalid currency: ${currency}`, { param: 'line_items[0][price_data][currency]' });
  }
  const unitAmount = readUnitAmount(price);
  price.oneOf('tax_behavior', ['exclusive', 'inclusive', 'unspecified']);
  const product = price.group('product_data');
  if (!product) {
    throw invalidRequest('Missing required param: line_items[0][price_data][product_data].', {
      code: 'parameter_missing',
      param: 'line_items[0][price_data][product_data]',
    });
  }
  const line: SessionLine = {
    id: change.newId('li_1'),
    priceId: change.newId('price_1'),
    productId: change.newId('prod_', 14),
    name: product.needed('name', { max: 250 }),
    description: product.text('description', { max: 1_000 }) ?? null,
    images: product.texts('images'),
    productMetadata: product.metadata() ?? {},
    ...unitAmount,
    quantity: item.neededWhole('quantity', { min: 1 }),
  };
  for (const part of [product, price, item]) part.finish();
  return { line, currency };
}

/** In the currency's smallest unit: a whole number, or a decimal with up to 12 places. */
function readUnitAmount(price: Parameters): Pick<SessionLine, 'unitAmount' | 'unitAmountDecimal'> {
  if (!price.has('unit_amount_decimal')) return { unitAmount: price.neededWhole('unit_amount') };
  const param = 'line_items[0][price_data][unit_amount_decimal]';
  if (price.has('unit_amount'))
    throw invalidRequest('You may only specify one of these parameters: unit_amount, unit_amount_decimal.', {
      param,
    });
  const text = price.needed('unit_amount_decimal');
  if (!/^\d{1,12}(\.\d{1,12})?$/.test(text))
    throw invalidRequest(`Invalid decimal: ${text}; must have at most 12 decimal places`, {
      code: 'parameter_invalid_decimal',
      param,
    });
  const [whole = '0', places = ''] = text.split('.');
  const decimals = places.replace(/0+$/, '');
  if (decimals === '') return { unitAmount: Number(whole) };
  return { unitAmount: null, unitAmountDecimal: `${Number(whole)}.${decimals}` };
}

function checkedTotal(lines: SessionLine[], currency: string): number {
  const amount = totalOf(lines);
  const least = leastAmounts[currency] ?? 0;
  if (amount > 0 && amount < least) {
    throw invalidRequest(
      `The Checkout Session's total amount due must add up to at least ${(least / 100).toFixed(2)} ${currency}`,
      { code: 'amount_too_small' },
    );
  }
  if (amount > AMOUNT_MAX) {
    throw invalidRequest(`The Checkout Session's total amount due must be no more than ${AMOUNT_MAX}`, {
      code: 'amount_too_large',
    });
  }
  return amount;
}
