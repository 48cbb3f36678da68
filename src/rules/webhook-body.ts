/** What a webhook tells a brand's server: the types of events, and the body of each as text that is stored and never written again. */

/** Every type that an endpoint can choose. */
export const webhookTypes = [
  'reward.distributed',
  'perk.redeemed',
  'streak.milestone',
  'achievement.unlocked',
  'payment.minted',
] as const;
export type WebhookType = (typeof webhookTypes)[number];

export const isWebhookType = (text: string): text is WebhookType =>
  webhookTypes.some((type) => type === text);

/** Facts of an event beside its id, type and time. Times are milliseconds since 1970. */
export interface WebhookFacts {
  'reward.distributed': {
    brandId: string;
    userId: string;
    /** Empty where the user is known by an address alone. */
    email: string;
    walletAddress: string;
    amount: number;
    eventType: string;
    transactionHash: string;
    timestamp: number;
  };
  'perk.redeemed': {
    userEmail: string;
    perkId: string;
    perkName: string;
    redemptionCode: string;
    timestamp: number;
  };
  'streak.milestone': { userEmail: string; milestoneDays: number; bonusAmount: number; timestamp: number };
  'achievement.unlocked': {
    userEmail: string;
    achievementId: string;
    achievementName: string;
    timestamp: number;
  };
  'payment.minted': {
    /** Empty where the checkout named no user. */
    userEmail: string;
    sessionId: string;
    /** The wallet that has the RWT or, for a mint into escrow, would have had it. */
    walletAddress: string;
    mintTo: 'wallet' | 'escrow';
    usdAmount: number;
    rwtAmount: number;
    transactionHash: string;
    timestamp: number;
  };
}

/** One event with the facts of its type. */
export type WebhookEvent = { [Type in WebhookType]: { type: Type; facts: WebhookFacts[Type] } }[WebhookType];

/**
 * The body of an event, `{id, type, created, data}`; `created` is in seconds. A reward's has the fields of the contract's
 * rwt_distributed at its top level (contract: Outbound webhook payload).
 */
export function webhookBody({ id, event }: { id: string; event: WebhookEvent }): string {
  const { type, facts } = event;
  const head = { id, type, created: Math.floor(facts.timestamp / 1000) };
  if (type !== 'reward.distributed') return JSON.stringify({ ...head, data: facts });
  const { brandId, userId, email, walletAddress, amount, eventType, transactionHash, timestamp } = facts;
  return JSON.stringify({
    ...head,
    event: 'rwt_distributed',
    brandId,
    userId,
    email,
    walletAddress,
    rwtAmount: amount,
    transactionHash,
    timestamp,
    data: { userEmail: email, amount, eventType, transactionHash, timestamp },
  });
}
