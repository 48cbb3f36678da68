/** What was rewarded over time, as the ledger has it. */
import { z } from 'zod';
import { historyRanges } from '../../lib/history-range.ts';
import { boardMetrics } from '../../rules/engagement/rank-tree.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant } from './fields.ts';

const bucket = z
  .object({
    from: instant(),
    rewards: z.int().meta({ description: 'How many were granted and have not failed.' }),
    rwt: z.int().meta({ description: 'RWT of them.' }),
  })
  .meta({ id: 'HistoryBucket' });

const historyResult = z.object({
  range: z.enum(historyRanges),
  brandId: z.string().nullable().meta({ description: 'Null: of all brands.' }),
  from: instant(),
  to: instant().meta({ description: 'The end of the last bucket, which holds the present moment.' }),
  bucketSeconds: z.int(),
  buckets: z
    .array(bucket)
    .meta({ description: 'All of one length, the oldest first; those without a reward are among them.' }),
  totals: z.object({ rewards: z.int(), rwt: z.int() }).meta({ description: 'Of all buckets.' }),
  countedFrom: instant().nullable().meta({
    description:
      'Null: every reward of the range is counted. Otherwise the range has more than are looked at, and those before this moment are missing.',
  }),
});

export const showHistory = endpoint('GET /history', {
  id: 'showHistory',
  onLedger: true,
  tag: 'Overview',
  summary: 'What was rewarded over time',
  description:
    'Rewards and RWT of the last hour (by the minute), day (by half hours), week (by three hours) or month of 30 days (by the day), by the clock of the stack and in UTC. Looks at the newest 50,000 rewards at most. Refusals are not in it: the ledger does not keep them.',
  query: z.object({
    range: z.enum(historyRanges).default('day').meta({ description: 'How far back.' }),
    brand: z
      .string()
      .optional()
      .meta({ description: 'Only what this brand rewards: its id, or one of its domains.' }),
  }),
  example: { query: { range: 'day', brand: demo.domain } },
  answer: { description: 'The history.', body: named('History', historyResult) },
  refusals: ['invalid_settings', 'brand_not_found'],
});

export type History = AnswerOf<typeof showHistory>;

const BOARD_PERIODS = ['week', 'month'] as const;
const USERS_MAX = 20;

export const showBoardHistory = endpoint('GET /brands/{name}/boards', {
  id: 'showBoardHistory',
  onLedger: true,
  tag: 'Brands',
  summary: 'Who leads its leaderboard, and what they had before',
  description: 'Of the boards of all platforms that still have their scores: nine weeks, or three months.',
  path: z.object({ name: z.string() }),
  query: z.object({
    period: z.enum(BOARD_PERIODS, { error: `must be one of ${BOARD_PERIODS.join(', ')}` }).default('week'),
    metric: z
      .enum(boardMetrics, { error: `must be one of ${boardMetrics.join(', ')}` })
      .default('rwt_earned'),
    users: z.int().min(1).max(USERS_MAX).default(4).meta({ description: 'How many of those who lead.' }),
  }),
  example: { path: { name: demo.domain } },
  answer: {
    description: 'The boards and their users.',
    body: named(
      'BoardHistory',
      z.object({
        period: z.enum(BOARD_PERIODS),
        metric: z.enum(boardMetrics),
        boards: z.array(z.object({ startsAt: instant() })).meta({ description: 'The oldest first.' }),
        users: z
          .array(
            z.object({
              user: z.string(),
              values: z
                .array(z.number())
                .meta({ description: 'On each board; 0 where the user was not on it.' }),
            }),
          )
          .meta({ description: 'Whoever leads the newest board first.' }),
      }),
    ),
  },
  refusals: ['brand_not_found', 'invalid_settings'],
});
export type BoardHistory = AnswerOf<typeof showBoardHistory>;
