/** POST leaderboard/update-stats. */
import type { Handler } from 'hono';
import type { WriteRefusal, Writer } from '../../actions/engagement/admit-write.ts';
import type { StatsReport } from '../../actions/engagement/user-stats.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { type UpdateStatsResult, updateStatsBody } from '../../contract/services/user-stats.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { askedOfUser, bodyFieldsOf, type QuestionSettings } from './read-question.ts';
import { type WriterDeps, writerOf } from './writer.ts';

export interface UpdateStatsHandlerDeps extends WriterDeps {
  /** `actions/engagement/update-stats` with its deps bound. */
  updateStats: (of: {
    report: StatsReport;
    writer: Writer;
  }) => Promise<{ counted: boolean } | { refusal: WriteRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function updateStats(deps: UpdateStatsHandlerDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const fields = await bodyFieldsOf(context, settings);
    const question = askedOfUser(fields, updateStatsBody, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, platform, rwtAmount, claimType, count, displayName } = question.asked;
    const { userKey } = question.user;
    const outcome = await deps.updateStats({
      report: { brandId, userKey, platform, rwtAmount, claimType, count, displayName },
      writer: await writerOf(deps, context),
    });
    if ('refusal' in outcome) return refuser.answer(context, outcome.refusal);
    const answer: UpdateStatsResult = { success: true, updated: true, counted: outcome.counted };
    return jsonAnswer(context, answer);
  };
}
