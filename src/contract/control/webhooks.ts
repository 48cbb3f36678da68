/** Where webhooks go and what was delivered, as the control API has it. */
import { z } from 'zod';
import { instant as time } from '../../lib/setting.ts';
import { readSingle } from '../../rules/brands/settings.ts';
import { isWebhookType, type WebhookType, webhookTypes } from '../../rules/webhook-body.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { textAs } from '../settings-schema.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, instant, listLimit, overlap, settingAs, wrongLimit } from './fields.ts';

const TYPES_MUST_BE = `must be all, or some of ${webhookTypes.join(', ')}`;
/** None for all of them. */
const types = () =>
  z
    .union([z.array(z.enum(webhookTypes)), z.string()], { error: TYPES_MUST_BE })
    .transform((given, context): WebhookType[] => {
      const words = (typeof given === 'string' ? given.split(',') : given).map((word) => word.trim());
      if (words.every((word) => word === 'all' || word === '')) return [];
      const chosen = words.filter(isWebhookType);
      if (chosen.length === words.length) return [...new Set(chosen)];
      context.addIssue({ code: 'custom', message: TYPES_MUST_BE, input: given });
      return z.NEVER;
    })
    .meta({ description: 'A list, or a text with commas; `all` or nothing for every type.' });
const URL_MUST_BE = 'must be a URL';

const webhookEndpointShape = z.object({
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
  lastFailedAt: instant().nullable().meta({ description: 'The latest of these failures.' }),
  pausedUntil: instant()
    .nullable()
    .meta({ description: 'The receiver asked for time until then, which may have passed.' }),
  previousSecretUntil: instant()
    .nullable()
    .meta({ description: 'Until then the previous secret signs beside the new one.' }),
  createdAt: instant(),
});
const withSecret = webhookEndpointShape.extend({
  secret: z.string().meta({ description: 'Shown once.' }),
});

