/** Queues whose rows are tried out: brands take turns, and a row that was refused waits, ever longer, outside the window. */
import { lte, type SQL, sql } from 'drizzle-orm';
import type { SqlTime } from '../database/database.ts';
import type { perkTerms, redemptions } from '../schema/engagement/perks.ts';
import type { mints, operatorMints } from '../schema/payments.ts';

/** The tables whose rows are refused. */
type Refused = typeof redemptions | typeof perkTerms | typeof mints | typeof operatorMints;

/** What a lane reads of a queue: the rows that are due at `now`, by the ledger's clock. */
export interface Window {
  now: SqlTime;
  limit: number;
}

/** How long a row that was refused waits: twice as long after each refusal, from `firstMs` up to `maxMs`. */
export interface Pauses {
  firstMs: number;
  maxMs: number;
}

/** Of a window, one row in so many was refused before, while there are new ones. */
const RETRIES_ONE_IN = 4;

export const isDue = (table: Refused, now: SqlTime): SQL => lte(sql`${table.nextTryAt}`, now);

/**
 * The place of a row in the window: the first rows of all brands come before the second ones, and a brand's rows that were
 * refused before come one after every three that were not. `within`: the order of one brand's rows, its columns with commas.
 */
export const placeInTurn = ({ refusals }: Refused, { brand, within }: { brand: SQL; within: SQL }) => {
  const wasRefused = sql`case when ${refusals} = 0 then 0 else 1 end`;
  const factor = sql.raw(String(RETRIES_ONE_IN - 1));
  return sql<number>`(row_number() over (partition by ${brand}, ${wasRefused} order by ${within})) * (case when ${refusals} = 0 then 1 else ${factor} end)`.mapWith(
    Number,
  );
};

/** What a refusal writes into its row. */
export function afterRefusal(
  { refusals }: Refused,
  { now, pauses, reason }: { now: SqlTime; pauses: Pauses; reason: string },
) {
  const { firstMs, maxMs } = pauses;
  // From here on, doubling would pass the longest pause, and one day what a number can hold.
  const doublings = Math.max(0, Math.ceil(Math.log2(maxMs / firstMs)));
  const pauseMs = sql`case when ${refusals} >= ${sql.raw(String(doublings))} then cast(${maxMs} as bigint) else cast(${firstMs} as bigint) * (1 << ${refusals}) end`;
  return { refusals: sql`${refusals} + 1`, nextTryAt: sql`${now} + ${pauseMs}`, refusal: reason };
}
