/** POST leaderboard/update-stats: what a user did or earned elsewhere, for the leaderboards. */
import { z } from 'zod';
import { activityClaimTypes } from '../../rules/engagement/activity-kind.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { trimmedText } from '../shapes.ts';
import { ofWrite, type ServicesRefusalCode } from './refusals.ts';
import { userFields } from './user.ts';

/** More than any brand pays at once: a slip of the keyboard must not decide a board for ever. */
const AMOUNT_MAX = 1_000_000;
const AMOUNT_MUST_BE = `must be a whole number from 0 to ${AMOUNT_MAX}`;
/** A day of messages of the busiest user, and again as many: see `AMOUNT_MAX`. */
const COUNT_MAX = 10_000;
const COUNT_MUST_BE = `must be a whole number from 0 to ${COUNT_MAX}`;
/** The contract's limit of event types. */
const CLAIM_TYPE_MAX = 50;
/** What fits into one line of a board. */
const DISPLAY_NAME_MAX = 64;

const kindsInWords = `Adds to the user's \`activity\`: ${Object.entries(activityClaimTypes)
  .map(([kind, types]) => `${types.map((type) => `\`${type}\``).join(', ')} (${kind})`)
  .join('; ')}.`;

const shortText = (most: number) =>
  trimmedText()
    .refine((text) => [...text].length <= most, `must have at most ${most} characters`)
    .transform((text) => text || undefined)
    .optional();

export const updateStatsBody = z.object({
  ...userFields,
  rwtAmount: z
    .number({ error: AMOUNT_MUST_BE })
    .int({ error: AMOUNT_MUST_BE })
    .min(0, { error: AMOUNT_MUST_BE })
    .max(AMOUNT_MAX, { error: AMOUNT_MUST_BE })
    .default(0)
    .meta({ description: 'Whole RWT that the user earned elsewhere; nothing is paid.' }),
  claimType: shortText(CLAIM_TYPE_MAX).meta({
    description: `What it was earned for. With one of the brand's events, \`rwtAmount\` is not added: the service counts what it pays by itself. ${kindsInWords}`,
    maxLength: CLAIM_TYPE_MAX,
  }),
  count: z
    .number({ error: COUNT_MUST_BE })
    .int({ error: COUNT_MUST_BE })
    .min(0, { error: COUNT_MUST_BE })
    .max(COUNT_MAX, { error: COUNT_MUST_BE })
    .default(1)
    .meta({
      description: `How many messages or reactions, or minutes in voice channels, are reported; other reports ignore it.`,
    }),
  displayName: shortText(DISPLAY_NAME_MAX).meta({
    description: 'How the user is shown from now on.',
    maxLength: DISPLAY_NAME_MAX,
  }),
});

export const updateStatsResult = z.object({
  success: z.literal(true),
  updated: z.literal(true),
  counted: z.boolean().meta({ description: 'Whether `rwtAmount` was added.' }),
});
export type UpdateStatsResult = z.output<typeof updateStatsResult>;

export const updateStatsEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'updateStats',
  tag: 'Leaderboards',
  method: 'post',
  path: '/leaderboard/update-stats',
  summary: 'Report what a user did elsewhere',
  description:
    'Counts as one activity. It pays nothing, and what it adds to the RWT and claims of a user is kept in rows of its own, apart from rewards.',
  key: { scheme: 'brandKey', required: false },
  body: named('StatsReport', updateStatsBody),
  examples: [
    {
      summary: 'RWT that a bot has paid by itself',
      body: {
        brandId: demo.brandId,
        userIdentifier: demo.user,
        platform: 'discord',
        rwtAmount: 25,
        claimType: 'quiz_night',
        displayName: 'Alice',
      },
    },
    {
      summary: 'A quarter of an hour in a voice channel',
      body: {
        brandId: demo.brandId,
        userIdentifier: demo.user,
        platform: 'discord',
        claimType: 'voice',
        count: 15,
      },
    },
  ],
  answers: {
    200: {
      description: 'It is counted.',
      body: named('StatsReported', updateStatsResult),
      example: { success: true, updated: true, counted: true },
    },
  },
  refusals: ofWrite,
};
