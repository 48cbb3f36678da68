/** The services host: its endpoints and what each of them uses (docs/engagement.md). */
import type { Hono } from 'hono';
import { servicesHostContract } from '../../contract/services/host.ts';
import type { ServicesRefusal } from '../../contract/services/refusals.ts';
import { type AddressGateDeps, addressGate } from '../frame/address-gate.ts';
import { createHostFrame, type HostFrameDeps } from '../frame/host-frame.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { type AchievementsDeps, achievements } from './achievements.ts';
import {
  type LeaderboardDeps,
  leaderboard,
  type UpdateStatsHandlerDeps,
  type UserStatsDeps,
  updateStats,
  userStats,
} from './leaderboard.ts';
import { type ListPerksHandlerDeps, listPerks, type PerkTokenDeps, perkToken } from './list-perks.ts';
import {
  type CheckCodeHandlerDeps,
  checkCode,
  perkEligibility,
  type RedeemHandlerDeps,
  redeemPerk,
  useCode,
} from './redeem-perk.ts';
import {
  type ClaimMilestoneDeps,
  claimMilestone,
  type RecordActivityDeps,
  recordActivity,
  type StreakStatusDeps,
  streakStatus,
} from './streak.ts';

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
