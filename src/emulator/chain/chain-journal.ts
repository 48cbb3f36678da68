/** Where the local chain's blocks are kept, so that a killed chain can be played again. */
import type { Hex } from 'viem';

/** One block with transactions, or a run of empty blocks that follow each other at equal distances. */
export interface JournalBlock {
  /** Smaller than `number` only for a run of empty blocks. */
  firstNumber: number;
  /** The block, or the last one of the run. */
  number: number;
  /** Of block `number`. */
  hash: Hex;
  /** The hash of block `firstNumber - 1`. */
  parentHash: Hex;
  /** Of block `number`. */
  timestampSeconds: number;
  /** Between the blocks of a run; 0 for a single block. */
  intervalSeconds: number;
  /** Wei per gas in block `firstNumber`, in decimal digits. */
  baseFeeWei: string;
  /** Signed transactions in block order; a first byte of 0xff marks one that has no signature of its own. */
  rawTransactions: Hex[];
}

/**
 * The port for storage. Entries never overlap and leave no gap; block 0 is the first one. `append` is one
 * durable write: when it resolves, a power loss takes nothing of it away.
 */
export interface ChainJournal {
  /** Replaces everything that reaches to `blocks[0].firstNumber` or beyond by `blocks`, all or nothing. */
  append(blocks: JournalBlock[]): Promise<void>;
  /** The first `limit` entries with `number > afterBlock`, in order; -1 starts at the first. */
  read(page: { afterBlock: number; limit: number }): Promise<JournalBlock[]>;
  /** The highest `number`, or -1 when there is none. */
  lastBlock(): Promise<number>;
  /** Removes every entry with `number > block`. */
  truncateAfter(block: number): Promise<void>;
}
