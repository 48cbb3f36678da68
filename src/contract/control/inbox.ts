/** The built-in receiver of the service's own webhooks, as the control API has it. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import type { ControlRefusalCode } from './refusals.ts';

const verdict = () => z.enum(['valid', 'absent', 'wrong', 'too old', 'too new']);

export const inboxQuery = z
  .object({
    after: z.string().meta({ description: 'Only deliveries newer than the one with this id.' }),
    limit: z.int().min(1).max(500).default(50),
  })
  .partial();

export const inboxList = z.object({
  deliveries: z.array(
    z.object({
      id: z.string().meta({ description: 'Of this delivery; an event that came twice has two.' }),
      receivedAt: z.iso.datetime(),
      brandId: z
        .string()
        .nullable()
        .meta({ description: 'Whose endpoint has the address; null when it is the address of none.' }),
      headers: z.record(z.string(), z.string()).meta({ description: 'Names in small letters.' }),
      body: z.unknown().meta({ description: 'The body as JSON; null when it is not.' }),
      rawBody: z.string().meta({ description: 'The body as it came, as text.' }),
      signature: z
        .object({
          valid: z.boolean().meta({ description: 'Whether all three are.' }),
          bare: verdict().meta({ description: '`X-Service-Signature`, or the one that follows it.' }),
          timestamped: verdict().meta({ description: '`X-Service-Signature-Timestamped`.' }),
          standard: verdict().meta({ description: '`webhook-signature` with its id and timestamp.' }),
        })
        .nullable()
        .meta({ description: "By the secret of the endpoint; null when it is nobody's." }),
    }),
  ),
});

/** Both are called from outside: the service posts like any sender, without the control token. */
export const inboxEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  {
    id: 'receiveWebhook',
    method: 'post',
    path: '/inbox',
    tag: 'Webhooks',
    summary: 'Receive a webhook',
    description:
      'Takes every body, right or wrong, and keeps the latest; the address of an endpoint whose webhooks one wants to look at.',
    body: named('Webhook', z.looseObject({})),
    examples: [
      {
        summary: 'Receive a webhook',
        body: {
          id: 'evt_1',
          type: 'reward.distributed',
          created: 1767614400,
          data: { userEmail: demo.user },
        },
      },
    ],
    answers: {
      200: {
        description: 'It is kept.',
        body: named('WebhookReceived', z.object({ received: z.literal(true) })),
      },
    },
    refusals: ['body_too_large', 'unsupported_encoding', 'foreign_host'],
  },
  {
    id: 'listInbox',
    method: 'get',
    path: '/inbox',
    tag: 'Webhooks',
    summary: 'What was received, newest first',
    key: { scheme: 'controlToken', required: true },
    parameters: [{ in: 'query', schema: inboxQuery }],
    examples: [{ summary: 'The last delivery', query: { limit: '1' } }],
    answers: {
      200: {
        description: 'Deliveries, with the verdict on their signatures.',
        body: named('Inbox', inboxList),
      },
    },
    refusals: ['invalid_limit', 'token_missing', 'foreign_host'],
  },
];
