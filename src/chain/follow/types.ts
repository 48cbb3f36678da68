/** What a follower of the chain needs, and what it tells of each block. */
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { LanePurpose, TransactionOutcome } from '../../ledger/schema/transactions.ts';
import type { Settlements } from '../../ledger/transactions/settle.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Log } from '../../lib/log.ts';
import type { Alarms } from '../alarms.ts';
import type { ChainClient } from '../rpc/client.ts';

/** A transaction of ours that a block holds. */
export interface BookedTransaction {
  id: string;
  hash: `0x${string}`;
  purpose: LanePurpose;
  outcome: TransactionOutcome;
  /** Rewards that it did not pay, by id, with the reason. */
  failures: Map<string, string>;
}

/** The same with its signed bytes. */
export type BookedBytes = BookedTransaction & { raw: `0x${string}` };

/**
 * Queues what the outside is told of transactions that are confirmed now, in the commit that books their block. Returns how
 * many messages are due.
 */
export type Announce = (
  tx: Queries,
  confirmed: { transactions: BookedBytes[]; nowMs: number },
) => Promise<number>;

/**
 * Counts what payouts have paid, a first piece in the commit that books their block, and takes it back in the commit that
 * takes the block back. What a process that ends has not counted, `countEarlierPayouts` finds.
 */
export interface PaidCounts {
  /** The payouts among these that have paid something, in pieces small enough for one commit; the same for the same. */
  pieces(booked: BookedBytes[]): BookedBytes[][];
  count(tx: Queries, payouts: BookedBytes[]): Promise<void>;
  takeBack(tx: Queries, transactionIds: string[]): Promise<void>;
}

/** How far the chain is read: the newest block that the ledger has, of the newest there is to read. */
export interface Reading {
  block: number;
  of: number;
  /** The newest block of the chain, whose confirmations may still be missing. */
  head: number;
}

interface FollowSettings {
  escrow: `0x${string}`;
  token: `0x${string}`;
  pointsSale: `0x${string}`;
  /** The first block that can hold anything of ours. */
  firstBlock: number;
  /** A block is read once it has this many confirmations, itself counted. */
  confirmations: number;
  /** Depth from which a block counts as final. */
  finalityBlocks: number;
}

export interface FollowDeps {
  database: Database;
  chain: ChainClient;
  clock: Clock;
  /** Measures how long a block is missing; default `clock`. */
  realClock?: Clock;
  log: Log;
  alarms: Alarms;
  crash: Crash;
  /** Settle work once its block is final. */
  settlements: Settlements;
  settings: FollowSettings;
  /** Without it, leaderboards count no rewards. */
  paidCounts?: PaidCounts | undefined;
  /** Without it, nobody is told. */
  announce?: Announce | undefined;
  /** Messages are in the ledger and due. */
  onAnnounced?: (() => void) | undefined;
  onIncluded: (transaction: BookedTransaction) => void;
  onReading?: ((reading: Reading) => void) | undefined;
  /** Whether requests wait, before which leaderboards come last. */
  isAwaited?: (() => boolean) | undefined;
  /** Blocks were taken back: what they held is to be sent again. */
  onReorganized: () => void;
}
