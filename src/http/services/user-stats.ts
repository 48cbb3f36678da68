/** GET user-stats/{brandId}/{userIdentifier}. */
import type { Handler } from 'hono';
import type { UserStats, WantedStats } from '../../actions/engagement/user-stats.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { type UserStatsResult, userStatsQuestion } from '../../contract/services/user-stats.ts';
import { checksummed } from '../../identity/checksum.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { askedOfUser, fieldsOf, type QuestionSettings } from './read-question.ts';

export interface UserStatsDeps {
  /** `actions/engagement/read-user-stats` with its deps bound. */
  readUserStats: (wanted: WantedStats) => Promise<UserStats | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

export function userStats({ readUserStats, refuser, settings }: UserStatsDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = askedOfUser(fieldsOf(context), userStatsQuestion, settings);
    if ('refusal' in question) return refuser.answer(context, question.refusal);
    const { brandId, platform } = question.asked;
    const stats = await readUserStats({ brandId, platform, ...question.user });
    if (!stats) return refuser.answer(context, { code: 'brand_not_found', brandId });
    const { otherWallets, ...shown } = stats;
    const others = otherWallets.map(({ walletAddress, balance }) => ({
      walletAddress: checksummed(walletAddress),
      balance: Number(balance),
    }));
    const answer: UserStatsResult = {
      success: true,
      ...shown,
      balance: Number(stats.balance),
      ...(others.length > 0 && { otherWallets: others }),
    };
    return jsonAnswer(context, answer);
  };
}
