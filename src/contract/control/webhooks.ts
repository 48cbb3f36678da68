/** Where webhooks go and what was delivered, as the control API has it. */
import { z } from 'zod';
import { webhookTypes } from '../../rules/webhooks/body.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { endpoint } from './control-endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

const instant = () => z.iso.datetime();
const types = () =>
  z
    .union([z.array(z.enum(webhookTypes)), z.string()])
    .meta({ description: 'A list, or a text with commas; `all` or nothing for every type.' });

export const webhookEndpointShape = z.object({
  id: z.string(),
  brandId: z.string(),
  url: z.string(),
  types: z.array(z.enum(webhookTypes)).meta({ description: 'Empty: every type.' }),
  isDefault: z
    .boolean()
    .meta({ description: 'Whether it is the one that `brand set --webhook-url` changes.' }),
  enabled: z.boolean(),
  disabledWhy: z
    .enum(['gone', 'failing', 'operator'])
    .nullable()
    .meta({ description: 'It answered 410; it failed for five days; or it was turned off by hand.' }),
  disabledAt: instant().nullable(),
  failingSince: instant().nullable().meta({ description: 'The first failure since the last success.' }),
  previousSecretUntil: instant()
    .nullable()
    .meta({ description: 'Until then the previous secret signs beside the new one.' }),
  createdAt: instant(),
});
const withSecret = webhookEndpointShape.extend({
  secret: z.string().meta({ description: 'Shown once.' }),
});

const deliveryState = () => z.enum(['waiting', 'held', 'failed', 'delivered']);
export const webhookDeliveryShape = z.object({
  eventId: z.string(),
  endpointId: z.string(),
  brandId: z.string(),
  url: z.string().nullable().meta({ description: 'Null once the endpoint is removed.' }),
  type: z.enum(webhookTypes),
  subject: z.string().meta({ description: 'What it is about: the id of a reward.' }),
  createdAt: instant(),
  state: deliveryState().meta({
    description: '`held`: its endpoint is off; `failed`: no attempt is left.',
  }),
  attempts: z.int(),
  nextAttemptAt: instant().nullable(),
  deliveredAt: instant().nullable(),
});
const attempt = z.object({
  at: instant(),
  ms: z.int(),
  status: z.int().nullable(),
  why: z.string().nullable().meta({ description: 'Why there was no answer.' }),
  answer: z.string().nullable().meta({ description: "The beginning of the answer's body." }),
});

export const deliveryDetail = z.object({
  id: z.string(),
  body: z.string(),
  deliveries: z.array(webhookDeliveryShape.extend({ log: z.array(attempt) })),
});

const endpointPath = z.object({ id: z.string().meta({ description: 'Id of the endpoint.' }) });
const eventPath = z.object({ id: z.string().meta({ description: 'Id of the event, `evt_…`.' }) });
const endpointExample = { id: 'we_0190a1b2-0000-7000-8000-000000000001' };
const eventExample = { id: 'evt_0190a1b2-0000-7000-8000-000000000002' };
const url = 'https://shop.example/hooks/rewards';
const settingsRefusals = ['invalid_body', 'invalid_settings'] as const;

