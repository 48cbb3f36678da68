/** Over which time a history of rewards looks back, and into how many parts of one length that is cut. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const historyRanges = ['hour', 'day', 'week', 'month'] as const;
export type HistoryRange = (typeof historyRanges)[number];

/** At most 60 parts: enough to see a change, few enough for a table. A month has 30 days. */
const PARTS: Readonly<Record<HistoryRange, { bucketMs: number; buckets: number }>> = {
  hour: { bucketMs: MINUTE_MS, buckets: 60 },
  day: { bucketMs: HOUR_MS / 2, buckets: 48 },
  week: { bucketMs: 3 * HOUR_MS, buckets: 56 },
  month: { bucketMs: 24 * HOUR_MS, buckets: 30 },
};

/** Milliseconds since 1970, from `fromMs` on, up to and without `toMs`; parts begin at whole multiples of their length, in UTC. */
export interface HistorySpan {
  fromMs: number;
  toMs: number;
  bucketMs: number;
  buckets: number;
}

/** The last part holds `nowMs`, and is not over yet. */
export function historySpan(range: HistoryRange, nowMs: number): HistorySpan {
  const { bucketMs, buckets } = PARTS[range];
  const toMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  return { fromMs: toMs - buckets * bucketMs, toMs, bucketMs, buckets };
}
