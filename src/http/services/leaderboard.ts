/** GET leaderboard/{brandId}, POST leaderboard/update-stats, and GET user-stats/{brandId}/{userIdentifier}. */
import type { Handler } from 'hono';
import type { WriteRefusal, Writer } from '../../actions/engagement/admit-write.ts';
import type { Leaderboard, WantedLeaderboard } from '../../actions/engagement/read-leaderboard.ts';
import type { StatsReport, UserStats, WantedStats } from '../../actions/engagement/user-stats.ts';
import { type LeaderboardResult, leaderboardQuestion } from '../../contract/services/leaderboard.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { userOf } from '../../contract/services/user.ts';
import {
  type UpdateStatsResult,
  type UserStatsResult,
  updateStatsBody,
  userStatsQuestion,
} from '../../contract/services/user-stats.ts';
import { checksummed } from '../../identity/checksum.ts';
import { jsonAnswer } from '../frame/answer.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type WriterDeps, writerOf } from './asker.ts';
import { askedOf, askedOfUser, bodyFieldsOf, fieldsOf, type QuestionSettings } from './read-question.ts';

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

export interface UpdateStatsHandlerDeps extends WriterDeps {
  /** `actions/engagement/update-stats` with its deps bound. */
  updateStats: (of: {
    report: StatsReport;
    writer: Writer;
  }) => Promise<{ counted: boolean } | { refusal: WriteRefusal }>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

/** POST leaderboard/update-stats. */
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

export interface UserStatsDeps {
  /** `actions/engagement/read-user-stats` with its deps bound. */
  readUserStats: (wanted: WantedStats) => Promise<UserStats | undefined>;
  refuser: Pick<Refuser<ServicesRefusal>, 'answer'>;
  settings: QuestionSettings;
}

/** GET user-stats/{brandId}/{userIdentifier}. */
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
