/** GET streak/status: where a user's streak stands, by path and by query. */
import { z } from 'zod';
import { type Endpoint, named } from '../../endpoint.ts';
import { demo, example } from '../../examples.ts';
import { count } from '../../shapes.ts';
import { ofQuestion, type ServicesRefusalCode } from '../refusals.ts';
import { userFields } from '../user.ts';
import { exampleStanding, lastActivity, standingShape, streakTypeField } from './fields.ts';

export const streakStatusQuestion = z.object({ ...userFields, streakType: streakTypeField });
const { brandId, userIdentifier, platform } = userFields;

export const streakStatusResult = z.object({
  success: z.literal(true),
  ...standingShape,
  checkedInToday: z.boolean().meta({ description: "By the calendar of the brand's time zone." }),
  daysToNextMilestone: count().nullable(),
  totalStreakDays: count(),
  lastActivityAt: lastActivity,
});
export type StreakStatusResult = z.output<typeof streakStatusResult>;

const answers = {
  200: {
    description: 'The streak now.',
    body: named('StreakStatus', streakStatusResult),
    example: {
      success: true,
      ...exampleStanding,
      checkedInToday: true,
      daysToNextMilestone: 23,
      totalStreakDays: 16,
      lastActivityAt: example.timestamp,
    },
  },
};
const who = { brandId: demo.brandId, userIdentifier: demo.user };

export const streakStatusEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'streakStatus',
  tag: 'Streaks',
  method: 'get',
  path: '/streak/status/{brandId}/{userIdentifier}',
  summary: "Where a user's streak stands",
  description: 'A user of whom the brand has heard nothing has zeros.',
  parameters: [
    { in: 'path', schema: z.object({ brandId, userIdentifier }) },
    { in: 'query', schema: z.object({ platform, streakType: streakTypeField }) },
  ],
  examples: [{ summary: 'The daily streak', path: who, query: { streakType: 'daily' } }],
  answers,
  refusals: ofQuestion,
};

export const streakStatusByQueryEndpoint: Endpoint<ServicesRefusalCode> = {
  id: 'streakStatusByQuery',
  tag: 'Streaks',
  method: 'get',
  path: '/streak/status',
  summary: 'The same, with the user in the query',
  parameters: [{ in: 'query', schema: streakStatusQuestion }],
  examples: [{ summary: 'The daily streak', query: who }],
  answers,
  refusals: ofQuestion,
};
