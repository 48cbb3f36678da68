/** POST streak/claim-milestone: the bonus of a milestone that a streak has reached. */
import { z } from 'zod';
import { type Endpoint, named } from '../../endpoint.ts';
import { demo, example } from '../../examples.ts';
import { count, OBJECT_PROBLEM, rwt } from '../../shapes.ts';
import { ofWrite, type ServicesRefusalCode } from '../refusals.ts';
import { userFields } from '../user.ts';
import { paidShape, placeFields, streakTypeField } from './fields.ts';

const DAYS_PROBLEM = 'must be the days of a milestone, such as 7';

export const claimMilestoneQuestion = z.object(
  {
    ...userFields,
    milestoneDays: z
      .union(
        [
          z.int(),
          z
            .string()
            .regex(/^\d{1,4}$/)
            .transform(Number),
        ],
        {
          error: ({ input }) => (input === undefined ? 'is required' : DAYS_PROBLEM),
        },
      )
      .refine((days) => days >= 1 && days <= 9_999, DAYS_PROBLEM)
      .meta({ description: "One of the brand's `streakMilestones`, by its days." }),
    streakType: streakTypeField,
    ...placeFields,
  },
  { error: OBJECT_PROBLEM },
);

export const claimMilestoneResult = z.object({
  success: z.literal(true),
  bonus: rwt(),
  bonusRwt: rwt().meta({ description: 'The same.' }),
  milestone: count().meta({ description: 'The days of the milestone.' }),
  ...paidShape,
});
export type ClaimMilestoneResult = z.output<typeof claimMilestoneResult>;

const { brandId, user: userIdentifier } = demo;

export const claimMilestoneEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'claimMilestone',
  tag: 'Streaks',
  method: 'post',
  path: '/streak/claim-milestone',
  summary: 'Claim the bonus of a milestone',
  description:
    "Each milestone pays a user once, also when the streak ends and reaches it again. With the brand's `streakPays: event` the claim is noted, and the brand's own event pays.",
  key: { scheme: 'brandKey', required: false },
  body: named('MilestoneClaim', claimMilestoneQuestion),
  examples: [
    {
      summary: 'Seven days in a row',
      body: { brandId, userIdentifier, platform: 'web', milestoneDays: 7, streakType: 'daily' },
    },
  ],
  answers: {
    200: {
      description: 'The bonus is the user’s.',
      body: named('ClaimedMilestone', claimMilestoneResult),
      example: {
        success: true,
        bonus: 100,
        bonusRwt: 100,
        milestone: 7,
        rewardId: example.eventId,
        transactionHash: example.transactionHash,
      },
    },
  },
  refusals: [
    ...ofWrite,
    'automation_disabled',
    'domain_not_authorized',
    'milestone_unknown',
    'milestone_not_reached',
    'milestone_claimed',
    'spend_limit',
    'insufficient_brand_balance',
    'payout_failed',
  ],
};
