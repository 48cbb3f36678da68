/** Looking back on requests: which there were, and why each was decided as it was. */
import { z } from 'zod';
import { instant as time } from '../../lib/setting.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { textAs } from '../settings-schema.ts';
import { rewardState } from '../shapes.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, instant, listLimit } from './fields.ts';

const name = () => z.string().nullable();

/** The hosts of the service, by the names under which their requests are recorded. */
export const requestHosts = ['events', 'register', 'services', 'relay'] as const;
export type RequestHost = (typeof requestHosts)[number];
const requestHost = z.enum(requestHosts).meta({ description: 'Which host answered.' });

const requestsQuery = z.object({
  status: z
    .string()
    .regex(/^[1-5](xx|\d\d)$/)
    .optional()
    .meta({ description: '`429` or `4xx`.' }),
  method: z.string().optional(),
  path: z.string().optional().meta({ description: 'A part of the path.' }),
  user: z.string().optional().meta({ description: 'E-mail or address of the user of an event or a call.' }),
  host: requestHost.optional(),
  brand: z.string().optional().meta({ description: 'Id of the brand of an event, or that pays for a call.' }),
  decision: z
    .string()
    .optional()
    .meta({ description: '`rewarded`, `confirmed`, or the code of the refusal.' }),
  after: z.string().optional().meta({ description: 'Only requests newer than the one with this id.' }),
  limit: listLimit(500),
});

const requestSummary = z.object({
  id: z.string(),
  at: instant(),
  host: requestHost.nullable().meta({ description: 'Null for requests that an earlier version recorded.' }),
  method: z.string(),
  path: z.string(),
  search: z.string(),
  status: z.int(),
  durationMs: z.int(),
  decision: name().meta({
    description:
      '`rewarded` for an event, `confirmed` for a relayed call, or the code of the refusal; null without either.',
  }),
  user: name(),
  eventType: name(),
  call: name().meta({ description: 'The function of a relayed call.' }),
  brandId: name(),
  passesAt: instant().nullable().meta({ description: 'When the check that refused would pass.' }),
  rewardAmount: z.int().nullable(),
  transactionHash: name(),
  error: name(),
  events: z.int(),
  rewarded: z.int(),
});

const requestList = z.object({ requests: z.array(requestSummary) });

const explainedEvent = z.object({
  kind: z.enum(['event', 'relay']),
  eventType: name(),
  call: name(),
  user: name(),
  aliasOf: name().meta({
    description:
      'The user whose alias the event named; null where it named the user, or was refused before that was looked up.',
  }),
  eventId: name().meta({ description: 'Of the reward; null when the event was refused.' }),
  reward: rewardState.nullable().meta({
    description: 'Where the reward is now, by the ledger. Its transaction may be another than in the answer.',
  }),
  checks: z.array(
    z.object({
      name: z.string(),
      outcome: z.enum(['ok', 'refused', 'skipped', 'not reached']),
      text: z.string(),
      passesAt: instant().nullable().optional(),
      or: z.string().optional().meta({ description: 'What else would let it pass.' }),
    }),
  ),
  passesAt: instant().nullable().meta({ description: 'When the whole event would pass.' }),
  never: z.object({ check: z.string(), text: z.string() }).nullable(),
});

const requestDetail = requestSummary.extend({
  now: instant(),
  origin: name(),
  credential: z.enum(['key', 'token', 'signature', 'password', 'cookie']).nullable().meta({
    description: 'What the caller proved themselves with; its value is not kept.',
  }),
  requestHeaders: z.record(z.string(), z.string()).meta({
    description: 'The headers that change what a request does. Credentials and cookies are never kept.',
  }),
  responseHeaders: z.record(z.string(), z.string()),
  requestBodyKept: z.enum(['whole', 'none', 'cut', 'redacted', 'refused', 'not kept']).meta({
    description:
      '`none`: it had none. `cut`: it was too long. `redacted`: without the secrets in it. `refused`: it was no body of this endpoint.',
  }),
  requestBody: name(),
  responseBody: name(),
  withBrandKey: z.boolean(),
  explained: z
    .array(explainedEvent)
    .meta({ description: 'Each event of the request, or its relayed call, with its checks in their order.' }),
});

export const listRequests = endpoint('GET /requests', {
  id: 'listRequests',
  tag: 'Requests',
  summary: 'The last requests, newest first',
  query: requestsQuery,
  unfit: () => ({ code: 'invalid_filter' }),
  onLedger: true,
  example: { query: { status: '4xx', limit: '10' } },
  answer: { description: 'One line per request.', body: named('RequestList', requestList) },
  refusals: ['invalid_filter'],
});

export const showRequest = endpoint('GET /requests/{id}', {
  id: 'showRequest',
  tag: 'Requests',
  summary: 'One request with both bodies, and why it was decided as it was',
  onLedger: true,
  path: z.object({
    id: z.string().meta({ description: 'The X-Request-Id, or its beginning.' }),
  }),
  example: { path: { id: 'req_661c136a55acc3b5ccc8' } },
  answer: { description: 'The request.', body: named('RequestDetail', requestDetail) },
  refusals: ['request_not_found', 'request_ambiguous'],
});

