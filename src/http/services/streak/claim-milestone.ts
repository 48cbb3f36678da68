/** POST streak/claim-milestone. */
import type { Handler } from 'hono';
import type { ClaimedMilestone, ClaimMilestoneRefusal } from '../../../actions/engagement/claim-milestone.ts';
import type { StreakRequest } from '../../../actions/engagement/streak-work.ts';
import type { ServicesRefusal } from '../../../contract/services/refusals.ts';
import {
  type ClaimMilestoneResult,
  claimMilestoneQuestion,
} from '../../../contract/services/streak/claim-milestone.ts';
import { placeOf } from '../../../contract/services/streak/fields.ts';
import { jsonAnswer } from '../../frame/answer.ts';
import type { Refuser } from '../../frame/refuse.ts';
import type { RequestVariables } from '../../frame/request-record.ts';
import { askedOfUser, bodyFieldsOf, type QuestionSettings } from '../read-question.ts';
import { type WriterDeps, writerOf } from '../writer.ts';
import { refusedGrant } from './refused-grant.ts';

export interface ClaimMilestoneDeps extends WriterDeps {
  /** `actions/engagement/claim-milestone` with its deps bound. */
  claimMilestone: (
    request: StreakRequest & { milestoneDays: number },
  ) => Promise<ClaimedMilestone | { refusal: ClaimMilestoneRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function claimMilestone(deps: ClaimMilestoneDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const read = await bodyFieldsOf(context, settings);
    const question = askedOfUser(read, claimMilestoneQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, platform, streakType, milestoneDays } = question.asked;
    const writer = await writerOf(deps, context);
    const place = placeOf(question.asked, writer.origin);
    const request = { brandId, platform, streakType, milestoneDays, writer, place, ...question.user };
    const claimed = await deps.claimMilestone(request);
    if ('refusal' in claimed) return refuser.answer(context, refusedGrant(claimed.refusal, writer));
    const { days: milestone, bonus, ...paid } = claimed;
    const answer: ClaimMilestoneResult = { success: true, bonus, bonusRwt: bonus, milestone, ...paid };
    return jsonAnswer(context, answer);
  };
}
