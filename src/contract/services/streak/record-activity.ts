/** POST streak/record-activity: a user was active today. */
import { z } from 'zod';
import { type Endpoint, named } from '../../endpoint.ts';
import { demo, example } from '../../examples.ts';
import { count, OBJECT_PROBLEM, rwt } from '../../shapes.ts';
import { ofWrite, type ServicesRefusalCode } from '../refusals.ts';
import { userFields } from '../user.ts';
import {
  exampleStanding,
  milestone,
  paidShape,
  placeFields,
  standingShape,
  streakTypeField,
} from './fields.ts';

export const recordActivityQuestion = z.object(
  { ...userFields, streakType: streakTypeField, ...placeFields },
  { error: OBJECT_PROBLEM },
);

export const recordActivityResult = z.object({
  success: z.literal(true),
  isNewActivity: z
    .boolean()
    .meta({ description: 'False where the user was active on this day before: nothing was changed.' }),
  wasNew: z.boolean().meta({ description: 'The same.' }),
  previousStreak: count().meta({
    description: 'Days before this activity, also of a streak that had ended.',
  }),
  ...standingShape,
  totalStreakDays: count().meta({ description: 'Days with an activity, in a row or not.' }),
  message: z.string(),
  streak: z
    .object({
      current: count(),
      longest: count(),
      multiplier: z.number(),
      graceUsed: z.boolean().meta({ description: 'A day was missed, and the grace kept the streak.' }),
    })
    .meta({ id: 'StreakFacts' }),
  reward: z
    .object({
      base: rwt().meta({ description: 'RWT of a check-in before the multiplier.' }),
      final: rwt().meta({
        description: 'RWT of this check-in: floor(base × multiplier); 0 where nothing was changed.',
      }),
      milestone: milestone.optional().meta({ description: 'Reached with this activity.' }),
      ...paidShape,
    })
    .meta({ id: 'CheckInReward' }),
});
export type RecordActivityResult = z.output<typeof recordActivityResult>;

const { brandId, user: userIdentifier } = demo;

export const recordActivityEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'recordActivity',
  tag: 'Streaks',
  method: 'post',
  path: '/streak/record-activity',
  summary: 'A user was active today',
  description:
    "Counts once for each calendar day of the brand's time zone (`timeZone`), and pays the check-in where the brand has turned that on (`streakPays`: `off`, `service` or `event`). What pays is admitted as an event would be: by its domain, or with the brand's key.",
  key: { scheme: 'brandKey', required: false },
  body: named('ActivityReport', recordActivityQuestion),
  examples: [
    {
      summary: "Today's check-in",
      body: { brandId, userIdentifier, platform: 'web', streakType: 'daily' },
    },
  ],
  answers: {
    200: {
      description: 'The streak with the activity.',
      body: named('RecordedActivity', recordActivityResult),
      example: {
        success: true,
        isNewActivity: true,
        wasNew: true,
        previousStreak: 6,
        ...exampleStanding,
        totalStreakDays: 7,
        message: 'Day 7 of the streak: 12 RWT',
        streak: { current: 7, longest: 9, multiplier: 1.25, graceUsed: false },
        reward: {
          base: 10,
          final: 12,
          rewardId: example.eventId,
          transactionHash: example.transactionHash,
        },
      },
    },
  },
  refusals: [
    ...ofWrite,
    'automation_disabled',
    'domain_not_authorized',
    'too_many_streak_types',
    'spend_limit',
    'insufficient_brand_balance',
    'payout_failed',
  ],
};