const totals = z.record(z.string(), z.number());

const replayed = z.object({
  id: name().meta({ description: 'Of the request that was sent now; null without an answer.' }),
  status: z.int().nullable(),
  reason: name().meta({ description: "The refusal's reason, or why there is no answer." }),
  durationMs: z.int(),
  differences: z
    .array(z.object({ path: z.string(), a: z.unknown().optional(), b: z.unknown().optional() }))
    .meta({
      description: 'Where it was sent, answered or decided otherwise than the first one, field by field.',
    }),
  effects: totals.meta({ description: 'What came of it: rewards, mints, calls, webhooks and so on.' }),
});

export const replayRequest = endpoint('POST /requests/{id}/replay', {
  id: 'replayRequest',
  tag: 'Requests',
  summary: 'Send a kept request again, and compare what that brings about',
  description:
    "With the brand's key, or with a new token of its user. Counted once nothing has changed for half a second; what other callers do meanwhile counts as well.",
  path: z.object({ id: z.string().meta({ description: 'The X-Request-Id, or its beginning.' }) }),
  body: named(
    'ReplayWish',
    z.strictObject({
      newId: z
        .boolean()
        .optional()
        .meta({ description: 'With an idempotency key of its own, in place of the same one again.' }),
    }),
  ),
  bodyOptional: true,
  unfit: () => ({ code: 'invalid_body' }),
  example: { path: { id: 'req_661c136a55acc3b5ccc8' }, body: { newId: true } },
  answer: { description: 'The answer, compared.', body: named('Replayed', replayed) },
  refusals: ['request_not_found', 'request_ambiguous', 'not_replayable', 'invalid_body'],
  // What is sent is a request of its own, which `undo` takes back.
  undo: 'passes',
});

const eventAsSent = z.record(z.string(), z.unknown()).meta({
  description:
    "The event as `POST /manual-event` takes it. Without a brand it is of the stack's first, and without a domain of the brand's.",
});
const withKey = z.boolean().optional().meta({ description: "With the brand's API key." });
const eventExample = { eventType: 'account_creation', userEmail: demo.user };

export const dryRunEvent = endpoint('POST /events/dry-run', {
  id: 'dryRunEvent',
  undo: 'passes',
  tag: 'Requests',
  summary: 'How an event would be decided, without effect',
  description:
    'By the very rules, limits and budgets of events, as the ledger has them now. Nothing is written or paid.',
  body: named(
    'EventToJudge',
    bodyOf({
      event: eventAsSent,
      withKey,
      at: textAs('must be a time such as 2030-01-01T00:00:00Z', time.parse)
        .optional()
        .meta({ description: 'As if the clock stood there, with all else as it is; not before now.' }),
    }),
  ),
  example: { body: { event: eventExample } },
  answer: {
    description: 'The decision, and each check.',
    body: named(
      'EventOutlook',
      z.object({
        at: instant().meta({ description: 'The time that it was judged for.' }),
        decision: z.string().meta({ description: '`rewarded`, or the code of the refusal.' }),
        rewardAmount: z.int().nullable().meta({ description: 'RWT; null where it would be refused.' }),
        explained: explainedEvent,
      }),
    ),
  },
  refusals: ['invalid_body', 'invalid_settings'],
});

const sentEvent = z.object({
  id: z.string().meta({ description: 'Of its request, which `GET /requests/{id}` explains.' }),
  status: z.int().nullable(),
  reason: name().meta({ description: "The refusal's reason; null when it was rewarded." }),
  durationMs: z.int(),
});

export const sendEvent = endpoint('POST /requests', {
  id: 'sendEvent',
  tag: 'Requests',
  summary: 'Send a customer event, as a page or a server of the brand would',
  body: named(
    'EventToSend',
    z.strictObject({
      event: eventAsSent,
      withKey,
    }),
  ),
  unfit: () => ({ code: 'invalid_body' }),
  example: { body: { event: eventExample } },
  answer: { description: 'How it was answered.', body: named('SentEvent', sentEvent) },
  refusals: ['not_sent', 'invalid_body'],
  // What is sent is a request of its own, which `undo` takes back.
  undo: 'passes',
});

export type Replayed = AnswerOf<typeof replayRequest>;
export type EventOutlook = AnswerOf<typeof dryRunEvent>;
export type SentEvent = AnswerOf<typeof sendEvent>;
export type RequestSummary = AnswerOf<typeof listRequests>['requests'][number];
export type RequestDetail = AnswerOf<typeof showRequest>;
export type ExplainedEvent = RequestDetail['explained'][number];
export type CheckBody = ExplainedEvent['checks'][number];
/** Which requests are wanted; every part narrows the choice. */
export type RequestFilter = z.input<typeof requestsQuery>;
