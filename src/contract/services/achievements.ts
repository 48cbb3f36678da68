/** GET achievements, and POST achievements/update-progress. */
import { z } from 'zod';
import { achievementMetrics, PROGRESS_MAX } from '../../rules/brands/achievement.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import { count, instant, trimmedText } from '../shapes.ts';
import { ofQuestion, ofWrite, type ServicesRefusalCode } from './refusals.ts';
import { userFields } from './user.ts';

const { platform, ...inPath } = userFields;

export const achievementsQuestion = z.object(userFields);

export const achievementsResult = z.object({
  success: z.literal(true),
  achievements: z.array(
    z
      .object({
        achievementType: z.string().meta({ description: "The brand's word for it." }),
        name: z.string().meta({ description: 'For people.' }),
        metric: z.enum(achievementMetrics).meta({ id: 'AchievementMetric', description: 'What is counted.' }),
        currentProgress: count(),
        threshold: count(),
        isUnlocked: z.boolean(),
        unlockedAt: instant().nullable(),
        rewardClaimed: z.literal(false).meta({ description: 'Achievements pay nothing by themselves.' }),
        rewardClaimedAt: z.null(),
      })
      .meta({ id: 'Achievement' }),
  ),
});
export type AchievementsResult = z.output<typeof achievementsResult>;

const PROGRESS_PROBLEM = `must be a whole number from 0 to ${PROGRESS_MAX}`;
const amount = z
  .number({ error: PROGRESS_PROBLEM })
  .int({ error: PROGRESS_PROBLEM })
  .min(0, { error: PROGRESS_PROBLEM })
  .max(PROGRESS_MAX, { error: PROGRESS_PROBLEM });

export const progressReport = z
  .object({
    ...userFields,
    achievementType: trimmedText().meta({ description: "The brand's word for it." }),
    newValue: amount.optional().meta({
      description: 'The progress from now on; with `increment: true` what is added to it.',
    }),
    increment: z
      .union([z.boolean(), amount], { error: `must be true, false, or a number: ${PROGRESS_PROBLEM}` })
      .optional()
      .meta({ description: 'What is added to the progress; `true` alone adds 1.' }),
  })
  .transform(({ newValue, increment, ...report }, context) => {
    const change = changeOf(newValue, increment);
    if (change) return { ...report, change };
    const message =
      newValue === undefined
        ? 'is required (or increment in its place)'
        : 'and increment: send one number, not two';
    context.addIssue({ code: 'custom', path: ['newValue'], message, input: newValue });
    return z.NEVER;
  });

/** Clients send the new value, the increment, or a value with a word about which of the two it is. */
function changeOf(newValue: number | undefined, increment: boolean | number | undefined) {
  if (typeof increment === 'number') return newValue === undefined ? { by: increment } : undefined;
  if (increment === true) return { by: newValue ?? 1 };
  return newValue === undefined ? undefined : { to: newValue };
}

export const progressResult = z.object({
  success: z.literal(true),
  unlocked: z
    .array(
      z
        .object({ achievementType: z.string(), name: z.string(), unlockedAt: instant() })
        .meta({ id: 'UnlockedAchievement' }),
    )
    .meta({ description: 'What this report unlocked.' }),
  currentProgress: count(),
  isUnlocked: z.boolean(),
});
export type ProgressResult = z.output<typeof progressResult>;

const { brandId, user: userIdentifier } = demo;

export const achievementsEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'achievements',
  tag: 'Achievements',
  method: 'get',
  path: '/achievements/{brandId}/{userIdentifier}',
  summary: 'How far a user is with each achievement of a brand',
  parameters: [
    { in: 'path', schema: z.object(inPath) },
    { in: 'query', schema: z.object({ platform }) },
  ],
  examples: [{ summary: 'By e-mail', path: { brandId, userIdentifier } }],
  answers: {
    200: {
      description: 'By metric, the nearest threshold first.',
      body: named('AchievementsResult', achievementsResult),
      example: {
        success: true,
        achievements: [
          {
            achievementType: 'regular',
            name: 'A regular',
            metric: 'claims',
            currentProgress: 5,
            threshold: 5,
            isUnlocked: true,
            unlockedAt: example.timestamp,
            rewardClaimed: false,
            rewardClaimedAt: null,
          },
        ],
      },
    },
  },
  refusals: ofQuestion,
};

export const updateProgressEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'updateProgress',
  tag: 'Achievements',
  method: 'post',
  path: '/achievements/update-progress',
  summary: 'Report progress towards an achievement that the service does not count itself',
  description:
    'Only for achievements of the metric `manual`; all others follow from what the ledger has. An achievement that is unlocked stays so.',
  key: { scheme: 'brandKey', required: false },
  body: named('ProgressReport', progressReport),
  examples: [
    {
      summary: 'One more',
      body: { brandId, userIdentifier, platform: 'discord', achievementType: 'chatterbox', increment: 1 },
    },
    {
      summary: 'What it is now',
      body: { brandId, userIdentifier, achievementType: 'chatterbox', newValue: 40 },
    },
  ],
  answers: {
    200: {
      description: 'The progress.',
      body: named('Progress', progressResult),
      example: { success: true, unlocked: [], currentProgress: 40, isUnlocked: false },
    },
  },
  refusals: [...ofWrite, 'achievement_not_found', 'achievement_is_counted'],
};
