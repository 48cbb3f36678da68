/**
 * The feed of consumers: each payout, mint and redemption that a block shows as done, and each that a reorganisation took
 * back, in one order. A booked fact is a column of its transaction, so that booking writes nothing more for it; one that was
 * taken back is a row, which keeps the booking too.
 */
import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { feedTakeBacks } from '../schema/consumers.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, followedBlocks, type LanePurpose, transactions } from '../schema/transactions.ts';
import { lockNewestFollowed, raiseFeed } from '../transactions/followed-blocks.ts';
import { payloadOf } from '../transactions/transactions.ts';

/** Work whose transactions are facts for consumers. */
const FED: ReadonlySet<LanePurpose> = new Set(['payout', 'mint', 'redeem']);
/** Whether consumers hear of work of this kind. */
export const isFed = (purpose: LanePurpose): boolean => FED.has(purpose);

/** One transaction in the feed. */
export interface FeedEntry {
  position: number;
  transactionId: string;
  purpose: LanePurpose;
  /** booked: a block shows it as done · taken_back: that block is gone. */
  kind: 'booked' | 'taken_back';
  /** A booking that a later entry takes back. */
  isGone: boolean;
  /** The signed bytes of a payout that is booked. */
  raw?: `0x${string}`;
  /** Of a payout that was taken back: the rewards that it had paid. */
  sequences?: number[];
}

/** The last position; 0 before the first fact. */
export async function feedHead(db: Queries): Promise<number> {
  const [row] = await newestPosition(db, {});
  return row?.feedPosition ?? 0;
}

const newestPosition = preparedQuery((db) =>
  db
    .select({ feedPosition: followedBlocks.feedPosition })
    .from(followedBlocks)
    .orderBy(sql`${followedBlocks.number} desc`)
    .limit(1),
);

/** The last position of all, also where no block is known any more. */
export async function lastPosition(tx: Queries): Promise<number> {
  const [booked] = await tx
    .select({ last: sql<string | number | null>`max(${transactions.feedPosition})` })
    .from(transactions)
    .where(isNotNull(transactions.feedPosition));
  const [takenBack] = await tx
    .select({ last: sql<string | number | null>`max(${feedTakeBacks.position})` })
    .from(feedTakeBacks);
  return Math.max(await feedHead(tx), Number(booked?.last ?? 0), Number(takenBack?.last ?? 0));
}

interface Stretch {
  after: number;
  /** Default: as far as the feed goes. */
  upTo?: number | undefined;
  limit: number;
}

/** The entries after a position, in order, at most `limit`. Read in the commit that draws their consequences. */
export async function readFeed(tx: Queries, stretch: Stretch): Promise<FeedEntry[]> {
  const { after, upTo = Number.MAX_SAFE_INTEGER, limit } = stretch;
  const of = { after, upTo, limit };
  const booked = await bookedAfter(tx, of);
  const entries: FeedEntry[] = booked.map(({ position, raw, ...entry }) => ({
    ...entry,
    position: position ?? 0,
    kind: 'booked',
    isGone: false,
    raw,
  }));
  // Hardly ever is there any; whatever is taken back after this position may have been booked after it too.
  if ((await takenBackAfter(tx, { after, upTo: Number.MAX_SAFE_INTEGER, limit: 1 })).length > 0) {
    const back = await takenBackAfter(tx, of);
    entries.push(...back.map((row) => entryOf(row, { position: row.position, kind: 'taken_back' })));
    const gone = await goneAfter(tx, of);
    entries.push(...gone.map((row) => entryOf(row, { position: row.bookedPosition, kind: 'booked' })));
  }
  return entries.sort((a, b) => a.position - b.position).slice(0, limit);
}

type TakeBack = typeof feedTakeBacks.$inferSelect;

const entryOf = (
  { transactionId, purpose, sequences }: TakeBack,
  { position, kind }: Pick<FeedEntry, 'position' | 'kind'>,
): FeedEntry => ({ position, transactionId, purpose, kind, isGone: kind === 'booked', sequences });

type OfStretch = Of<Required<Stretch>>;

