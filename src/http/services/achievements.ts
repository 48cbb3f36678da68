/** GET achievements/{brandId}/{userIdentifier}, and POST achievements/update-progress. */
import type { Handler } from 'hono';
import type {
  Progress,
  ProgressReport,
  ReportRefusal,
  UserAchievement,
} from '../../actions/engagement/achievements.ts';
import { isoInstant } from '../../contract/refusals.ts';
import {
  type AchievementsResult,
  achievementsQuestion,
  type ProgressResult,
  progressReport,
} from '../../contract/services/achievements.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type WriterDeps, writerOf } from './asker.ts';
import { askedOfUser, bodyFieldsOf, fieldsOf, type QuestionSettings } from './read-question.ts';

export interface AchievementsDeps extends WriterDeps {
  /** `actions/engagement/read-achievements` with its deps bound. */
  listUserAchievements: (user: {
    brandId: BrandId;
    userKey: string;
  }) => Promise<UserAchievement[] | undefined>;
  /** `actions/engagement/report-progress` with its deps bound. */
  takeProgressReport: (report: ProgressReport) => Promise<Progress | { refusal: ReportRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function achievements(deps: AchievementsDeps): {
  list: Handler<RequestVariables>;
  report: Handler<RequestVariables>;
} {
  const { refuser, settings } = deps;
  return {
    async list(context) {
      const question = askedOfUser(fieldsOf(context), achievementsQuestion, settings);
      if ('refusal' in question) return refuser.answer(context, question.refusal);
      const { brandId } = question.asked;
      const found = await deps.listUserAchievements({ brandId, userKey: question.user.userKey });
      if (!found) return refuser.answer(context, { code: 'brand_not_found', brandId });
      const answer: AchievementsResult = { success: true, achievements: found.map(shown) };
      return jsonAnswer(context, answer);
    },
    async report(context) {
      const question = askedOfUser(await bodyFieldsOf(context, settings), progressReport, settings);
      if ('refusal' in question) return refuser.answer(context, question.refusal);
      const { brandId, achievementType, change } = question.asked;
      const { userKey } = question.user;
      const writer = await writerOf(deps, context);
      const taken = await deps.takeProgressReport({ brandId, userKey, achievementType, change, writer });
      if ('refusal' in taken) return refuser.answer(context, taken.refusal);
      const { currentProgress, isUnlocked } = taken;
      const unlocked = taken.unlocked.map(({ unlockedAtMs, ...one }) => ({
        ...one,
        unlockedAt: isoInstant(unlockedAtMs),
      }));
      const answer: ProgressResult = { success: true, unlocked, currentProgress, isUnlocked };
      return jsonAnswer(context, answer);
    },
  };
}

const shown = ({ type, name, metric, progress, threshold, unlockedAt }: UserAchievement) => ({
  achievementType: type,
  name,
  metric,
  currentProgress: progress,
  threshold,
  isUnlocked: unlockedAt !== null,
  unlockedAt: unlockedAt === null ? null : isoInstant(unlockedAt),
  rewardClaimed: false as const,
  rewardClaimedAt: null,
});
