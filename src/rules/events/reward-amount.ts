/** How much an event pays: a fixed amount, or one that grows with an order's total or a user's streak. */
import type { EventRule } from '../brands/brand.ts';

/** The most a single event may ever pay: an order's total is only a number that the caller sent. */
const REWARD_MAX = 1_000_000_000;

/**
 * Whole RWT, rounded down, or what is wrong with the event's `order_total`. `streakMultiplier` counts only for
 * rules that ask for it.
 */
export function rewardAmount(
  rule: Pick<EventRule, 'rewardAmount' | 'detail'>,
  event: { metadata: Record<string, unknown>; streakMultiplier: number },
): { amount: number } | { problem: string } {
  const { perUsd, maxReward, multiplier } = rule.detail.dynamic ?? {};
  const { metadata, streakMultiplier } = event;
  const total = Object.hasOwn(metadata, 'order_total') ? metadata.order_total : undefined;
  let base = rule.rewardAmount;
  if (perUsd !== undefined && total !== undefined && total !== null) {
    const usd = dollars(total);
    if (usd === undefined)
      return { problem: 'metadata.order_total: must be an amount of US dollars, 0 or more' };
    base = Math.min(converted(usd, perUsd), maxReward ?? REWARD_MAX);
  }
  const amount = Math.min(multiplier === 'streak' ? Math.floor(base * streakMultiplier) : base, REWARD_MAX);
  if (amount < 1) return { problem: 'metadata.order_total: comes to less than 1 RWT' };
  return { amount };
}

/** Whole RWT, rounded down. In cents and millionths, so that 0.29 dollars do not become 0.289999. */
const converted = (usd: number, perUsd: number) =>
  Number((BigInt(Math.round(usd * 100)) * BigInt(Math.round(perUsd * 1e6))) / 100_000_000n);

/** A number, or a plain decimal text such as "19.90". */
function dollars(total: unknown): number | undefined {
  const usd =
    typeof total === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(total.trim()) ? Number(total) : total;
  return typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 && usd <= REWARD_MAX ? usd : undefined;
}