export const webhookEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(['get', '/webhooks/endpoints', 'listWebhookEndpoints', 'Webhooks', 'Where webhooks go'], {
    query: z.object({ brand: z.string().meta({ description: 'Id or domain; default: all.' }) }).partial(),
    example: { query: { brand: demo.domain } },
    answer: {
      description: 'The endpoints, without their secrets.',
      body: named('WebhookEndpointList', z.object({ endpoints: z.array(webhookEndpointShape) })),
    },
    refusals: ['brand_not_found'],
  }),
  endpoint(['post', '/webhooks/endpoints', 'addWebhookEndpoint', 'Webhooks', 'Add an endpoint'], {
    description:
      "With `isDefault`, the brand's default endpoint gets the URL; where it has one already, no new secret is made.",
    status: 201,
    body: named(
      'NewWebhookEndpoint',
      z.object({
        brand: z
          .string()
          .optional()
          .meta({ description: 'Id or domain; may be left out where there is one brand.' }),
        url: z.string(),
        types: types().optional(),
        isDefault: z.boolean().optional(),
      }),
    ),
    example: { body: { brand: demo.domain, url } },
    answer: {
      description: 'The endpoint, with its secret where that is new.',
      body: named('WebhookEndpointAdded', withSecret.partial({ secret: true })),
    },
    refusals: [...settingsRefusals, 'brand_not_found'],
  }),
  endpoint(['patch', '/webhooks/endpoints/{id}', 'setWebhookEndpoint', 'Webhooks', 'Change an endpoint'], {
    description: 'What was held while it was off goes out only when it is recovered.',
    path: endpointPath,
    body: named(
      'WebhookEndpointSettings',
      z.object({ url: z.string(), types: types(), enabled: z.union([z.boolean(), z.string()]) }).partial(),
    ),
    example: { path: endpointExample, body: { types: 'reward.distributed', enabled: 'on' } },
    answer: {
      description: 'The endpoint as it is now.',
      body: named('WebhookEndpoint', webhookEndpointShape),
    },
    refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
  }),
  endpoint(
    ['delete', '/webhooks/endpoints/{id}', 'removeWebhookEndpoint', 'Webhooks', 'Remove an endpoint'],
    {
      description: 'With what was still to go there; the log of what was delivered stays.',
      path: endpointPath,
      example: { path: endpointExample },
      answer: {
        description: 'It is removed.',
        body: named('WebhookEndpointRemoved', z.object({ removed: z.string() })),
      },
      refusals: ['webhook_endpoint_not_found'],
    },
  ),
  endpoint(
    ['post', '/webhooks/endpoints/{id}/secrets', 'rotateWebhookSecret', 'Webhooks', 'Make a new secret'],
    {
      status: 201,
      path: endpointPath,
      body: named(
        'WebhookSecretRotation',
        z.object({
          overlap: z
            .string()
            .default('24h')
            .meta({ description: 'How long the previous secret signs as well: a duration, or 0.' }),
        }),
      ),
      example: { path: endpointExample, body: { overlap: '24h' } },
      answer: {
        description: 'The endpoint with its new secret.',
        body: named('WebhookEndpointWithSecret', withSecret),
      },
      refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
    },
  ),
  endpoint(
    ['post', '/webhooks/endpoints/{id}/recover', 'recoverWebhooks', 'Webhooks', 'Send what was missed'],
    {
      path: endpointPath,
      body: named(
        'WebhookRecovery',
        z.object({ since: z.string().meta({ description: 'An RFC 3339 time, or a duration before now.' }) }),
      ),
      example: { path: endpointExample, body: { since: '5d' } },
      answer: {
        description: 'How many deliveries wait again.',
        body: named('WebhooksRecovered', z.object({ recovered: z.int() })),
      },
      refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
    },
  ),
  endpoint(
    ['get', '/webhooks/deliveries', 'listDeliveries', 'Webhooks', 'What was delivered, newest first'],
    {
      query: z
        .object({
          brand: z.string(),
          endpoint: z.string(),
          state: deliveryState(),
          limit: z.int().min(1).max(500).default(50),
        })
        .partial(),
      example: { query: { state: 'failed' } },
      answer: {
        description: 'One line per event and endpoint.',
        body: named('DeliveryList', z.object({ deliveries: z.array(webhookDeliveryShape) })),
      },
      refusals: ['brand_not_found', 'invalid_limit', 'invalid_settings'],
    },
  ),
  endpoint(['get', '/webhooks/deliveries/{id}', 'showDelivery', 'Webhooks', 'One event with each attempt'], {
    path: eventPath,
    example: { path: eventExample },
    answer: {
      description: 'The body as it was signed, and every attempt of the last 30 days.',
      body: named(
        'DeliveryDetail',
        z.object({
          id: z.string(),
          body: z.string(),
          deliveries: z.array(webhookDeliveryShape.extend({ log: z.array(attempt) })),
        }),
      ),
    },
    refusals: ['webhook_event_not_found'],
  }),
  endpoint(
    ['post', '/webhooks/deliveries/{id}/replay', 'replayDelivery', 'Webhooks', 'Send an event once more'],
    {
      description: 'Under its id and with its body, to every endpoint that it went to and that is on.',
      path: eventPath,
      body: named(
        'WebhookReplay',
        z.object({ endpoint: z.string().meta({ description: 'Only to this one.' }) }).partial(),
      ),
      example: { path: eventExample, body: {} },
      answer: {
        description: 'To how many endpoints it goes.',
        body: named('WebhookReplayed', z.object({ replayed: z.int() })),
      },
      refusals: ['invalid_body', 'webhook_event_not_found'],
    },
  ),
];
