/**
 * `rewards/webhooks`: verifies what this service tells a brand's server. It needs the standard's `crypto` alone, so that it works in
 * Node, Deno, Bun, workers and at the edge. This file is the package's declaration (`dist/webhooks.d.ts`), so it imports nothing of
 * the program.
 */

/** One for each reward, redemption, milestone, unlock or mint, in every attempt and at every endpoint: work on it once. */
interface Told<Type extends string, Data> {
  id: string;
  type: Type;
  /** Seconds since 1970. */
  created: number;
  data: Data;
}

/** What all types tell in their `data`. */
interface Fact {
  /** Empty where the user is known by an address alone, or a checkout named no user. */
  userEmail: string;
  /** Milliseconds since 1970. */
  timestamp: number;
}

/** A block pays a reward. The names at the top level are those of `rwt_distributed`. */
export interface RewardDistributed
  extends Told<
    'reward.distributed',
    Fact & {
      /** Whole RWT. */
      amount: number;
      eventType: string;
      transactionHash: string;
    }
  > {
  event: 'rwt_distributed';
  brandId: string;
  /** What the event named the user by: e-mail, stand-in e-mail or address. */
  userId: string;
  email: string;
  walletAddress: string;
  rwtAmount: number;
  transactionHash: string;
  timestamp: number;
}

/** A block shows a redemption. */
export type PerkRedeemed = Told<
  'perk.redeemed',
  Fact & { perkId: string; perkName: string; redemptionCode: string }
>;

/** A check-in reaches a milestone, whose bonus can be claimed now. */
export type StreakMilestone = Told<'streak.milestone', Fact & { milestoneDays: number; bonusAmount: number }>;

export type AchievementUnlocked = Told<
  'achievement.unlocked',
  Fact & { achievementId: string; achievementName: string }
>;

/** A block shows the RWT of a paid session as minted. */
export type PaymentMinted = Told<
  'payment.minted',
  Fact & {
    sessionId: string;
    walletAddress: string;
    mintTo: 'wallet' | 'escrow';
    usdAmount: number;
    rwtAmount: number;
    transactionHash: string;
  }
>;

/** A newer service may tell of more: answer 2xx to a type that is not known, and leave it. */
export type WebhookEvent =
  | RewardDistributed
  | PerkRedeemed
  | StreakMilestone
  | AchievementUnlocked
  | PaymentMinted;

/** A request as it came. */
export interface ReceivedWebhook {
  /** Byte for byte, before anything parses it. */
  body: string | Uint8Array;
  /** Of `fetch`, or of `node:http`; names in any case. */
  headers: { get(name: string): string | null } | Readonly<Record<string, string | string[] | undefined>>;
  /** Of the endpoint, `whsec_…`; both while it is replaced, where the receiver has both. */
  secret: string | readonly string[];
  /** How far the attempt's time may be from now, in seconds; default: 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970; default: the machine's time. */
  now?: () => number;
}

/**
 * - `secret_malformed`: no base64 after `whsec_`, the caller's mistake
 * - `signature_missing`: not all of `webhook-id`, `webhook-timestamp` and `webhook-signature` are there
 * - `signature_wrong`: the secret of another endpoint, or a body that is not the one that was sent
 * - `too_old`, `too_new`: signed well, at another time than now
 * - `body_malformed`: signed well, and no event
 */
export type WebhookProblem =
  | 'secret_malformed'
  | 'signature_missing'
  | 'signature_wrong'
  | 'too_old'
  | 'too_new'
  | 'body_malformed';

/** Why a request is not taken; its message says how to mend it. Answer 400. */
export declare class WebhookError extends Error {
  readonly reason: WebhookProblem;
  constructor(reason: WebhookProblem, message: string);
}

/** The event of a request that this service has signed; rejects with a WebhookError otherwise. */
export declare function verifyWebhook(received: ReceivedWebhook): Promise<WebhookEvent>;
