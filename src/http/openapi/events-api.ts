/** The description of the event handler host: every operation with its bodies, answers and refusals. */
import { bulkEventsOf } from '../../contract/events/bulk-events.ts';
import { manualEventBody } from '../../contract/events/manual-event.ts';
import * as replies from '../../contract/events/replies.ts';
import { userBalanceQuestion } from '../../contract/events/user-balance.ts';
import { verifyDnsBody } from '../../contract/events/verify-dns.ts';
import { idempotencyKeyField } from '../../contract/idempotency-key.ts';
import { type ApiDocument, apiDocument } from './document.ts';
import { eventsOperations } from './events-operations.ts';
import { commonHostHeaders, descriptionSchema, hostHeaders } from './own-description.ts';
import { type RefusalCode, refusalEntry, refusalExamples } from './refusal-examples.ts';
import { serviceOperations } from './service-operations.ts';

export interface EventsApiSettings {
  /** What the paths are appended to; `/` for a document that the service itself serves. */
  serverUrl: string;
  apiPrefix: string;
  bodyLimitBytes: number;
}

/** Contract: Versioning. */
const API_VERSION = '2.0';

const submission = manualEventBody
  .extend({
    idempotencyKey: idempotencyKeyField
      .optional()
      .meta({ description: 'In place of the header Idempotency-Key; with `manual-event` only.' }),
  })
  .meta({
    description: 'One customer event.',
    anyOf: [{ required: ['userEmail'] }, { required: ['userIdentifier'] }],
  });

const text = (description: string) => ({ description, schema: { type: 'string' } });

export function eventsApi({ serverUrl, apiPrefix, bodyLimitBytes }: EventsApiSettings): ApiDocument {
  return apiDocument({
    title: 'Rewards: event handler',
    version: API_VERSION,
    serverUrl,
    description: [
      "Takes customer events of brands, checks them against the brand's rules, and pays reward tokens (RWT) on chain to the user's wallet, which is created when the user has none.",
      `Bodies are JSON of at most ${bodyLimitBytes / 1024} KB. In texts, control characters are removed, and an optional field that is null or empty counts as not sent.`,
      "Every path answers OPTIONS. A page may read answers when its origin is one of the brands' domains, a subdomain of one, or the service's own; `Access-Control-Allow-Origin` then names exactly that origin.",
    ].join('\n\n'),
    tags: [
      { name: 'Events', description: 'Sending customer events, and what pages need to know to notice them.' },
      { name: 'Users', description: 'What a user holds and has earned.' },
      { name: 'Brands', description: "Proving that a domain is a brand's." },
      { name: 'Service', description: 'How the service is doing, and its own description.' },
    ],
    operations: [...eventsOperations(apiPrefix), ...serviceOperations(apiPrefix)],
    schemas: {
      EventSubmission: submission,
      BulkEvents: bulkEventsOf(submission),
      BalanceQuestion: userBalanceQuestion,
      VerifyDns: verifyDnsBody,
      RewardResult: replies.rewardResult,
      BulkResult: replies.bulkResult,
      EventConfig: replies.eventConfigResult,
      Balance: replies.balanceResult,
      DnsResult: replies.verifyDnsResult,
      Health: replies.healthResult,
      Diagnostic: replies.diagnosticResult,
      Debug: replies.debugResult,
      Document: descriptionSchema,
      Refusal: replies.refusalBody,
    },
    refusalSchema: 'Refusal',
    refusals: Object.fromEntries(
      Object.keys(refusalExamples).map((code) => [code, refusalEntry(code as RefusalCode)]),
    ),
    headers: {
      ...hostHeaders,
      ETag: text('Names this state of the answer; send it back as `If-None-Match`.'),
      'Cache-Control': text('How long the answer may be kept.'),
    },
    commonHeaders: commonHostHeaders,
    securitySchemes: {
      brandKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          "A key of the brand, for its own servers: with it the domain rule is skipped, and the event's source and `skip_cooldown` are believed. Never put it into a page.",
      },
    },
  });
}
