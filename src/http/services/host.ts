/** The services host: its endpoints and what each of them uses (docs/engagement.md). */
import type { Hono } from 'hono';
import { servicesHostContract } from '../../contract/services/host.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { type AddressGateDeps, addressGate } from '../frame/addresses/address-gate.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type AchievementsDeps, achievements } from './achievements.ts';
import { type CheckCodeHandlerDeps, checkCode, useCode } from './check-code.ts';
import { type LeaderboardDeps, leaderboard } from './leaderboard.ts';
import { type ListPerksHandlerDeps, listPerks } from './list-perks.ts';
import { type PerkTokenDeps, perkToken } from './perk-token.ts';
import { perkEligibility, type RedeemHandlerDeps, redeemPerk } from './redeem-perk.ts';
import { type ClaimMilestoneDeps, claimMilestone } from './streak/claim-milestone.ts';
import { type RecordActivityDeps, recordActivity } from './streak/record-activity.ts';
import { type StreakStatusDeps, streakStatus } from './streak/status.ts';
import { type UpdateStatsHandlerDeps, updateStats } from './update-stats.ts';
import { type UserStatsDeps, userStats } from './user-stats.ts';

export type ServicesHostDeps = HostFrameDeps &
  AddressGateDeps &
  UserStatsDeps &
  LeaderboardDeps &
  UpdateStatsHandlerDeps &
  AchievementsDeps &
  ListPerksHandlerDeps &
  PerkTokenDeps &
  RedeemHandlerDeps &
  CheckCodeHandlerDeps &
  RecordActivityDeps &
  ClaimMilestoneDeps &
  StreakStatusDeps & { refuser: Refuser<ServicesRefusal> };

export function createServicesHost(deps: ServicesHostDeps): Hono<RequestVariables> {
  const { list, report } = achievements(deps);
  return createHostFrame(deps, {
    name: 'services',
    contract: servicesHostContract,
    refuse: deps.refuser.answer,
    gate: addressGate(deps, deps.refuser.answer),
    handlers: {
      userStats: userStats(deps),
      recordActivity: recordActivity(deps),
      streakStatus: streakStatus(deps),
      streakStatusByQuery: streakStatus(deps),
      claimMilestone: claimMilestone(deps),
      leaderboard: leaderboard(deps),
      updateStats: updateStats(deps),
      achievements: list,
      updateProgress: report,
      listPerks: listPerks(deps),
      perkToken: perkToken(deps),
      perkEligibility: perkEligibility(deps),
      redeemPerk: redeemPerk(deps),
      checkCode: checkCode(deps),
      useCode: useCode(deps),
    },
  });
}
