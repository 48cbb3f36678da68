/** GET user-stats and POST leaderboard/update-stats: what a user has, has earned and has done at a brand. */
import { z } from 'zod';
import { activityClaimTypes } from '../../rules/engagement/activity-kind.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { count, otherWallets, trimmedText } from '../shapes.ts';
import { ofQuestion, ofWrite, type ServicesRefusalCode } from './refusals.ts';
import { userFields } from './user.ts';

export const userStatsQuestion = z.object(userFields);
const { platform, ...inPath } = userFields;

const userStatsResult = z.object({
  success: z.literal(true),
  balance: z.int().meta({ description: 'RWT in the wallet on chain now.' }),
  otherWallets: otherWallets(),
  lifetime: z
    .object({
      earned: count().meta({ description: 'RWT of all rewards from this brand that did not fail.' }),
      spent: count().meta({ description: "RWT spent on the brand's perks." }),
      claims: count().meta({ description: 'Rewards from this brand that did not fail.' }),
    })
    .meta({ id: 'LifetimeStats' }),
  streak: z
    .object({
      current: count().meta({ description: 'Days of the daily streak, today or yesterday included.' }),
      longest: count(),
    })
    .meta({ id: 'StreakLength' }),
  activity: z
    .object({
      messages: count(),
      voiceMinutes: count(),
      reactions: count(),
    })
    .meta({
      id: 'ActivityCounts',
      description: "What the brand's clients reported with `POST /leaderboard/update-stats`.",
    }),
  rank: z
    .object({
      server: count().meta({
        description: 'Place by RWT earned on the platform that was asked for; 0: none yet.',
      }),
      global: count().meta({
        description: "Place by RWT earned among all of the brand's users; 0: none yet.",
      }),
    })
    .meta({ id: 'Ranks' }),
});
export type UserStatsResult = z.output<typeof userStatsResult>;

export const userStatsEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'userStats',
  tag: 'Users',
  method: 'get',
  path: '/user-stats/{brandId}/{userIdentifier}',
  summary: 'What a user has, has earned and has done',
  description: 'A user of whom the brand has heard nothing has zeros.',
  parameters: [
    { in: 'path', schema: z.object(inPath) },
    { in: 'query', schema: z.object({ platform }) },
  ],
  examples: [
    { summary: 'By e-mail', path: { brandId: demo.brandId, userIdentifier: demo.user } },
    {
      summary: 'A user of Discord',
      path: { brandId: demo.brandId, userIdentifier: '123456789012345678' },
      query: { platform: 'discord' },
    },
  ],
  answers: {
    200: {
      description: 'The figures.',
      body: named('UserStats', userStatsResult),
      example: {
        success: true,
        balance: 150,
        lifetime: { earned: 150, spent: 0, claims: 2 },
        streak: { current: 0, longest: 0 },
        activity: { messages: 0, voiceMinutes: 0, reactions: 0 },
        rank: { server: 0, global: 0 },
      },
    },
  },
  refusals: ofQuestion,
};

// POST leaderboard/update-stats: what a user did or earned elsewhere, for the leaderboards.

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

const updateStatsResult = z.object({
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
