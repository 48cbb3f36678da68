/** What the service answers, as far as the plugin uses it; an answer that lacks any of it is refused. */
import { z } from 'zod';

const milestone = z.object({ days: z.number(), bonus: z.number() });

export const streakAnswer = z.object({
  currentStreak: z.number(),
  multiplier: z.number(),
  nextMilestone: milestone.nullable(),
  unclaimedMilestones: z.array(milestone),
});

export const streakStatusAnswer = streakAnswer.extend({ checkedInToday: z.boolean() });

export const checkInAnswer = streakAnswer.extend({
  isNewActivity: z.boolean(),
  reward: z.object({ final: z.number() }),
});

export const claimAnswer = z.object({ bonusRwt: z.number(), milestone: z.number() });

const redeemedPerk = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  cost: z.number(),
  category: z.string(),
});

export const redeemAnswer = z.object({
  confirmationCode: z.string().nullable().default(null),
  perk: redeemedPerk.nullable().default(null),
});

export const perksAnswer = z.object({
  perks: z.array(redeemedPerk.extend({ available: z.number(), image: z.string().nullable() })),
});

export const leaderboardAnswer = z.object({
  leaderboard: z.array(
    z.object({
      rank: z.number(),
      userIdentifier: z.string(),
      username: z.string(),
      displayName: z.string(),
      platform: z.string(),
      value: z.number(),
      formattedValue: z.string(),
    }),
  ),
  total: z.number(),
});

export const balanceAnswer = z
  .object({
    balance: z.number(),
    walletAddress: z.string().nullable(),
    history: z
      .array(z.object({ eventType: z.string(), amount: z.number(), timestamp: z.number() }))
      .default([]),
  })
  .transform(({ history, ...answer }) => ({
    ...answer,
    history: history.map(({ timestamp, ...entry }) => ({ ...entry, atMs: timestamp })),
  }));

export const achievementsAnswer = z.object({
  achievements: z.array(
    z.object({
      achievementType: z.string(),
      name: z.string(),
      currentProgress: z.number(),
      threshold: z.number(),
      isUnlocked: z.boolean(),
    }),
  ),
});

export const eventAnswer = z.object({ rewardAmount: z.number().optional() });

/** A refusal of the service: both forms of its error bodies. */
const refusalAnswer = z.object({ message: z.string().optional(), error: z.string().optional() });

/** Why not, in the words that the service has for visitors, such as `Brand not found: 0x…`: short, and without what only a developer can do. */
export function wordsIn(body: unknown): string | undefined {
  const read = refusalAnswer.safeParse(body);
  return read.success ? (read.data.error ?? read.data.message) : undefined;
}

/** The same at length, for administrators and their log; undefined where the service gave no reason. */
export function reasonIn(body: unknown): string | undefined {
  const read = refusalAnswer.safeParse(body);
  return read.success ? (read.data.message ?? read.data.error) : undefined;
}

/** The machine-readable reason in an answer's details. */
export function reasonCodeIn(body: unknown): string | undefined {
  const read = z.object({ details: z.object({ reason: z.string() }) }).safeParse(body);
  return read.success ? read.data.details.reason : undefined;
}
