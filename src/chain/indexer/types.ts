/** What a follower of the chain needs, and what it tells of each block. */
import type { Database } from '../../ledger/database/database.ts';
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
  onIncluded: (transaction: BookedTransaction) => void;
  onReading?: ((reading: Reading) => void) | undefined;
  /** A block is booked, or blocks were taken back: consumers have something to read. */
  onFed?: (() => void) | undefined;
  /** Blocks were taken back: what they held is to be sent again. */
  onReorganized: () => void;
}
