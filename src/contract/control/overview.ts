/** What happens now, and what needs a look: one answer for views that are looked at all day. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { spending } from './brands.ts';
import { clockResult } from './clock.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant } from './fields.ts';

const count = (description: string) => z.int().meta({ description });

const waiting = z.object({
  count: z.int(),
  oldestMs: z
    .int()
    .nullable()
    .meta({ description: 'For how long the oldest has waited, or has been due; null when nothing waits.' }),
});

const lane = z.object({
  address: z.string(),
  purpose: z.enum(['payout', 'mint', 'relay', 'redeem', 'setup']),
  inFlight: count('Transactions that no block is known to hold.'),
  notFinal: count('Transactions whose block may still change, or that have none.'),
  holder: z.string().nullable().meta({ description: 'Who sends from it; null when no process holds it.' }),
  leaseMs: z.int().nullable().meta({ description: 'For how much longer; null when no process holds it.' }),
});

const budget = z.object({
  brandId: z.string(),
  name: z.string(),
  deposited: count('RWT in escrow, before what is promised.'),
  promised: count('RWT of its rewards, paid or not.'),
  available: count('RWT that it may still promise.'),
  spending: spending(),
});

const alarm = z.object({
  code: z.string(),
  about: z.string().meta({ description: 'Such as the address of an account.' }),
  since: instant(),
  facts: z.record(z.string(), z.unknown()),
  remedy: z.string().meta({ description: 'What to do about it.' }),
});

const requestLog = z.object({
  requests: count('Requests since the start.'),
  refused: count('Those answered with 4xx.'),
  failed: count('Those answered with 5xx.'),
  perSecond: z.number().meta({ description: 'Over the last five seconds.' }),
  decisions: z
    .record(z.string(), z.int())
    .meta({ description: 'What was decided about events and calls, by code.' }),
});

const overviewResult = z.object({
  clock: clockResult,
  waiting: z
    .object({ payouts: waiting, mints: waiting, relays: waiting, perks: waiting, webhooks: waiting })
    .meta({ description: 'What no transaction carries yet, and webhooks for their first or next attempt.' }),
  lanes: z.array(lane).meta({ description: 'The busiest first.' }),
  lanesMore: count('How many more there are than are listed.'),
  brands: z.array(budget).meta({ description: 'Those with the least left first.' }),
  brandsMore: count('How many more there are than are listed.'),
  totals: z.object({
    rewards: count('Rewards granted.'),
    rwtRewarded: count('RWT of all rewards, paid or on their way.'),
    rwtDeposited: count('RWT that brands have put into escrow.'),
  }),
  alarms: z
    .array(alarm)
    .nullable()
    .meta({ description: 'Null where only the ledger was asked: a running service knows them.' }),
  log: requestLog.nullable().meta({ description: 'Null where only the ledger was asked.' }),
});

export const showOverview = endpoint('GET /overview', {
  id: 'showOverview',
  onLedger: true,
  tag: 'Overview',
  summary: 'What happens now, and what needs a look',
  description: 'Cheap enough to be asked every second.',
  answer: { description: 'The overview.', body: named('Overview', overviewResult) },
});

export type Overview = AnswerOf<typeof showOverview>;
