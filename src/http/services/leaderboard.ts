/** GET leaderboard/{brandId}. */
import type { Handler } from 'hono';
import type { Leaderboard, WantedLeaderboard } from '../../actions/engagement/read-leaderboard.ts';
import { type LeaderboardResult, leaderboardQuestion } from '../../contract/services/leaderboard.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { userOf } from '../../contract/services/user.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { askedOf, fieldsOf, type QuestionSettings } from './read-question.ts';
import { type WriterDeps, writerOf } from './writer.ts';

export interface LeaderboardDeps extends WriterDeps {
  /** `actions/engagement/read-leaderboard` with its deps bound. */
  readLeaderboard: (wanted: WantedLeaderboard) => Promise<Leaderboard | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function leaderboard(deps: LeaderboardDeps): Handler<RequestVariables> {
  const { readLeaderboard, refuser, settings } = deps;
  return async (context) => {
    const question = askedOf(fieldsOf(context), leaderboardQuestion);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { userIdentifier, ...wanted } = question.asked;
    const { brandId, metric, period, platform } = wanted;
    const user =
      userIdentifier === undefined
        ? undefined
        : userOf({ userIdentifier, platform: wanted.platform }, settings.ownDomain);
    if (user && 'errors' in user) return refuser.answer(context, { code: 'invalid_request', ...user });
    const { keyOf } = await writerOf(deps, context);
    const board = await readLeaderboard({
      brandId,
      metric,
      period,
      platform,
      limit: wanted.limit,
      userKey: user?.userKey,
      withBrandKey: keyOf === brandId,
    });
    if (!board) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const { entries, own, total, nowMs } = board;
    const answer: LeaderboardResult = {
      success: true,
      leaderboard: entries,
      rankings: entries,
      metric,
      period,
      platform: platform ?? null,
      total,
      updatedAt: nowMs,
      userRank: own?.rank ?? null,
      userEntry: own ?? null,
    };
    return jsonAnswer(context, answer);
  };
}
