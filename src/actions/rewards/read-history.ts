/** Reads what was rewarded over a time, of one brand or of all. */
import type { Database } from '../../ledger/database/database.ts';
import { readRewardHistory } from '../../ledger/rewards/reward-history.ts';
import { type HistoryRange, historySpan } from '../../lib/history-range.ts';
import { findNamed, notFound } from '../brands/named-brand.ts';

/** A view asks often; this many are read in some hundredths of a second. */
const NEWEST_MAX = 50_000;

export interface HistoryDeps {
  database: Database;
  /** Milliseconds since 1970, by the clock that rewards go by. */
  nowMs: () => number;
}

/** `brand`: an id or a domain; undefined for all brands. Times are milliseconds since 1970, amounts whole RWT. */
export async function readHistory(
  { database: { db }, nowMs }: HistoryDeps,
  { range, brand }: { range: HistoryRange; brand?: string | undefined },
) {
  const found = brand === undefined ? undefined : await findNamed(db, brand);
  if (brand !== undefined && !found) return notFound(brand);
  const span = historySpan(range, nowMs());
  const read = await readRewardHistory(db, { span, brandId: found?.brandId, newest: NEWEST_MAX });
  const buckets = Array.from({ length: span.buckets }, (_, place) => ({
    fromMs: span.fromMs + place * span.bucketMs,
    rewards: 0,
    rwt: 0,
  }));
  for (const { bucket, rewards, rwt } of read.buckets) Object.assign(buckets[bucket] ?? {}, { rewards, rwt });
  return { ...span, brandId: found?.brandId ?? null, buckets, countedFromMs: read.countedFromMs ?? null };
}
