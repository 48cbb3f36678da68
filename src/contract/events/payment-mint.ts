/** POST payment-mint (contract: Endpoints, States and transitions, Events). */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { example } from '../examples.ts';
import { address, hash, OBJECT_PROBLEM, rwt } from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';

const SESSION_PROBLEM = "must be the id of a session; a processor's event needs its header Stripe-Signature";

export const mintBody = z.object(
  {
    sessionId: z
      .string({
        error: ({ input }) =>
          input === undefined || input === null
            ? "is required; a processor's event needs its header Stripe-Signature"
            : SESSION_PROBLEM,
      })
      .meta({ description: 'As create-checkout gave it.' }),
  },
  { error: OBJECT_PROBLEM },
);

export const mintResult = z
  .object({
    success: z.literal(true),
    message: z.string().meta({ description: 'For people.' }),
    txHash: hash().meta({ description: 'The transaction that mints.' }),
    blockExplorer: z.url().meta({ description: 'Where people can look at it.' }),
    walletAddress: address().meta({ description: "The brand's wallet." }),
    usdAmount: z.number().meta({ description: 'US dollars.' }),
    rwtAmount: rwt(),
    paymentIntentId: z.string().meta({ description: "The processor's id of the payment." }),
    alreadyProcessed: z
      .literal(true)
      .optional()
      .meta({ description: 'An earlier call has minted for this session; nothing was minted now.' }),
  })
  .meta({ id: 'Minted' });
export type MintResult = z.output<typeof mintResult>;

/** What a verified event that mints nothing is answered with, so that the processor does not send it again. */
export const eventReceipt = z
  .object({
    success: z.boolean().meta({ description: 'False when its session mints nothing; `message` says why.' }),
    received: z.literal(true),
    message: z.string(),
  })
  .meta({ id: 'EventReceipt' });
export type EventReceipt = z.output<typeof eventReceipt>;

const sessionId = 'cs_test_a1B2c3D4';

export const paymentMintEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'paymentMint',
  tag: 'Payments',
  method: 'post',
  path: '/payment-mint',
  prefixed: true,
  summary: 'Mint the RWT of a paid session, once',
  description: [
    'Called by the payment flow, with the id of a session. However many calls come, and also when they come at once, one mints; all others get the same fields with `alreadyProcessed`. Only sessions of create-checkout mint, and only when the processor says that they are paid and everything in them is as it was planned.',
    "It takes the processor's own events as well, as its webhook destination: a body with the header `Stripe-Signature` is verified over the bytes that came and may be 300 s old. A verified event that mints nothing is answered with 200 and `received`, so that the processor does not send it for days.",
  ].join('\n\n'),
  parameters: [
    {
      in: 'header',
      schema: z.object({
        'Stripe-Signature': z.string().optional().meta({
          description: 'Of an event of the processor, which then is the body: `t=<seconds>,v1=<hex>`.',
        }),
      }),
    },
  ],
  body: named('Mint', mintBody),
  examples: [{ summary: 'A session that is paid', body: { sessionId } }],
  answers: {
    200: {
      description: 'The mint, or the receipt of an event.',
      body: named('MintResult', z.union([mintResult, eventReceipt])),
      example: {
        success: true,
        message: 'Payment processed: 25000 RWT minted',
        txHash: example.transactionHash,
        blockExplorer: `https://explorer.example/tx/${example.transactionHash}`,
        walletAddress: example.walletAddress,
        usdAmount: 25,
        rwtAmount: 25_000,
        paymentIntentId: 'pi_3AbCdEfGhIjKlMn',
      },
    },
  },
  refusals: [
    ...withBody,
    'payments_not_configured',
    'invalid_event_data',
    'processor_event_refused',
    'session_not_found',
    'payment_not_completed',
    'invalid_wallet_address',
    'invalid_amount',
    'amount_mismatch',
    'processor_unavailable',
    'mint_failed',
    'mint_pending',
  ],
};
