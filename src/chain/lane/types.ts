/** What a lane is made of, what it carries, and what it knows of a transaction under way. */
import type { Address, Hex, TransactionSerializableEIP1559 } from 'viem';
import type { Database, Queries } from '../../ledger/database/database.ts';
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import type { Settlements } from '../../ledger/transactions/settle.ts';
import type { Transaction, UnsettledTransaction } from '../../ledger/transactions/transactions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { RepeatedWarning } from '../../lib/failures/failure-log.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Alarms } from '../alarms.ts';
import type { ChainClient, Receipt } from '../rpc/client.ts';
import type { FeePolicy, Fees } from './fees.ts';

/** A transaction of ours in a block that the ledger has read without knowing it. */
export interface LateFound {
  transaction: Transaction;
  kind: 'payload' | 'noop';
  block: { number: number; hash: Hex };
  receipt: Receipt;
}

/** What a transaction does. */
export interface Payload {
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
}

/** Where a lane's work comes from. */
export interface LaneWork {
  /** Whether a piece of work may be there to bind. While none is and nothing is in flight, the lane does not ask the chain. */
  isWaiting(db: Queries): Promise<boolean>;
  /**
   * Binds the next pieces of work, in order, one to each of these transactions, and returns what the chain is to do for
   * each; fewer when less work waits. Runs inside the commit that stores the signed bytes, perhaps several times.
   * `fees`: what each unit of gas will offer.
   */
  bindNext(tx: Queries, transactionIds: string[], fees: Fees): Promise<Payload[]>;
  /** Signed bytes are stored. */
  stored?(transaction: { id: string; hash: Hex }): void;
  /** A node has the bytes. */
  sent?(transaction: { id: string; hash: Hex }): void;
}

export interface LaneSettings {
  purpose: LanePurpose;
  chainId: number;
  fees: FeePolicy;
  /** Transactions sent and not yet in a block; public nodes promise to keep 16 of one account. */
  inFlightMax: number;
  /** The most transactions stored in one commit. */
  storeMax: number;
  leaseMs: number;
  /** Bytes that are not in a block after this time are offered to the node again. */
  resendAfterMs: number;
  /** Bytes that are not in a block after this time are replaced by a better offer. */
  bumpAfterMs: number;
  /** The lowest transaction raises an alarm when no node has taken it for this time. */
  untakenAfterMs: number;
  /** A replacement offers no more than this for all its gas; without it, the fee cap alone counts. */
  offerMaxWei?: bigint;
  /** A nonce that another transaction than ours used is given up this many blocks later; without it, never. */
  lostAfterBlocks?: number;
}

export interface LaneDeps {
  database: Database;
  /** `database` puts the commits of several lanes together, so that statements are cheaper in one than by themselves. */
  sharesCommits?: boolean;
  chain: ChainClient;
  signer: Signer;
  work: LaneWork;
  /** Business time, for rows. */
  clock: Clock;
  /** Real time, for leases and patience: moving the emulator's clock must not expire them. */
  realClock: Clock;
  random: Random;
  /** Name of this process among those that share the database. */
  owner: string;
  alarms: Alarms;
  log: Log;
  crash: Crash;
  /** Settle work whose nonce a foreign transaction has used. */
  settlements: Settlements;
  /** Books it as its block would have; inside a commit that has locked the newest block. To be called after the commit. */
  bookLate: (tx: Queries, found: LateFound) => Promise<() => void>;
  settings: LaneSettings;
}

/** What a lane gives those who offer its transactions. */
export interface BroadcastDeps extends LaneDeps {
  /** Tells the log that a node took something not, once for each cause. */
  notTaken: RepeatedWarning;
}

export interface Lane {
  readonly address: Hex;
  /** Does what there is to do now, without waiting; 'worked' when there may be more. */
  turn(): Promise<'worked' | 'idle'>;
  /** Rereads the rows before going on: the chain took blocks back, or another process changed them. */
  reload(): void;
  /** Gives the lease back. */
  release(): Promise<void>;
}

/** A transaction that no block is known to hold. */
export interface InFlight extends UnsettledTransaction {
  /** A node has said that it has these bytes. */
  taken: boolean;
  /** A node refused them because they offer too little. */
  tooCheap: boolean;
  /**
   * What has become of all offers of these bytes so far. refused: each by every node that it went to, and the ledger
   * says so · maybe_taken: of one at least that is not known.
   */
  offers: 'none' | 'refused' | 'maybe_taken';
  /** Since when no node has taken any bytes of this nonce that this process offered; undefined once one has. */
  untakenSinceMs: number | undefined;
  /** When the bytes were first and last offered; undefined before. */
  firstOfferedMs: number | undefined;
  lastOfferedMs: number | undefined;
}

/** The port to a sending account's key: held here, or by a key service. */
export interface Signer {
  readonly address: Address;
  /** The whole signed transaction, ready to be sent. The same input gives the same bytes. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
}
