/** POST check-eligibility: whether a user would be rewarded for an event now, and when, if not. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import { count, instant, rwt } from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';
import { describedSubmission } from './submission.ts';

export const eligibility = z.object({
  success: z.literal(true),
  eligible: z.boolean().meta({ description: 'Whether the event would be rewarded now.' }),
  reason: z.string().optional().meta({
    description: 'The code of the refusal that the event would get, such as `cooldown`.',
  }),
  message: z.string().optional().meta({ description: 'The same for people.' }),
  cooldownEndsAt: instant().optional().meta({
    description: 'When the user may claim again, where waiting alone helps.',
  }),
  claimCount: count().meta({ description: "The user's claims so far." }),
  maxClaims: z.int().meta({ description: 'Claims of one user; -1: no limit.' }),
  rewardAmount: rwt(),
});
export type EligibilityReply = z.output<typeof eligibility>;

const { brandId, user: userEmail } = demo;

export const checkEligibilityEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'checkEligibility',
  tag: 'Events',
  method: 'post',
  path: '/check-eligibility',
  prefixed: true,
  summary: 'Ask whether an event would be rewarded, without sending it',
  description:
    'Takes the fields of manual-event and judges them as that would, but writes nothing: no claim, no window, no wallet. Without `domain`, `sourceUrl` and Origin the question is asked as if from the brand. What it says holds for now: others may claim in between.',
  key: { scheme: 'brandKey', required: false },
  body: named('EventSubmission', describedSubmission),
  examples: [{ summary: 'A new account', body: { brandId, eventType: 'account_creation', userEmail } }],
  answers: {
    200: {
      description: 'The event would be rewarded, or would not.',
      body: named('Eligibility', eligibility),
      example: {
        success: true,
        eligible: false,
        reason: 'cooldown',
        message: `The cooldown of this event has not expired; it ends at ${example.timestamp}.`,
        cooldownEndsAt: example.timestamp,
        claimCount: 1,
        maxClaims: -1,
        rewardAmount: 100,
      },
    },
  },
  refusals: ['invalid_event_data', 'brand_not_found', 'event_not_found', ...withBody],
};