const STATES = ['waiting', 'held', 'failed', 'delivered'] as const;
const LIST_MAX = 500;
const webhookDeliveryShape = z.object({
  eventId: z.string(),
  endpointId: z.string(),
  brandId: z.string(),
  url: z.string().nullable().meta({ description: 'Null once the endpoint is removed.' }),
  type: z.enum(webhookTypes),
  subject: z.string().meta({ description: 'What it is about: the id of a reward.' }),
  createdAt: instant(),
  state: z.enum(STATES).meta({
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
  signedAt: instant()
    .nullable()
    .meta({ description: 'The time that its signatures carry; null for attempts from before it was kept.' }),
});

/** Deliveries that the health of an endpoint is told of: enough to see a trend, few enough to count at once. */
export const HEALTH_DELIVERIES_MAX = 1_000;
const latest = z
  .object({
    deliveries: z.int().meta({ description: `How many these are, ${HEALTH_DELIVERIES_MAX} at most.` }),
    delivered: z.int(),
    waiting: z.int(),
    held: z.int(),
    failed: z.int(),
    lastDeliveredAt: instant().nullable(),
    dueSince: instant()
      .nullable()
      .meta({ description: 'Since when the one that waits for longest is due; null where none is due.' }),
  })
  .meta({ id: 'LatestDeliveries', description: 'How the newest deliveries of the endpoint stand.' });

/** As many as one request may bring events. */
const SUBJECTS_MAX = 100;
const SUBJECTS_MUST_BE = `must name at most ${SUBJECTS_MAX} ids, with commas between them`;

const deliveryDetail = z.object({
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

export const listWebhookEndpoints = endpoint('GET /webhooks/endpoints', {
  id: 'listWebhookEndpoints',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Where webhooks go, newest first',
  query: z.object({
    brand: z.string().optional().meta({ description: 'Id or domain; default: all.' }),
    after: z.string().optional().meta({ description: 'Only those that come after the one with this id.' }),
    limit: listLimit(LIST_MAX),
  }),
  unfit: wrongLimit(LIST_MAX),
  example: { query: { brand: demo.domain } },
  answer: {
    description: 'The endpoints, without their secrets.',
    body: named(
      'WebhookEndpointList',
      z.object({
        endpoints: z.array(webhookEndpointShape),
        more: z.boolean().meta({ description: 'Whether there are more: ask with `after`, the last id.' }),
      }),
    ),
  },
  refusals: ['brand_not_found', 'invalid_limit', 'webhook_endpoint_not_found'],
});

export const showWebhookEndpoint = endpoint('GET /webhooks/endpoints/{id}', {
  id: 'showWebhookEndpoint',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'One endpoint and how its deliveries stand',
  path: endpointPath,
  example: { path: endpointExample },
  answer: {
    description: 'The endpoint, without its secret.',
    body: named('WebhookEndpointDetail', webhookEndpointShape.extend({ latest })),
  },
  refusals: ['webhook_endpoint_not_found'],
});

export const addWebhookEndpoint = endpoint('POST /webhooks/endpoints', {
  id: 'addWebhookEndpoint',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Add an endpoint',
  description:
    "With `isDefault`, the brand's default endpoint gets the URL; where it has one already, no new secret is made.",
  status: 201,
  body: named(
    'NewWebhookEndpoint',
    z.object({
      brand: z
        .string({ error: 'must be the id or a domain of a brand' })
        .optional()
        .meta({ description: 'Id or domain; may be left out where there is one brand.' }),
      url: z.string({ error: URL_MUST_BE }),
      types: types().optional(),
      isDefault: z.boolean({ error: 'must be true or false' }).optional(),
    }),
  ),
  example: { body: { brand: demo.domain, url } },
  answer: {
    description: 'The endpoint, with its secret where that is new.',
    body: named('WebhookEndpointAdded', withSecret.partial({ secret: true })),
  },
  refusals: [...settingsRefusals, 'brand_not_found'],
});

export const setWebhookEndpoint = endpoint('PATCH /webhooks/endpoints/{id}', {
  id: 'setWebhookEndpoint',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Change an endpoint',
  description: 'What was held while it was off goes out only when it is recovered.',
  path: endpointPath,
  body: named(
    'WebhookEndpointSettings',
    bodyOf(
      {
        url: z.string({ error: URL_MUST_BE }).optional(),
        types: types().optional(),
        enabled: settingAs({ kind: 'switch' }, (error) =>
          z.union([z.boolean(), z.string()], { error }),
        ).optional(),
      },
      'is not one of url, types, enabled',
    ).refine((change) => Object.keys(change).length > 0, {
      path: ['url'],
      error: 'or another setting must be given: url, types, enabled',
    }),
  ),
  example: { path: endpointExample, body: { types: 'reward.distributed', enabled: 'on' } },
  answer: {
    description: 'The endpoint as it is now.',
    body: named('WebhookEndpoint', webhookEndpointShape),
  },
  refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
});

export const removeWebhookEndpoint = endpoint('DELETE /webhooks/endpoints/{id}', {
  id: 'removeWebhookEndpoint',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Remove an endpoint',
  description: 'With what was still to go there; the log of what was delivered stays.',
  path: endpointPath,
  example: { path: endpointExample },
  answer: {
    description: 'It is removed.',
    body: named('WebhookEndpointRemoved', z.object({ removed: z.string() })),
  },
  refusals: ['webhook_endpoint_not_found'],
});

export const rotateWebhookSecret = endpoint('POST /webhooks/endpoints/{id}/secrets', {
  id: 'rotateWebhookSecret',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Make a new secret',
  status: 201,
  path: endpointPath,
  body: named(
    'WebhookSecretRotation',
    z.object({ overlap: overlap('How long the previous secret signs as well: a duration, or 0.') }),
  ),
  example: { path: endpointExample, body: { overlap: '24h' } },
  answer: {
    description: 'The endpoint with its new secret.',
    body: named('WebhookEndpointWithSecret', withSecret),
  },
  refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
});

/** A time, or how long ago it was. */
function momentOf(text: string): { atMs: number } | { agoMs: number } | undefined {
  const atMs = time.parse(text);
  if (atMs !== undefined) return { atMs };
  const ago = readSingle({ kind: 'duration' }, text);
  return 'value' in ago ? { agoMs: ago.value } : undefined;
}

export const recoverWebhooks = endpoint('POST /webhooks/endpoints/{id}/recover', {
  id: 'recoverWebhooks',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Send what was missed',
  path: endpointPath,
  body: named(
    'WebhookRecovery',
    z.object({
      since: textAs('must be a time such as 2030-01-01T00:00:00Z, or a duration such as 5d', momentOf).meta({
        description: 'An RFC 3339 time, or a duration before now.',
      }),
    }),
  ),
  example: { path: endpointExample, body: { since: '5d' } },
  answer: {
    description: 'How many deliveries wait again.',
    body: named('WebhooksRecovered', z.object({ recovered: z.int() })),
  },
  refusals: [...settingsRefusals, 'webhook_endpoint_not_found'],
});

function subjectsOf(text: string): string[] | undefined {
  const subjects = text.split(',').filter((one) => one !== '');
  return subjects.length > 0 && subjects.length <= SUBJECTS_MAX ? subjects : undefined;
}

export const listDeliveries = endpoint('GET /webhooks/deliveries', {
  id: 'listDeliveries',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'What was delivered, newest first',
  query: z.object({
    brand: z.string().optional(),
    endpoint: z.string().optional(),
    state: z.enum(STATES, { error: `must be one of ${STATES.join(', ')}` }).optional(),
    type: z.enum(webhookTypes, { error: `must be one of ${webhookTypes.join(', ')}` }).optional(),
    subject: textAs(SUBJECTS_MUST_BE, subjectsOf)
      .optional()
      .meta({
        description: `Only what is about these: ids of rewards and redemptions, sessions of payments; at most ${SUBJECTS_MAX}, with commas.`,
      }),
    limit: listLimit(LIST_MAX),
  }),
  unfit: wrongLimit(LIST_MAX),
  example: { query: { state: 'failed' } },
  answer: {
    description: 'One line per event and endpoint.',
    body: named('DeliveryList', z.object({ deliveries: z.array(webhookDeliveryShape) })),
  },
  refusals: ['brand_not_found', 'invalid_limit', 'invalid_settings'],
});

export const showDelivery = endpoint('GET /webhooks/deliveries/{id}', {
  id: 'showDelivery',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'One event with each attempt',
  path: eventPath,
  example: { path: eventExample },
  answer: {
    description: 'The body as it was signed, and every attempt of the last 30 days.',
    body: named('DeliveryDetail', deliveryDetail),
  },
  refusals: ['webhook_event_not_found'],
});

const takenApart = z
  .object({
    header: z.string(),
    scheme: z.enum(['processor', 'service', 'service-timestamped', 'standard-webhooks']),
    value: z.string(),
    key: z.enum(['the text of the secret', 'the base64 after whsec_']),
    prefix: z.string().meta({ description: 'What stands before the body in what is signed.' }),
    verifies: z.boolean(),
    ageSeconds: z.int().nullable().meta({ description: 'Null where no timestamp is signed.' }),
    failed: z
      .object({
        part: z.string(),
        right: z.array(z.string()).meta({ description: 'Parts that are right in spite of it.' }),
        message: z.string(),
        fix: z.string(),
      })
      .nullable()
      .meta({ description: 'What a verifier finds wrong.' }),
  })
  .meta({ id: 'SignatureTakenApart' });

export const showSignature = endpoint('GET /webhooks/deliveries/{id}/signature', {
  id: 'showSignature',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'The signatures of an event, taken apart',
  description:
    'For each endpoint that it went to: the headers of the latest attempt, what each covers, and what a verifier with the right secret sees. Made with the secret that the endpoint has now, which is never in the answer; an attempt from before a rotation was signed with another.',
  path: eventPath,
  query: z.object({
    at: textAs('must be a time such as 2030-01-01T00:00:00Z', time.parse)
      .optional()
      .meta({ description: 'When the verifier looks, an RFC 3339 time; default: now.' }),
  }),
  example: { path: eventExample, query: { at: '2030-01-01T00:00:00Z' } },
  answer: {
    description: 'What is signed is the `prefix` of a header and then the body.',
    body: named(
      'DeliverySignatures',
      z.object({
        id: z.string(),
        body: z.string(),
        at: instant(),
        toleranceSeconds: z
          .int()
          .meta({ description: 'How far a signed timestamp may be from `at`, before and after.' }),
        endpoints: z.array(
          z
            .object({
              endpointId: z.string(),
              url: z.string(),
              signedAt: instant(),
              isOfAttempt: z
                .boolean()
                .meta({ description: 'False: as an attempt that began now would be signed.' }),
              rotates: z.boolean().meta({ description: 'The previous secret signs as well.' }),
              headers: z.record(z.string(), z.string()),
              signatures: z.array(takenApart),
            })
            .meta({ id: 'EndpointSignatures' }),
        ),
      }),
    ),
  },
  refusals: ['invalid_settings', 'webhook_event_not_found'],
});

export const replayDelivery = endpoint('POST /webhooks/deliveries/{id}/replay', {
  id: 'replayDelivery',
  onLedger: true,
  tag: 'Webhooks',
  summary: 'Send an event once more',
  description: 'Under its id and with its body, to every endpoint that it went to and that is on.',
  path: eventPath,
  body: named(
    'WebhookReplay',
    z.object({ endpoint: z.string().meta({ description: 'Only to this one.' }) }).partial(),
  ),
  unfit: () => ({ code: 'invalid_body' }),
  example: { path: eventExample, body: {} },
  answer: {
    description: 'To how many endpoints it goes.',
    body: named('WebhookReplayed', z.object({ replayed: z.int() })),
  },
  refusals: ['invalid_body', 'webhook_event_not_found'],
});

export type WebhookEndpoint = AnswerOf<typeof setWebhookEndpoint>;
export type WebhookEndpointDetail = AnswerOf<typeof showWebhookEndpoint>;
/** With the secret where it is new. */
export type AddedEndpoint = AnswerOf<typeof addWebhookEndpoint>;
export type WebhookDelivery = AnswerOf<typeof listDeliveries>['deliveries'][number];
export type DeliverySignatures = AnswerOf<typeof showSignature>;
export type DeliveryDetail = AnswerOf<typeof showDelivery>;

export const webhookEndpoints = [
  listWebhookEndpoints,
  showWebhookEndpoint,
  addWebhookEndpoint,
  setWebhookEndpoint,
  removeWebhookEndpoint,
  rotateWebhookSecret,
  recoverWebhooks,
  listDeliveries,
  showDelivery,
  showSignature,
  replayDelivery,
];