const bookedAfter = preparedQuery((db, of: OfStretch) =>
  db
    .select({
      position: transactions.feedPosition,
      transactionId: transactions.id,
      purpose: transactions.purpose,
      raw: attempts.raw,
    })
    .from(transactions)
    .innerJoin(attempts, eq(attempts.hash, transactions.hash))
    // The condition of its index, whose words SQLite wants to see written out.
    .where(and(sql`feed_position > 0`, sql`feed_position > ${of.after}`, sql`feed_position <= ${of.upTo}`))
    .orderBy(sql`feed_position`)
    .limit(of.limit),
);

const takenBackAfter = preparedQuery((db, of: OfStretch) =>
  db
    .select()
    .from(feedTakeBacks)
    .where(and(gt(feedTakeBacks.position, of.after), lte(feedTakeBacks.position, of.upTo)))
    .orderBy(asc(feedTakeBacks.position))
    .limit(of.limit),
);

const goneAfter = preparedQuery((db, of: OfStretch) =>
  db
    .select()
    .from(feedTakeBacks)
    .where(and(gt(feedTakeBacks.bookedPosition, of.after), lte(feedTakeBacks.bookedPosition, of.upTo)))
    .orderBy(asc(feedTakeBacks.bookedPosition))
    .limit(of.limit),
);

/** Whether these transactions still stand at these positions: no reorganisation was committed between two reads of one commit. */
export async function standsStill(tx: Queries, entries: readonly FeedEntry[]): Promise<boolean> {
  const booked = entries.filter(({ kind, isGone }) => kind === 'booked' && !isGone);
  if (booked.length === 0) return true;
  const positions = booked.map(({ position }) => position);
  return (await stillBooked(tx, { positions })).length === booked.length;
}

const stillBooked = preparedQuery((db, of: Of<{ positions: number[] }>) =>
  db
    .select({ id: transactions.id })
    .from(transactions)
    .where(and(sql`feed_position > 0`, isOneOf(transactions.feedPosition, of.positions))),
);

/**
 * Notes that the facts of blocks from `blockNumber` on are taken back; called before the transactions and what they paid
 * forget those blocks, in the same commit. `sequencesOf`: the rewards that a payload carries.
 */
export async function takeBackFacts(
  tx: Queries,
  of: { blockNumber: number; sequencesOf: (raw: `0x${string}`) => number[] },
): Promise<void> {
  const newest = await lockNewestFollowed(tx);
  const lost = await tx
    .select({
      transactionId: transactions.id,
      purpose: transactions.purpose,
      bookedPosition: transactions.feedPosition,
    })
    .from(transactions)
    .where(
      and(
        eq(transactions.status, 'included'),
        sql`${transactions.status} <> 'final'`,
        gte(transactions.blockNumber, of.blockNumber),
        isNotNull(transactions.feedPosition),
      ),
    )
    .orderBy(asc(transactions.feedPosition), asc(transactions.id));
  // Without a block before, the next one asks for the last position of all.
  let position = newest?.feedPosition ?? 0;
  const rows: TakeBack[] = [];
  for (const { transactionId, purpose, bookedPosition } of lost) {
    position += 1;
    const sequences = purpose === 'payout' ? await paidBy(tx, transactionId, of.sequencesOf) : [];
    rows.push({ position, bookedPosition: bookedPosition ?? 0, transactionId, purpose, sequences });
  }
  await inChunks(rows, async (some) => {
    await tx.insert(feedTakeBacks).values(some);
    return [];
  });
  await raiseFeed(tx, { number: of.blockNumber - 1, feedPosition: position });
}

/** The rewards that a payout has paid, as the ledger knows it now. */
async function paidBy(
  tx: Queries,
  transactionId: string,
  sequencesOf: (raw: `0x${string}`) => number[],
): Promise<number[]> {
  const raw = await payloadOf(tx, transactionId);
  const paid = await inChunks(raw ? sequencesOf(raw) : [], (some) =>
    tx
      .select({ sequence: rewards.sequence })
      .from(rewards)
      .where(
        and(
          inArray(rewards.sequence, some),
          eq(rewards.transactionId, transactionId),
          isNull(rewards.failure),
        ),
      ),
  );
  return paid.map(({ sequence }) => sequence);
}
