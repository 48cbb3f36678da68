/** Request and answer bodies, typed by the contract's schemas. */
import type { z } from 'zod';
import type { eventConfigResult } from '../contract/events/event-config.ts';
import type { rewardResult } from '../contract/events/manual-event.ts';
import type { healthResult } from '../contract/events/status.ts';
import type { balanceResult } from '../contract/events/user-balance.ts';
import type { permitField } from '../contract/permit.ts';
import type { pregenerateResult } from '../contract/register/pregenerate-user.ts';
import type { RelayRefusalBody } from '../contract/relay/refusals.ts';
import type { relayBody, relayResult, relayState } from '../contract/relay/relay.ts';
import type { achievementsResult, progressResult } from '../contract/services/achievements.ts';
import type { codeResult } from '../contract/services/check-code.ts';
import type { leaderboardResult } from '../contract/services/leaderboard.ts';
import type { PerksResult } from '../contract/services/perks.ts';
import type { RedeemResult } from '../contract/services/redeem-perk.ts';
import type { claimMilestoneResult } from '../contract/services/streak/claim-milestone.ts';
import type { recordActivityResult } from '../contract/services/streak/record-activity.ts';
import type { streakStatusResult } from '../contract/services/streak/status.ts';
import type { RefusalBody } from '../contract/shared-refusals.ts';

export type { RefusalBody, RelayRefusalBody };

export type RewardBody = z.output<typeof rewardResult>;
export type EventConfigBody = z.output<typeof eventConfigResult>;
export type HealthBody = z.output<typeof healthResult>;
export type BalanceBody = z.output<typeof balanceResult>;
export type LeaderboardBody = z.output<typeof leaderboardResult>;
export type PregeneratedBody = z.output<typeof pregenerateResult>;

export type StreakStatusBody = z.output<typeof streakStatusResult>;
export type RecordedActivityBody = z.output<typeof recordActivityResult>;
export type ClaimedMilestoneBody = z.output<typeof claimMilestoneResult>;
export type AchievementsBody = z.output<typeof achievementsResult>;
export type ProgressBody = z.output<typeof progressResult>;

export type PermitBody = z.input<typeof permitField>;
export type RelayRequestBody = z.input<typeof relayBody>;
export type RelayResultBody = z.output<typeof relayResult>;
export type RelayStateBody = z.output<typeof relayState>;

export type CodeBody = z.output<typeof codeResult>;
export type RedeemedPerkBody = RedeemResult;
export type PerksBody = PerksResult;
