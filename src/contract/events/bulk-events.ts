/** POST bulk-events (contract: Endpoints). Its items are checked one by one, so that a bad one does not spoil the others. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, rewardExample } from '../examples.ts';
import { count } from '../shapes.ts';
import { refusalDetails } from '../shared-refusals.ts';
import { rewardResult } from './manual-event.ts';
import { type EventsRefusalCode, eventsRefusals, withBody } from './refusals.ts';
import { describedSubmission } from './submission.ts';

/** Room for more than a body of 10 KB can hold; it bounds the work of one request. */
export const BULK_EVENTS_MAX = 100;

const bulkEventsOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    events: z
      .array(item)
      .min(1)
      .max(BULK_EVENTS_MAX)
      .meta({ description: 'Each is decided on its own, in this order.' }),
  });

export const bulkEventsBody = bulkEventsOf(z.unknown());

const bulkResult = z.object({
  success: z.literal(true),
  processed: count().meta({ description: 'Events that were rewarded.' }),
  failed: count().meta({ description: 'Events that were refused.' }),
  results: z
    .array(
      z.union([
        rewardResult.extend({ statusCode: z.literal(200) }).meta({ id: 'BulkRewarded' }),
        z
          .object({
            success: z.literal(false),
            status: z.string().meta({ description: 'The code of the refusal.' }),
            statusCode: z.int().meta({ description: 'The status that `manual-event` would have answered.' }),
            error: z.string(),
            message: z.string(),
            details: refusalDetails,
          })
          .meta({ id: 'BulkRefused' }),
      ]),
    )
    .meta({ description: 'One for each event, in their order.' }),
});

const { brandId, domain, user: userEmail } = demo;
const event = { brandId, userEmail, domain };

export const bulkEventsEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'bulkEvents',
  tag: 'Events',
  method: 'post',
  path: '/bulk-events',
  prefixed: true,
  summary: 'Send several customer events',
  description:
    'Each event is decided as if it had been sent alone; what `manual-event` would have answered stands in `results`, also of one that is no event: it is refused by itself. The body as a whole keeps to the limit of a body.',
  key: { scheme: 'brandKey', required: false },
  body: named('BulkEvents', bulkEventsOf(describedSubmission)),
  examples: [
    {
      summary: 'Two events of one user',
      body: {
        events: [
          { ...event, eventType: 'newsletter_subscribe' },
          { ...event, eventType: 'custom_unknown' },
        ],
      },
    },
  ],
  answers: {
    200: {
      description: 'Every event is decided.',
      body: named('BulkResult', bulkResult),
      example: {
        success: true,
        processed: 1,
        failed: 1,
        results: [
          { ...rewardExample, statusCode: 200 },
          {
            ...Object(eventsRefusals.documented('event_not_found').body),
            status: 'event_not_found',
            statusCode: 400,
          },
        ],
      },
    },
  },
  refusals: [...withBody, 'invalid_event_data'],
};
