/** Writes every new block of the local chain into its journal, and follows the chain when it forks. */
import type { Hex } from 'viem';
import type { ChainJournal, JournalBlock } from '../../ledger/emulator/chain-journal.ts';
import { createMutex } from '../../lib/mutex.ts';
import { stopwatch } from '../../lib/timers.ts';
import { blockCall, headBlock, type LocalBlock, type LocalRpc, toLocalBlock } from './local-rpc.ts';
import { readTransactions } from './local-transactions.ts';

export type JournalWriter = ReturnType<typeof createJournalWriter>;

/** Bounds one request and one write; a chain mined faster than this is read in several rounds. */
const BLOCKS_PER_ROUND = 100;

/** How much of the journal is compared at a time when looking for the block before a fork. */
const FORK_WINDOW_BLOCKS = 128;

/** An idle chain with a block time must not cost a disk flush each block. */
const EMPTY_BLOCKS_SAVE_MS = 2_000;

export function createJournalWriter(parts: {
  rpc: LocalRpc;
  journal: ChainJournal;
  tail: JournalBlock | undefined;
}) {
  const { rpc } = parts;
  const exclusive = createMutex();
  const end = createJournalEnd(parts);

  /** True when the journal has reached the head that was seen. */
  const catchUp = async (): Promise<boolean> => {
    const head = await headBlock(rpc);
    const tail = end.tail();
    if (tail && head.number === tail.number && head.hash === tail.hash) return true;
    if (tail && head.number <= tail.number) {
      await end.stepBack();
      return false;
    }
    const from = (tail?.number ?? -1) + 1;
    const to = Math.min(head.number, from + BLOCKS_PER_ROUND - 1);
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const blocks = (await rpc.all(numbers.map(blockCall))).map(toLocalBlock);
    const linked = linkedTo(tail?.hash, blocks);
    if (linked.length === 0) {
      await end.stepBack();
      return false;
    }
    const transactions = await readTransactions(rpc, linked);
    // Undefined: the chain forked since the blocks were read.
    if (!transactions) return false;
    for (const [index, block] of linked.entries()) end.add(block, transactions[index] ?? []);
    return linked.at(-1)?.hash === head.hash;
  };

  const write = async (everything: boolean) => {
    // What an earlier try could not store goes first: blocks wait in memory only up to one round.
    if (end.unsaved().length >= BLOCKS_PER_ROUND) await end.save();
    while (!(await catchUp())) if (end.unsaved().length >= BLOCKS_PER_ROUND) await end.save();
    const mayWait = end.unsaved().every((entry) => entry.rawTransactions.length === 0);
    if (everything || !mayWait || end.sinceSaved() >= EMPTY_BLOCKS_SAVE_MS) await end.save();
  };

  return {
    /** Reads the chain once and stores new blocks; empty blocks alone may wait for the next call. */
    look: () => exclusive(() => write(false)),
    /** Stores everything up to the chain's head, empty blocks included. */
    flush: () => exclusive(() => write(true)),
    /** While true, every block gets an entry of its own, so that a checkpoint can end exactly at one. */
    keepApart: end.keepApart,
    /** Blocks seen since the start, counted again after a fork. */
    seenBlocks: end.seenBlocks,
  };
}

/** The end of the journal: its newest entry, the blocks not saved yet, and the point where the chain forked. */
function createJournalEnd(parts: { rpc: LocalRpc; journal: ChainJournal; tail: JournalBlock | undefined }) {
  const { rpc, journal } = parts;
  let tail = parts.tail;
  let unsaved: JournalBlock[] = [];
  let sinceSaved = stopwatch();
  let apart = false;
  let seen = 0;

  const save = async () => {
    if (unsaved.length === 0) return;
    await journal.append(unsaved);
    unsaved = [];
    sinceSaved = stopwatch();
  };

  return {
    tail: () => tail,
    unsaved: () => unsaved,
    sinceSaved: () => sinceSaved(),
    seenBlocks: () => seen,
    save,
    keepApart(value: boolean) {
      apart = value;
    },
    add(block: LocalBlock, rawTransactions: Hex[]) {
      seen += 1;
      const longer = !apart && rawTransactions.length === 0 ? extend(tail, block) : undefined;
      // The longer run replaces the shorter one, here and in the journal.
      if (longer && unsaved.at(-1) === tail) unsaved.pop();
      tail = longer ?? {
        firstNumber: block.number,
        number: block.number,
        hash: block.hash,
        parentHash: block.parentHash,
        timestampSeconds: block.timestampSeconds,
        intervalSeconds: 0,
        baseFeeWei: String(block.baseFeeWei),
        rawTransactions,
      };
      unsaved.push(tail);
    },
    /** Steps back to the newest entry that the chain still has, and forgets what came after it. */
    async stepBack() {
      await save();
      let upTo = await journal.lastBlock();
      while (upTo >= 0) {
        const page = await journal.read({ afterBlock: upTo - FORK_WINDOW_BLOCKS, limit: FORK_WINDOW_BLOCKS });
        const entries = page.filter((entry) => entry.number <= upTo);
        const blocks = await rpc.all(entries.map((entry) => blockCall(entry.number)));
        const common = entries.findLast((entry, index) => toLocalBlock(blocks[index])?.hash === entry.hash);
        if (common) {
          await journal.truncateAfter(common.number);
          tail = common;
          return;
        }
        upTo = (entries[0]?.firstNumber ?? 0) - 1;
      }
      await journal.truncateAfter(-1);
      tail = undefined;
    },
  };
}

/** The blocks up to the first that does not follow on the one before it; `parentHash` undefined: any first block will do. */
function linkedTo(parentHash: Hex | undefined, blocks: (LocalBlock | undefined)[]): LocalBlock[] {
  const linked: LocalBlock[] = [];
  let wanted = parentHash ?? blocks[0]?.parentHash;
  for (const block of blocks) {
    if (!block || block.parentHash !== wanted) break;
    linked.push(block);
    wanted = block.hash;
  }
  return linked;
}

/** The run with this empty block appended; undefined when its time or fee does not continue the run. */
function extend(run: JournalBlock | undefined, block: LocalBlock): JournalBlock | undefined {
  if (!run || run.number === 0 || run.rawTransactions.length > 0) return undefined;
  const length = run.number - run.firstNumber + 1;
  const intervalSeconds = block.timestampSeconds - run.timestampSeconds;
  if (length > 1 && intervalSeconds !== run.intervalSeconds) return undefined;
  if (emptyBlockFee(BigInt(run.baseFeeWei), length) !== block.baseFeeWei) return undefined;
  const { number, hash, timestampSeconds } = block;
  return { ...run, number, hash, timestampSeconds, intervalSeconds };
}

/** EIP-1559: each empty block lowers the fee of the next one by an eighth. */
function emptyBlockFee(firstFeeWei: bigint, blocks: number): bigint {
  let feeWei = firstFeeWei;
  for (let i = 0; i < blocks && feeWei >= 8n; i += 1) feeWei -= feeWei / 8n;
  return feeWei;
}
