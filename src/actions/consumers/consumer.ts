/** What a consumer is: something that follows from booked payouts, mints and redemptions, at its own pace. */
import type { FactOfMint, FactOfReward } from '../../ledger/consumers/facts.ts';
import type { BusinessTime, Queries } from '../../ledger/database/database.ts';
import type { doneBy } from '../../ledger/perks/redemptions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export type FactOfRedemption = Awaited<ReturnType<typeof doneBy>>[number];

/** One thing that a transaction did for a brand. */
export type Fact = {
  brandId: BrandId;
  transactionId: string;
  /** The transaction came back by a recovery: whoever was told of it before the ledger was lost is not told again. */
  isRecovered: boolean;
} & (
  | { of: 'reward'; reward: FactOfReward }
  | { of: 'mint'; mint: FactOfMint }
  | { of: 'redemption'; redemption: FactOfRedemption }
);

/** Some facts of one kind, in their order. */
export interface Facts {
  /** booked: a block shows them · taken_back: that block is gone, and what they led to goes back with it. */
  kind: 'booked' | 'taken_back';
  /** Booked, and taken back further on. What adds up counts them, and takes them off there; nobody needs to be told. */
  isGone: boolean;
  transactionIds: string[];
  facts: Fact[];
}

/** What consumers work with, beside the ledger. */
export interface ConsumerTools {
  businessTime: BusinessTime;
  clock: Pick<Clock, 'now'>;
  random: Pick<Random, 'uuid'>;
}

export interface Consumer {
  /** In `consumer_positions`; never changed. */
  name: string;
  /** Where one begins that is new to a ledger: with all that is booked, or with what comes from now on. */
  begins: 'at the first fact' | 'now';
  /**
   * Writes what follows from these, in the commit that moves the consumer past them. Returns how many messages to brands
   * are due by it.
   */
  digest(tx: Queries, facts: Facts, tools: ConsumerTools): Promise<number>;
}
