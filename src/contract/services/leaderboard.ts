/** GET leaderboard: who of a brand's users did most in a day, a week, a month or ever, and the caller's own place. */
import { z } from 'zod';
import { type BoardPeriod, boardPeriodNames, boardPeriods } from '../../rules/engagement/board-window.ts';
import { type BoardMetric, boardMetricNames, boardMetrics } from '../../rules/engagement/rank-tree.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { brandIdField, count } from '../shapes.ts';
import { ofQuestion, type ServicesRefusalCode } from './refusals.ts';
import { platformField, userFields } from './user.ts';

const LIMIT_DEFAULT = 10;
/** What a page shows; each entry's place in the window before is looked up. */
const LIMIT_MAX = 100;
const LIMIT_MUST_BE = `must be a number from 1 to ${LIMIT_MAX}`;
const METRIC_MUST_BE = `must be one of ${Object.keys(boardMetricNames).join(', ')}`;
const PERIOD_MUST_BE = `must be one of ${Object.keys(boardPeriodNames).join(', ')}`;

const inQuery = {
  metric: z
    .enum(Object.keys(boardMetricNames) as [string, ...string[]], { error: METRIC_MUST_BE })
    .meta({ id: 'LeaderboardMetricName' })
    .default('rwt_earned')
    .transform((name): BoardMetric => boardMetricNames[name] ?? 'rwt_earned')
    .meta({
      description:
        'What is compared. `streak`: the longest streak that was reached in the period; `events_completed` means the same as `claims`.',
    }),
  period: z
    .enum(Object.keys(boardPeriodNames) as [string, ...string[]], { error: PERIOD_MUST_BE })
    .meta({ id: 'LeaderboardPeriodName' })
    .default('week')
    .transform((name): BoardPeriod => boardPeriodNames[name] ?? 'week')
    .meta({
      description:
        "Of the brand's time zone; weeks begin on Monday. `daily`, `weekly`, `monthly` and `all_time` mean the same as `day`, `week`, `month` and `all`.",
    }),
  platform: platformField.meta({ description: 'Counts only what was done there; all platforms without it.' }),
  limit: z.coerce
    .number({ error: LIMIT_MUST_BE })
    .int({ error: LIMIT_MUST_BE })
    .min(1, { error: LIMIT_MUST_BE })
    .max(LIMIT_MAX, { error: LIMIT_MUST_BE })
    .default(LIMIT_DEFAULT)
    .meta({ description: 'How many users.' }),
  userIdentifier: userFields.userIdentifier.optional().meta({
    description: 'The user whose own place is wanted, as `userRank` and `userEntry`.',
  }),
};
export const leaderboardQuestion = z.object({ brandId: brandIdField, ...inQuery });

const entry = z
  .object({
    rank: z.int().min(1).meta({ description: 'From 1; users with equal values have equal ranks.' }),
    userIdentifier: z.string().meta({
      description: "The user's e-mail or address; masked where the brand says so (`leaderboardUsers`).",
    }),
    userId: z.string().meta({ description: 'The same.' }),
    username: z.string().meta({ description: 'The same as `displayName`.' }),
    displayName: z.string().meta({ description: 'As reported last, or what stands before the @.' }),
    platform: z.string(),
    value: count(),
    formattedValue: z.string().meta({ description: 'The value with its unit.' }),
    change: z.int().meta({
      description:
        'Places gained since the period before. 0 for `all`, and for a user who was not on the board of that period.',
    }),
  })
  .meta({ id: 'LeaderboardEntry' });

export const leaderboardResult = z.object({
  success: z.literal(true),
  leaderboard: z.array(entry),
  rankings: z.array(entry).meta({ description: 'The same as `leaderboard`.' }),
  metric: z.enum(boardMetrics).meta({ id: 'LeaderboardMetric' }),
  period: z.enum(boardPeriods).meta({ id: 'LeaderboardPeriod' }),
  platform: z.string().nullable().meta({ description: 'Null: all platforms.' }),
  total: count().meta({ description: 'Users on the board.' }),
  updatedAt: z.int().meta({ description: 'Milliseconds since 1970.' }),
  userRank: z.int().nullable().meta({
    description: 'The rank of `userIdentifier`; null without one, or when the user is not on the board.',
  }),
  userEntry: entry.nullable().meta({ description: 'The whole entry of `userIdentifier`.' }),
});
export type LeaderboardResult = z.output<typeof leaderboardResult>;

const alice = {
  rank: 1,
  userIdentifier: demo.user,
  userId: demo.user,
  username: 'alice',
  displayName: 'alice',
  platform: 'web',
  value: 1_250,
  formattedValue: '1,250 RWT',
  change: 2,
};

export const leaderboardEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'leaderboard',
  tag: 'Leaderboards',
  method: 'get',
  path: '/leaderboard/{brandId}',
  key: { scheme: 'brandKey', required: false },
  summary: 'Who did most',
  description:
    'A reward counts from the block that pays it, in the period in which it was accepted. Nothing else of another period counts.',
  parameters: [
    { in: 'path', schema: z.object({ brandId: brandIdField }) },
    { in: 'query', schema: z.object(inQuery) },
  ],
  examples: [
    {
      summary: 'The week, with the place of one user',
      path: { brandId: demo.brandId },
      query: { metric: 'rwt_earned', period: 'week', limit: '10', userIdentifier: demo.user },
    },
  ],
  answers: {
    200: {
      description: 'The board.',
      body: named('LeaderboardResult', leaderboardResult),
      example: {
        success: true,
        leaderboard: [alice],
        rankings: [alice],
        metric: 'rwt_earned',
        period: 'week',
        platform: null,
        total: 1,
        updatedAt: 1_795_348_800_000,
        userRank: 1,
        userEntry: alice,
      },
    },
  },
  refusals: ofQuestion,
};
