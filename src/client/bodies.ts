/** Request and answer bodies, typed by the contract's schemas. */
import type { z } from 'zod';
import type * as clock from '../contract/control/clock.ts';
import type * as constraints from '../contract/control/constraints.ts';
import type * as control from '../contract/control/control.ts';
import type * as faults from '../contract/control/faults.ts';
import type { inboxList } from '../contract/control/inbox.ts';
import type * as perks from '../contract/control/perks.ts';
import type * as processor from '../contract/control/processor.ts';
import type * as site from '../contract/control/site.ts';
import type * as snapshots from '../contract/control/snapshots/snapshots.ts';
import type * as webhooks from '../contract/control/webhooks.ts';
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

export type ClockBody = z.output<typeof clock.clockResult>;
export type MovedClockBody = z.output<typeof clock.movedClock>;
export type RequestListBody = z.output<typeof control.requestList>;
export type RequestSummary = RequestListBody['requests'][number];
export type RequestDetail = z.output<typeof control.requestDetail>;
export type ExplainedEvent = RequestDetail['explained'][number];
export type CheckBody = ExplainedEvent['checks'][number];
/** Which requests are wanted; every part narrows the choice. */
export type RequestFilter = {
  [Part in keyof z.input<typeof control.requestsQuery>]?:
    | z.input<typeof control.requestsQuery>[Part]
    | undefined;
};
export type FaultBody = z.output<typeof faults.faultResult>;
export type FaultListBody = z.output<typeof faults.faultList>;
export type FaultsClearedBody = z.output<typeof faults.faultsCleared>;
/** What is to fail; every part but the seam may be left out. */
export type FaultWish = {
  [Part in keyof z.input<typeof faults.faultWish>]: z.input<typeof faults.faultWish>[Part] | undefined;
} & {
  seam: string;
};
export type InboxBody = z.output<typeof inboxList>;
export type InboxDelivery = InboxBody['deliveries'][number];
export type RuleBody = z.output<typeof control.ruleResult>;
export type BrandBody = z.output<typeof control.brandList>['brands'][number];
export type BrandDetail = z.output<typeof control.brandDetail>;
export type AliasBody = z.output<typeof control.shownAlias>;
export type AliasListBody = z.output<typeof control.aliasList>;
export type NewKeyBody = z.output<typeof control.newKey>;
export type DnsRecordBody = z.output<typeof control.dnsRecord>;
export type TokenBody = z.output<typeof control.tokenResult>;
export type TokenVerdictBody = z.output<typeof control.tokenVerdict>;
export type PublishedKeysBody = z.output<typeof control.publishedKeys>;
export type WalletBody = z.output<typeof control.walletResult>;
export type SeedBody = z.output<typeof control.seedResult>;
export type VerifyBody = z.output<typeof control.verifyResult>;
export type TotalsBody = z.output<typeof control.totalsResult>;
export type SessionMintBody = z.output<typeof control.sessionMint>;
export type MintBody = z.output<typeof control.mintResult>;
export type FundingBody = z.output<typeof control.fundingResult>;
export type ProcessorEventsBody = z.output<typeof processor.processorEvents>;
export type ProcessorEventBody = z.output<typeof processor.processorEvent>;
export type ProcessorEndpointBody = z.output<typeof processor.processorEndpoint>;
export type ProcessorEndpointsBody = z.output<typeof processor.processorEndpoints>;
export type SessionsBody = z.output<typeof processor.processorSessions>;
export type SessionBody = SessionsBody['sessions'][number];
/** What a session is told, by its step. */
export interface SessionWishes {
  pay: z.input<typeof processor.paymentWish>;
  decline: z.input<typeof processor.declineWish>;
  expire: z.input<typeof processor.expiryWish>;
  refund: z.input<typeof processor.refundWish>;
  dispute: z.input<typeof processor.disputeWish>;
}
export type CodeBody = z.output<typeof codeResult>;
export type RedeemedPerkBody = RedeemResult;
export type PerksBody = PerksResult;
export type ManagedPerkBody = z.output<typeof perks.managedPerkShape>;
export type RedemptionBody = z.output<typeof perks.shownRedemption>;
export type ConstrainedPerksBody = z.output<typeof constraints.constrainedPerks>;
export type ConstraintsVerdictBody = z.output<typeof constraints.constraintsVerdict>;
export type InvalidatedResultsBody = z.output<typeof constraints.invalidatedResults>;
export type ChatStandingBody = z.output<typeof constraints.chatStanding>;
export type ChatStandingsBody = z.output<typeof constraints.chatStandings>;
export type WebhookEndpointBody = z.output<typeof webhooks.webhookEndpointShape>;
/** With the secret where it is new. */
export type AddedEndpointBody = WebhookEndpointBody & { secret?: string };
export type DeliveryBody = z.output<typeof webhooks.webhookDeliveryShape>;
export type DeliveryDetail = z.output<typeof webhooks.deliveryDetail>;

export type SnapshotBody = z.output<typeof snapshots.snapshotShape>;
export type SavedSnapshotBody = z.output<typeof snapshots.snapshotSaved>;
export type SnapshotListBody = z.output<typeof snapshots.snapshotList>;
export type RestoredBody = z.output<typeof snapshots.restoredShape>;
export type UndoneBody = z.output<typeof snapshots.undoneShape>;
export type StackResetBody = z.output<typeof snapshots.stackReset>;
export type SnapshotDiffBody = z.output<typeof snapshots.snapshotDiff>;
export type SiteHookBody = z.output<typeof site.hookFired>;
export type SiteTestBody = z.output<typeof site.connectionTested>;
export type SiteUserBody = z.output<typeof site.addedSiteUser>;
export type NewSiteUserWish = Partial<z.output<typeof site.newSiteUser>> & { login: string; email: string };
export type SiteApplicationPasswordBody = z.output<typeof site.newApplicationPassword>;
