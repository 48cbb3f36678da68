/** POST create-checkout (contract: Endpoints, Checkout session). */
import { z } from 'zod';
import { isBuyerEmail, RETURN_URL_MAX, readReturnUrl } from '../../rules/payments/checkout-input.ts';
import { PAYMENT_CENTS } from '../../rules/payments/conversion.ts';
import { emailKey } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { idempotencyKeyField, idempotencyKeyHeader } from '../headers.ts';
import {
  brandIdField,
  EMAIL_PROBLEM,
  emailMeta,
  OBJECT_PROBLEM,
  orRequired,
  trimmedText,
} from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';

const AMOUNT_PROBLEM = `must be a whole number of US cents from ${PAYMENT_CENTS.least} to ${PAYMENT_CENTS.most}`;
const CURRENCY_PROBLEM = 'must be usd: RWT are sold for US dollars alone';
const BUYER_PROBLEM =
  'must be an e-mail address that the payment processor takes: letters, digits and marks without quotes in front of the @, at most 64, and a domain with a dot behind it';
const URL_PROBLEM = `must be a web address of at most ${RETURN_URL_MAX} characters`;

const { least, most } = PAYMENT_CENTS;
const amount = z
  .number({ error: orRequired(AMOUNT_PROBLEM) })
  .refine((cents) => Number.isInteger(cents) && cents >= least && cents <= most, AMOUNT_PROBLEM)
  .meta({
    description: 'US cents; each buys 10 RWT.',
    type: 'integer',
    minimum: least,
    maximum: most,
  });

const currency = trimmedText(CURRENCY_PROBLEM)
  .nullish()
  .transform((value) => value?.toLowerCase() || 'usd')
  .pipe(z.literal('usd', { error: CURRENCY_PROBLEM }))
  .meta({ description: 'Default `usd`, which is the only one.', type: ['string', 'null'] });

const userEmail = trimmedText(EMAIL_PROBLEM)
  .transform((value, context) => {
    const email = emailKey(value);
    if (email !== undefined && isBuyerEmail(email)) return email;
    context.addIssue({
      code: 'custom',
      message: email === undefined ? EMAIL_PROBLEM : BUYER_PROBLEM,
      input: value,
    });
    return z.NEVER;
  })
  .meta({
    description:
      'The buyer. The payment processor takes no quoted local part, and none with letters outside ASCII.',
    ...emailMeta,
  });

const pageUrl = (description: string) =>
  trimmedText(URL_PROBLEM)
    .transform((value, context) => {
      const page = readReturnUrl(value);
      if (page) return page.url;
      context.addIssue({ code: 'custom', message: URL_PROBLEM, input: value });
      return z.NEVER;
    })
    .meta({ description, maxLength: RETURN_URL_MAX });

/** A field that is null counts as not sent. */
export const checkoutBody = z.object(
  {
    brandId: brandIdField,
    amount,
    currency,
    userEmail,
    successUrl: pageUrl(
      "Where the buyer comes back to after paying: https on a domain of the brand. `{CHECKOUT_SESSION_ID}` in it becomes the session's id.",
    ),
    cancelUrl: pageUrl('The same for a buyer who does not pay.'),
    idempotencyKey: idempotencyKeyField.nullish().meta({
      description: 'In place of the header `Idempotency-Key`, for pages that cannot send it.',
    }),
  },
  { error: OBJECT_PROBLEM },
);

export const checkoutResult = z.object({
  success: z.literal(true),
  checkoutUrl: z.url().meta({ description: "The processor's page, where the buyer pays." }),
  sessionId: z.string().meta({ description: "The processor's id of the session; payment-mint takes it." }),
});
export type CheckoutResult = z.output<typeof checkoutResult>;

const { brandId, domain, user } = demo;
const sessionId = 'cs_test_a1B2c3D4';
const checkout = {
  brandId,
  amount: 2_500,
  userEmail: user,
  successUrl: `https://${domain}/thank-you?session={CHECKOUT_SESSION_ID}`,
  cancelUrl: `https://${domain}/cart`,
};

export const createCheckoutEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'createCheckout',
  tag: 'Payments',
  method: 'post',
  path: '/create-checkout',
  prefixed: true,
  summary: 'Begin a payment that buys RWT for a brand',
  description: [
    'One US dollar buys 1000 RWT, which are minted to the wallet of the brand, or into its escrow where its setting `mintTo` says so, once the payment is completed.',
    'The service writes what is bought into the metadata of the session (`wallet`, `usd_amount`, `rwt_amount`); nobody else can.',
    "Callers without the brand's key may have 20 checkouts open from one address, and 1,000 of one brand together.",
  ].join('\n\n'),
  parameters: [idempotencyKeyHeader],
  body: named('Checkout', checkoutBody),
  examples: [
    { summary: '25,000 RWT for 25 dollars', body: checkout },
    {
      summary: 'Safe to repeat',
      headers: { 'Idempotency-Key': 'order-2030-01-01-A1' },
      body: { ...checkout, amount: 550, currency: 'usd' },
    },
  ],
  answers: {
    200: {
      description: 'The session.',
      body: named('CheckoutSession', checkoutResult),
      example: {
        success: true,
        checkoutUrl: `https://checkout.stripe.com/c/pay/${sessionId}`,
        sessionId,
      },
    },
  },
  refusals: [
    ...withBody,
    'payments_not_configured',
    'invalid_event_data',
    'brand_not_found',
    'too_many_open_checkouts',
    'processor_unavailable',
    'idempotency_key_reused',
    'request_in_progress',
  ],
};
