/** The built-in receiver of the service's own webhooks, as the control API has it. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { endpoint } from './control-endpoint.ts';
import { listLimit, wrongLimit } from './fields.ts';

const verdict = () => z.enum(['valid', 'absent', 'wrong', 'too old', 'too new']);

const LIST_MAX = 500;

const inboxList = z.object({
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

/** Called from outside: the service posts like any sender, without the control token. */
export const receiveWebhook = endpoint('POST /inbox', {
  id: 'receiveWebhook',
  tag: 'Webhooks',
  summary: 'Receive a webhook',
  description:
    'Takes every body, right or wrong, and keeps the latest; the address of an endpoint whose webhooks one wants to look at.',
  open: true,
  body: named('Webhook', z.looseObject({})),
  example: {
    body: {
      id: 'evt_1',
      type: 'reward.distributed',
      created: 1767614400,
      data: { userEmail: demo.user },
    },
  },
  answer: {
    description: 'It is kept.',
    body: named('WebhookReceived', z.object({ received: z.literal(true) })),
  },
  refusals: ['body_too_large', 'unsupported_encoding'],
  undo: 'passes',
});

export const listInbox = endpoint('GET /inbox', {
  id: 'listInbox',
  tag: 'Webhooks',
  summary: 'What was received, newest first',
  query: z.object({
    after: z.string().optional().meta({ description: 'Only deliveries newer than the one with this id.' }),
    limit: listLimit(LIST_MAX),
  }),
  unfit: wrongLimit(LIST_MAX),
  example: { summary: 'The last delivery', query: { limit: '1' } },
  answer: {
    description: 'Deliveries, with the verdict on their signatures.',
    body: named('Inbox', inboxList),
  },
  refusals: ['invalid_limit'],
});

export type InboxDelivery = z.output<typeof inboxList>['deliveries'][number];

export const inboxEndpoints = [receiveWebhook, listInbox];
