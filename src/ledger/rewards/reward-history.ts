/** How many rewards each part of a time had: read back from the newest by their numbers, so no index on time is needed. */
import { and, desc, eq, gte, isNull, lt, sql } from 'drizzle-orm';
import type { HistorySpan } from '../../lib/history-range.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { rewards } from '../schema/rewards.ts';

/** Rewards and RWT of one part; failed rewards are not counted. `bucket`: its place, from 0. */
export interface HistoryBucket {
  bucket: number;
  rewards: number;
  rwt: number;
}

export interface RewardHistory {
  /** Only those with a reward, in order. */
  buckets: HistoryBucket[];
  /** Milliseconds since 1970: there are earlier rewards of the time, which were not looked at. Undefined: all were. */
  countedFromMs: number | undefined;
}

/** Not in the time that is asked for. */
const OUTSIDE = -1;

/** `newest`: how many rewards are looked at, at most, whosever they are. */
export async function readRewardHistory(
  db: Queries,
  of: { span: HistorySpan; brandId: BrandId | undefined; newest: number },
): Promise<RewardHistory> {
  const { fromMs, toMs, bucketMs } = of.span;
  const { createdAt, amount, brandId, failure, sequence } = rewards;
  const isCounted = and(isNull(failure), of.brandId === undefined ? undefined : eq(brandId, of.brandId));
  const place = sql`cast((${createdAt} - ${fromMs}) / ${bucketMs} as bigint)`;
  const looked = db
    .select({
      createdAt,
      bucket:
        sql<number>`case when ${and(gte(createdAt, fromMs), lt(createdAt, toMs))} then ${place} else ${sql.raw(String(OUTSIDE))} end`.as(
          'bucket',
        ),
      counts: sql<number>`case when ${isCounted} then 1 else 0 end`.as('counts'),
      rwt: sql<number>`case when ${isCounted} then ${amount} else 0 end`.as('rwt'),
    })
    .from(rewards)
    .orderBy(desc(sequence))
    .limit(of.newest)
    .as('looked');
  const rows = await db
    .select({
      bucket: sql<number>`${looked.bucket}`.mapWith(Number),
      looked: sql<number>`count(*)`.mapWith(Number),
      rewards: sql<number>`sum(${looked.counts})`.mapWith(Number),
      rwt: sql<number>`sum(${looked.rwt})`.mapWith(Number),
      oldest: sql<number>`min(${looked.createdAt})`.mapWith(Number),
    })
    .from(looked)
    .groupBy(looked.bucket);
  const lookedAt = rows.reduce((sum, row) => sum + row.looked, 0);
  const oldest = Math.min(...rows.map((row) => row.oldest));
  return {
    buckets: rows
      .filter((row) => row.bucket !== OUTSIDE && row.rewards > 0)
      .map(({ bucket, rewards: count, rwt }) => ({ bucket, rewards: count, rwt }))
      .sort((one, other) => one.bucket - other.bucket),
    countedFromMs: lookedAt >= of.newest && oldest > fromMs ? oldest : undefined,
  };
}
