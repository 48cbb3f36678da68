/** Looking back on requests: which there were, and why each was decided as it was. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { rewardState } from '../shapes.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant, listLimit } from './fields.ts';

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
    .array(
      z.object({
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
          description:
            'Where the reward is now, by the ledger. Its transaction may be another than in the answer.',
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
      }),
    )
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

export type RequestSummary = AnswerOf<typeof listRequests>['requests'][number];
export type RequestDetail = AnswerOf<typeof showRequest>;
export type ExplainedEvent = RequestDetail['explained'][number];
export type CheckBody = ExplainedEvent['checks'][number];
/** Which requests are wanted; every part narrows the choice. */
export type RequestFilter = z.input<typeof requestsQuery>;
