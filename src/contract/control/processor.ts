/** What the control API shows of the emulated processor, and takes for it. */
import { z } from 'zod';
import { PADDED_DURATION_FORM } from '../../lib/duration.ts';

const instant = () => z.iso.datetime();
const text = () => z.string().nullable();
const yesNo = () => z.boolean({ error: 'must be true or false' });
/** Postgres keeps no NUL. */
const hasNoNul = (value: string) => !value.includes('\0');
const NUL_PROBLEM = { error: 'must not have a NUL character' };
const textOf = (most: number) =>
  z
    .string({ error: 'must be a text' })
    .min(1, { error: 'must not be empty' })
    .max(most, { error: `must have at most ${most} characters` })
    .refine(hasNoNul, NUL_PROBLEM);
const duration = () =>
  z
    .string({ error: 'must be a duration such as 30s' })
    .regex(PADDED_DURATION_FORM, { error: 'must be a duration such as 30s' });
const count = () => z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' });

export const processorSession = z.object({
  id: z.string(),
  status: z.string().meta({ description: '`open`, `complete` or `expired`.' }),
  paymentStatus: z.string().meta({ description: '`unpaid`, `paid` or `no_payment_required`.' }),
  amount: z.int().meta({ description: "In the currency's smallest unit." }),
  currency: z.string(),
  email: text(),
  checkoutId: text().meta({
    description: 'The `client_reference_id`: the id of the one that made the session.',
  }),
  paymentIntentId: text(),
  refunded: z.int().meta({ description: 'What has gone back.' }),
  disputed: z.boolean(),
  url: text().meta({ description: 'The page on which it is paid; null when nothing can be paid any more.' }),
  metadata: z.record(z.string(), z.string()),
  createdAt: instant(),
  expiresAt: instant(),
});
export const processorSessions = z.object({ sessions: z.array(processorSession) });

const attempt = z.object({
  at: instant(),
  status: z.int().nullable().meta({ description: 'Null without an answer.' }),
  answer: z.string().meta({ description: 'The beginning of the body, or why there was no answer.' }),
  durationMs: z.int(),
});
const delivery = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  createdAt: instant(),
  nextAt: instant().nullable().meta({ description: 'When it is tried next; null when it will not be.' }),
  attempts: z.array(attempt),
});
export const processorDeliveries = z.object({ deliveries: z.array(delivery) });

const event = z.object({
  id: z.string(),
  type: z.string(),
  objectId: z
    .string()
    .meta({ description: 'Of what it is about: a session, a payment, a charge, a dispute.' }),
  createdAt: instant(),
  deliveries: z.array(delivery),
});
export const processorEvents = z.object({ events: z.array(event) });
export const processorEvent = event.extend({
  payload: z.record(z.string(), z.unknown()).meta({ description: 'As endpoints get it.' }),
});

const listLimit = () => z.int().min(1).max(500).default(50);
export const sessionsQuery = z
  .object({ status: z.enum(['open', 'complete', 'expired']), limit: listLimit() })
  .partial();
export const eventsQuery = z
  .object({
    type: z.string(),
    object: z.string().meta({ description: 'Only events about this session, payment, charge or dispute.' }),
    limit: listLimit(),
  })
  .partial();
export const deliveriesQuery = z
  .object({
    event: z.string(),
    endpoint: z.string(),
    state: z.enum(['waiting', 'delivered', 'failed']),
    limit: listLimit(),
  })
  .partial();

const webhook = yesNo()
  .optional()
  .meta({ description: 'False: recorded, but told to no endpoint. Default: true.' });
export const sessionPath = z.object({
  session: z.string().meta({
    description: "The session's id, the id of the checkout that made it, or `latest`.",
  }),
});
export const paymentWish = z.strictObject({
  later: yesNo()
    .optional()
    .meta({ description: 'Arrives later, like a bank debit: complete, but unpaid until then.' }),
  delay: duration()
    .optional()
    .meta({ description: 'How much later. Default: 1m, on the clock of the emulator.' }),
  fails: textOf(64)
    .optional()
    .meta({ description: 'Of one that arrives later: it fails then, with this code.' }),
  email: textOf(254).optional().meta({ description: "The buyer's, where the session names none." }),
  webhook,
});
export const declineWish = z.strictObject({
  code: textOf(64).optional().meta({ description: 'The decline code. Default: `generic_decline`.' }),
  webhook,
});
export const expiryWish = z.strictObject({ webhook });
export const refundWish = z.strictObject({
  amount: count()
    .optional()
    .meta({ description: "In the currency's smallest unit. Default: all that is left." }),
  reason: z
    .enum(['duplicate', 'fraudulent', 'requested_by_customer'], {
      error: 'must be duplicate, fraudulent or requested_by_customer',
    })
    .optional(),
  webhook,
});
export const disputeWish = z.strictObject({
  reason: textOf(64).optional().meta({ description: 'Default: `fraudulent`.' }),
  webhook,
});

export const endpointWish = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http address' }).refine(hasNoNul, NUL_PROBLEM),
  events: z
    .array(z.string(), { error: 'must be a list of event types' })
    .optional()
    .meta({ description: 'Types of events, or `*`. Default: all.' }),
  secret: textOf(255)
    .optional()
    .meta({ description: 'What its signatures are made with. Default: a new one.' }),
});
export const processorEndpoint = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  secret: z.string(),
  own: z.boolean().meta({ description: 'The payment-mint of this stack.' }),
});
export const processorEndpoints = z.object({ endpoints: z.array(processorEndpoint) });
export const endpointRemoved = z.object({ removed: z.string() });
export const resendWish = z.strictObject({
  endpoint: textOf(64).optional().meta({ description: 'Id of one endpoint. Default: all.' }),
});
