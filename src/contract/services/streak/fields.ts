/** The fields that the endpoints of streaks share. */
import { z } from 'zod';
import { DAILY } from '../../../rules/engagement/streak.ts';
import { count, hash, instant, rwt, trimmedText } from '../../shapes.ts';

const TYPE_MAX = 50;
const TYPE_PROBLEM = `must be 1 to ${TYPE_MAX} letters, digits, hyphens and underscores, such as daily`;

/** Which of the user's streaks is meant; types have no case. */
export const streakTypeField = trimmedText(TYPE_PROBLEM)
  .refine((type) => /^[\w-]+$/.test(type) && type.length <= TYPE_MAX, TYPE_PROBLEM)
  .transform((type) => type.toLowerCase())
  .default(DAILY)
  .meta({
    description: `Which of the user's streaks: each type is counted by itself. Types that the brand's \`streakTypes\` do not name pay nothing.`,
    maxLength: TYPE_MAX,
  });

export const milestone = z.object({ days: count(), bonus: rwt() }).meta({ id: 'Milestone' });

/** Where a streak stands. */
export const standingShape = {
  currentStreak: count().meta({ description: 'Days in a row, 0 where the streak has ended.' }),
  longestStreak: count(),
  multiplier: z.number().meta({ description: 'What the streak multiplies check-ins by.' }),
  nextMilestone: milestone.nullable().meta({ description: 'The first that was never reached.' }),
  unclaimedMilestones: z.array(milestone).meta({ description: 'Reached, and their bonus not claimed.' }),
};

/** How the service pays; both absent where it pays nothing. */
export const paidShape = {
  rewardId: z.uuid().optional().meta({ description: "The reward, as the event handler's `events` know it." }),
  transactionHash: hash().nullable().optional().meta({
    description: 'The transaction that pays it; null where the chain is late: it is paid once all the same.',
  }),
};

export const lastActivity = instant().nullable();

/** The same in examples. */
export const exampleStanding = {
  currentStreak: 7,
  longestStreak: 9,
  multiplier: 1.25,
  nextMilestone: { days: 30, bonus: 500 },
  unclaimedMilestones: [{ days: 7, bonus: 100 }],
};
