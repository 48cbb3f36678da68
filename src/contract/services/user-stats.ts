/** GET user-stats: what a user has, has earned and has done at a brand, in one answer. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { count, otherWallets } from '../shapes.ts';
import { ofQuestion, type ServicesRefusalCode } from './refusals.ts';
import { userFields } from './user.ts';

export const userStatsQuestion = z.object(userFields);
const { platform, ...inPath } = userFields;

export const userStatsResult = z.object({
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
