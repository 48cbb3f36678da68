/** What a brand has configured: who it is, where its events come from, and what each event pays. */
import type { brandSpec, ruleSpec, Values } from './spec.ts';

export type BrandId = `0x${string}`;

type BrandValues = Values<typeof brandSpec>;
type Column = 'brandId' | 'name' | 'automation';

/** The settings of a brand that are read as a whole. Settings that were added after the brand was made may be missing. */
export type BrandProfile = Partial<Omit<BrandValues, Column>> &
  Pick<BrandValues, 'domains' | 'platforms' | 'clientBypass' | 'mintTo'>;

export interface Brand {
  /** The brand's wallet address, lower case. */
  brandId: BrandId;
  name: string;
  /** Off: no event of the brand is rewarded. */
  automation: boolean;
  profile: BrandProfile;
}

type RuleValues = Values<typeof ruleSpec>;

/** How a page, or a chat channel, notices an event. */
type DetectionConfig = Pick<RuleValues, 'urlPatterns' | 'successSelectors' | 'channels'>;

/** A reward that is worked out from the event instead of being fixed; present where one of these is set. */
export type DynamicReward = Pick<RuleValues, 'perUsd' | 'maxReward' | 'multiplier'>;

/** Settings of a rule that have their own column; the rule's detail holds all others, under their names. */
type Placed =
  | keyof DetectionConfig
  | keyof DynamicReward
  | ('reward' | 'maxClaims' | 'maxTotalClaims' | 'cooldown' | 'active' | 'method');

/** The parts of an event's rule that are read as a whole. */
export type EventDetail = Partial<Omit<RuleValues, Placed>> & {
  eventId: string;
  isCustom: boolean;
  detectionMethod: string;
  detectionConfig: DetectionConfig;
  dynamic?: DynamicReward;
};

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
