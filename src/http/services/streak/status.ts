/** GET streak/status, by path and by query. */
import type { Handler } from 'hono';
import type { ServicesRefusal } from '../../../contract/services/refusals.ts';
import { type StreakStatusResult, streakStatusQuestion } from '../../../contract/services/streak/status.ts';
import type { BrandId } from '../../../rules/brands/brand.ts';
import type { StreakStanding } from '../../../rules/engagement/streak.ts';
import { jsonAnswer } from '../../frame/answer.ts';
import type { Refuser } from '../../frame/refuse.ts';
import type { RequestVariables } from '../../frame/request-record.ts';
import { askedOfUser, fieldsOf, type QuestionSettings } from '../read-question.ts';

export interface StreakStatusDeps {
  /** `actions/engagement/read-streak` with its deps bound. */
  readStreak: (key: {
    brandId: BrandId;
    userKey: string;
    streakType: string;
  }) => Promise<StreakStanding | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function streakStatus({ readStreak, refuser, settings }: StreakStatusDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = askedOfUser(fieldsOf(context), streakStatusQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, streakType } = question.asked;
    const streak = await readStreak({ brandId, streakType, userKey: question.user.userKey });
    if (!streak) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const { lastActivityAt, graceUsed: _, ...known } = streak;
    const answer: StreakStatusResult = {
      success: true,
      ...known,
      lastActivityAt: lastActivityAt === null ? null : new Date(lastActivityAt).toISOString(),
    };
    return jsonAnswer(context, answer);
  };
}
