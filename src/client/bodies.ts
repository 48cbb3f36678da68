/** What the service's answers look like, as far as callers rely on it. */

/** Success of manual-event. Contract: Reward result. */
export interface RewardBody {
  success: true;
  eventId: string;
  message: string;
  /** RWT. */
  rewardAmount: number;
  eventType: string;
  walletCreated?: boolean;
  walletAddress: string;
  transactionHash: string;
  [more: string]: unknown;
}

/** Every "no" of the event host. Contract: Errors. */
export interface RefusalBody {
  success: false;
  error: string;
  message?: string;
  code?: string;
  details?: unknown;
  [more: string]: unknown;
}

/** Contract: GET event-config. */
export interface EventConfigBody {
  success: boolean;
  brandId: string;
  events: {
    eventId: string;
    eventType: string;
    rewardAmount: number;
    maxClaims: number;
    cooldownHours: number;
  }[];
  count: number;
}

/** Contract: GET health. */
export interface HealthBody {
  status: string;
  timestamp: string;
  services: Record<string, string>;
}
