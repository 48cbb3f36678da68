/** Why a report of progress is not taken. */
import type { RefusalRows } from '../refusals.ts';

export type AchievementRefusal =
  /** `known`: those that clients report. */
  | { code: 'achievement_not_found'; achievementType: string; known: string[] }
  | { code: 'achievement_is_counted'; achievementType: string; metric: string };

export const achievementRefusals: RefusalRows<AchievementRefusal> = {
  achievement_not_found: {
    status: 400,
    when: 'the brand has no achievement of this type',
    example: { achievementType: 'unknown', known: ['chatterbox'] },
    says: ({ achievementType, known }) => {
      const shown = achievementType.slice(0, 50);
      return {
        error: `Achievement not found: ${shown}`,
        message:
          known.length > 0
            ? `The brand has no achievement ${shown}; progress is reported for ${known.join(', ')}.`
            : `The brand has no achievement ${shown}, nor any other that progress is reported for.`,
        details: { reason: 'achievement_not_found', known },
      };
    },
  },
  achievement_is_counted: {
    status: 400,
    when: 'the service counts what the achievement is about itself',
    example: { achievementType: 'regular', metric: 'claims' },
    says: ({ achievementType, metric }) => ({
      error: 'Achievement is counted by the service',
      message: `${achievementType} follows from the user's ${metric}, which the ledger has; only achievements of the metric manual are reported.`,
      details: { reason: 'achievement_is_counted', metric },
    }),
  },
};
