/** When the payment processor is asked about an open checkout again. Times are milliseconds. */

/** The pauses between two looks, by how long ago a checkout was opened, or an event called it paid. */
export type LookPauses = readonly { untilAgeMs: number; everyMs: number }[];

/**
 * The pause until the next look. Each look that failed doubles it, up to the longest; `failures`: those in a row.
 */
export function lookPauseMs(
  checkout: { createdAt: number; hintedAt: number | null },
  { nowMs, failures, pauses }: { nowMs: number; failures: number; pauses: LookPauses },
): number {
  const ageMs = nowMs - Math.max(checkout.createdAt, checkout.hintedAt ?? checkout.createdAt);
  const longestMs = pauses.at(-1)?.everyMs ?? 0;
  const { everyMs } = pauses.find(({ untilAgeMs }) => ageMs < untilAgeMs) ?? { everyMs: longestMs };
  return Math.min(everyMs * 2 ** failures, Math.max(longestMs, everyMs));
}
