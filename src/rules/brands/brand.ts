/** What a brand has configured: who it is, where its events come from, and what each event pays. */

export type BrandId = `0x${string}`;

/** The parts of a brand that are read as a whole. */
export interface BrandProfile {
  /** Hosts whose events count, with their subdomains; the first one is named in refusals. */
  domains: string[];
  /** Identities on chat platforms, such as `telegram: @Bot`. */
  platforms: Record<string, string>;
  /** Who may set `metadata.skip_cooldown`: any client, or only one that sends the brand's key. */
  clientBypass: 'allow' | 'credential';
  /** Where bought RWT goes: the brand's wallet, or straight into its escrow balance. */
  mintTo: 'wallet' | 'escrow';
  /** Who may give people wallets in the brand's name: anybody (when it is left out), or only a client with its key. */
  pregenerate?: 'open' | 'credential';
  /** What its users' calls may cost on a day, in the chain's currency; without it, the service's own limit holds. */
  gasBudget?: number;
  /** Other names under which client scripts may know the events: theirs → ours. */
  eventNameMapping?: Record<string, string>;
}

export interface Brand {
  /** The brand's wallet address, lower case. */
  brandId: BrandId;
  name: string;
  /** Off: no event of the brand is rewarded. */
  automation: boolean;
  profile: BrandProfile;
}

export interface DetectionConfig {
  urlPatterns?: string[];
  successSelectors?: string[];
  /** Chat channels that the event is limited to. */
  channels?: string[];
}

/** The parts of an event's rule that only describe it. */
export interface EventDetail {
  eventId: string;
  isCustom: boolean;
  detectionMethod: string;
  detectionConfig: DetectionConfig;
  /** For events whose reward depends on the event. */
  dynamic?: DynamicReward;
}

/** A reward that is worked out from the event instead of being fixed. */
export interface DynamicReward {
  /** RWT for each US dollar of `metadata.order_total`; without that field the rule's fixed amount is paid. */
  perUsd?: number;
  /** The most that `perUsd` may come to. */
  maxReward?: number;
  /** The amount is multiplied by the user's streak multiplier. */
  multiplier?: 'streak';
}

export interface EventRule {
  brandId: BrandId;
  eventType: string;
  active: boolean;
  /** Whole RWT for one claim. */
  rewardAmount: number;
  /** Claims of one user; -1: no limit. */
  maxClaims: number;
  /** Claims of all users together; -1: no limit. */
  maxTotalClaims: number;
  /** Between two claims of one user; 0: none. */
  cooldownMs: number;
  detail: EventDetail;
}

/** The contract writes "no limit" in two ways (Limits: -1 or 999999). */
export const UNLIMITED = -1;
export const isUnlimited = (limit: number) => limit === UNLIMITED || limit === 999_999;
