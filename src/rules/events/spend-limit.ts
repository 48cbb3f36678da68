/** How much all events of a brand may earn in an hour and in a day, so that its escrow cannot be emptied in a minute. */
import type { BrandProfile } from '../brands/brand.ts';

export type SpendSpan = 'hour' | 'day';

export const SPAN_MS: Readonly<Record<SpendSpan, number>> = { hour: 3_600_000, day: 86_400_000 };

export interface SpendLimit {
  span: SpendSpan;
  /** Whole RWT. */
  limit: number;
}

/** How far a limit is used up. The window began with its first reward. */
export interface SpendWindow extends SpendLimit {
  spent: number;
  endsAtMs: number;
}

export interface SpendRefusal extends SpendWindow {
  code: 'spend_limit';
  required: number;
  /** Undefined where waiting does not help: the reward alone is more than the limit. */
  passesAtMs: number | undefined;
}

/** The limits that a brand has set; always in the same order. */
export function spendLimits({ spendPerDay, spendPerHour }: BrandProfile): SpendLimit[] {
  return [
    ...(spendPerDay === undefined ? [] : [{ span: 'day' as const, limit: spendPerDay }]),
    ...(spendPerHour === undefined ? [] : [{ span: 'hour' as const, limit: spendPerHour }]),
  ];
}

/** The limit that stands against a reward for the longest, or undefined when it may be granted. */
export function refuseSpending(
  windows: readonly SpendWindow[],
  reward: { amount: number; nowMs: number },
): SpendRefusal | undefined {
  const { amount, nowMs } = reward;
  const refusals = windows
    .filter(({ limit, spent, endsAtMs }) => (nowMs < endsAtMs ? spent : 0) + amount > limit)
    .map((window): SpendRefusal => {
      const passesAtMs = amount > window.limit ? undefined : window.endsAtMs;
      return { ...window, code: 'spend_limit', required: amount, passesAtMs };
    });
  const lastsFor = ({ passesAtMs = Number.POSITIVE_INFINITY }: SpendRefusal) => passesAtMs;
  return refusals.sort((a, b) => lastsFor(b) - lastsFor(a))[0];
}
