/** Reads the next facts of the feed: some transactions of one kind, with what each did for which brand. */
import { sequencesInPayout } from '../../chain/contracts/payout-batch.ts';
import { mintsOfFacts, paidRewards, rewardsOfFacts } from '../../ledger/consumers/facts.ts';
import { type FeedEntry, readFeed, standsStill } from '../../ledger/consumers/feed.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { doneBy } from '../../ledger/perks/redemptions.ts';
import { recoveredAmong } from '../../ledger/recovery/recoveries.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Fact, Facts } from './consumer.ts';

/** Facts up to a position. */
export interface Piece extends Facts {
  upTo: number;
}

/** Transactions that are looked at for one commit; the bytes of a full payout are some 20 kB of text. */
const ENTRIES_AT_ONCE = 8;
/** Rewards that one commit is for, which takes a few milliseconds; a payout is never split. */
const REWARDS_AT_ONCE = 128;

/**
 * The facts after a position, up to another at most. Undefined when there are none; `moved` when a reorganisation came in
 * between, so that they are to be read again.
 */
export async function readPiece(
  tx: Queries,
  of: { after: number; upTo?: number | undefined },
): Promise<Piece | 'moved' | undefined> {
  const entries = firstOfOneKind(await readFeed(tx, { ...of, limit: ENTRIES_AT_ONCE }));
  const [first] = entries;
  const last = entries.at(-1);
  if (!first || !last) return undefined;
  const transactionIds = entries.map(({ entry }) => entry.transactionId);
  const recovered = await recoveredAmong(tx, 'transaction', transactionIds);
  const facts = await factsOf(tx, entries, recovered);
  // On Postgres each statement sees a moment of its own.
  if (
    !(await standsStill(
      tx,
      entries.map(({ entry }) => entry),
    ))
  )
    return 'moved';
  return {
    kind: first.entry.kind,
    isGone: first.entry.isGone,
    transactionIds,
    upTo: last.entry.position,
    facts,
  };
}

/** An entry with the sequences of the rewards that it pays, or had paid. */
interface Read {
  entry: FeedEntry;
  sequences: number[];
}

/** The first entries that are of one kind and have not too many rewards. */
function firstOfOneKind(entries: FeedEntry[]): Read[] {
  const taken: Read[] = [];
  let rewards = 0;
  for (const entry of entries) {
    const kind = taken[0]?.entry ?? entry;
    if (entry.kind !== kind.kind || entry.isGone !== kind.isGone) break;
    if (taken.length > 0 && rewards >= REWARDS_AT_ONCE) break;
    const sequences =
      entry.sequences ?? (entry.purpose === 'payout' && entry.raw ? sequencesInPayout(entry.raw) : []);
    rewards += sequences.length;
    if (taken.length > 0 && rewards > REWARDS_AT_ONCE) break;
    taken.push({ entry, sequences });
  }
  return taken;
}

async function factsOf(tx: Queries, read: Read[], recovered: ReadonlySet<string>): Promise<Fact[]> {
  return [
    ...(await rewardFacts(tx, read, recovered)),
    ...(await mintFacts(tx, idsOf(read, 'mint'), recovered)),
    ...(await redemptionFacts(tx, idsOf(read, 'redeem'), recovered)),
  ];
}

const idsOf = (read: Read[], purpose: FeedEntry['purpose']) =>
  read.flatMap(({ entry }) => (entry.purpose === purpose ? entry.transactionId : []));

async function rewardFacts(tx: Queries, read: Read[], recovered: ReadonlySet<string>): Promise<Fact[]> {
  const sequences = read.flatMap((one) => one.sequences);
  if (sequences.length === 0) return [];
  const isBooked = read.some(({ entry }) => entry.kind === 'booked' && !entry.isGone);
  const carriers = new Map(
    read.flatMap(({ entry, sequences: own }) => own.map((one) => [one, entry.transactionId] as const)),
  );
  const rewards = isBooked ? await paidRewards(tx, { sequences }) : await rewardsOfFacts(tx, sequences);
  return rewards
    .sort((a, b) => a.sequence - b.sequence)
    .flatMap((reward): Fact[] => {
      const transactionId = carriers.get(reward.sequence) ?? '';
      // A reward that an earlier transaction was to pay, without effect, is bound to another one by now.
      if (isBooked && reward.transactionId !== transactionId) return [];
      const isRecovered = recovered.has(transactionId);
      const brandId = reward.brandId as BrandId;
      return [{ of: 'reward', brandId, transactionId, isRecovered, reward }];
    });
}

async function mintFacts(tx: Queries, ids: string[], recovered: ReadonlySet<string>): Promise<Fact[]> {
  const minted = await mintsOfFacts(tx, ids);
  return minted.map((mint) => {
    const { brandId, transactionId } = mint.mint;
    const id = transactionId ?? '';
    return { of: 'mint', brandId, transactionId: id, isRecovered: recovered.has(id), mint };
  });
}

async function redemptionFacts(tx: Queries, ids: string[], recovered: ReadonlySet<string>): Promise<Fact[]> {
  const redeemed = await doneBy(tx, ids);
  return redeemed.map((redemption) => {
    const { transactionId } = redemption;
    const brandId = redemption.redemption.brandId as BrandId;
    const isRecovered = recovered.has(transactionId);
    return { of: 'redemption', brandId, transactionId, isRecovered, redemption };
  });
}
