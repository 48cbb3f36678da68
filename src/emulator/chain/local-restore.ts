/** Brings the local chain back from its newest good checkpoint and the journal's tail. */
import { numberToHex } from 'viem';
import type { ChainJournal, JournalBlock } from '../../ledger/emulator/chain-journal.ts';
import type { Log } from '../../lib/log.ts';
import { type Checkpoint, isInJournal, readCheckpoint } from './local-checkpoint.ts';
import { blockCall, headBlock, type LocalRpc, toLocalBlock } from './local-rpc.ts';
import { isUnsigned, sendAgain } from './local-transactions.ts';
import { loadState } from './state-transfer.ts';

const ENTRIES_PER_PAGE = 200;

/** Bounds how long Anvil works on one request. */
const EMPTY_BLOCKS_PER_REQUEST = 1_000;

/**
 * Loads a checkpoint into a fresh Anvil with mining off. False, with a warning, when it is not on the
 * journal's line, cannot be read, or holds a state that does not belong to its block; Anvil may then hold
 * a part of it and must not be used any more.
 */
export async function loadCheckpoint(parts: {
  rpc: LocalRpc;
  journal: ChainJournal;
  checkpoint: Checkpoint;
  log: Log;
}): Promise<boolean> {
  const { rpc, journal, checkpoint, log } = parts;
  const skip = (why: string) => {
    log.warn(
      { block: checkpoint.number, file: checkpoint.path, why },
      'skipped a checkpoint of the local chain',
    );
    return false;
  };
  if (!(await isInJournal(journal, checkpoint))) return skip('the journal has another block at its height');
  try {
    await loadState(rpc.url, readCheckpoint(checkpoint));
  } catch (error) {
    return skip(error instanceof Error ? error.message : 'the checkpoint cannot be loaded');
  }
  const head = await headBlock(rpc);
  if (head.hash !== checkpoint.hash) return skip('the checkpoint holds another block');
  // An empty block leaves the state as it is, so its root tells whether the loaded state is the block's.
  const snapshot = await rpc.call('evm_snapshot', []);
  await rpc.call('evm_setNextBlockTimestamp', [head.timestampSeconds]);
  await rpc.call('evm_mine', []);
  const probe = await headBlock(rpc);
  await rpc.call('evm_revert', [snapshot]);
  if (probe.stateRoot !== head.stateRoot) return skip('the state of the checkpoint is not that of its block');
  return true;
}

/**
 * Mines everything that the journal has after the chain's head again, with the same times, fees and
 * transactions, and therefore with the same hashes. Anvil's mining must be off. Where a block comes back
 * different (a user changed the state without a transaction), it warns once and goes on. The caller sets the
 * chain's time afterwards. `onProgress` hears which block is mined again, of how many there are.
 */
export async function replayJournal(parts: {
  rpc: LocalRpc;
  journal: ChainJournal;
  log: Log;
  onProgress?: ((progress: { block: number; of: number }) => void) | undefined;
}): Promise<void> {
  const { rpc, journal, log, onProgress } = parts;
  let afterBlock = (await headBlock(rpc)).number;
  const of = await journal.lastBlock();
  if (afterBlock < of) onProgress?.({ block: afterBlock, of });
  let faithful = true;
  for (;;) {
    const entries = await journal.read({ afterBlock, limit: ENTRIES_PER_PAGE });
    if (entries.length === 0) return;
    for (const entry of entries) {
      if (entry.rawTransactions.length > 0) await mineTransactions(rpc, entry, log);
      else await mineEmpty(rpc, entry);
    }
    afterBlock = entries.at(-1)?.number ?? afterBlock;
    onProgress?.({ block: afterBlock, of });
    if (!faithful) continue;
    const blocks = await rpc.all(entries.map((entry) => blockCall(entry.number)));
    const different = entries.find((entry, index) => toLocalBlock(blocks[index])?.hash !== entry.hash);
    if (!different) continue;
    faithful = false;
    log.warn(
      { block: different.number },
      'the local chain differs from its journal from this block on: changes made without a transaction, such as ' +
        'anvil_setBalance, are kept by checkpoints only',
    );
  }
}

async function mineTransactions(rpc: LocalRpc, entry: JournalBlock, log: Log): Promise<void> {
  const prepare = header(entry.baseFeeWei, entry.timestampSeconds);
  const [only, ...others] = entry.rawTransactions;
  try {
    if (only && others.length === 0 && !isUnsigned(only)) {
      // Most blocks; one request instead of three halves the time of a restart.
      await rpc.all([...prepare, { method: 'eth_sendRawTransaction', params: [only] }]);
    } else {
      await rpc.all(prepare);
      // Sent one after the other, since Anvil orders transactions of equal fee by arrival.
      for (const transaction of entry.rawTransactions) await sendAgain(rpc, transaction);
    }
  } catch (error) {
    log.warn(
      { block: entry.number, why: error instanceof Error ? error.message : 'unknown' },
      'a transaction of the local chain could not be replayed',
    );
  }
  await rpc.call('anvil_mine', [numberToHex(1)]);
}

async function mineEmpty(rpc: LocalRpc, entry: JournalBlock): Promise<void> {
  const { number, timestampSeconds, intervalSeconds } = entry;
  for (let first = entry.firstNumber; first <= number; first += EMPTY_BLOCKS_PER_REQUEST) {
    const count = Math.min(EMPTY_BLOCKS_PER_REQUEST, number - first + 1);
    const prepare = header(entry.baseFeeWei, timestampSeconds - (number - first) * intervalSeconds);
    await rpc.all([
      // Within a run Anvil lowers the fee itself.
      ...(first === entry.firstNumber ? prepare : prepare.slice(1)),
      // Set for every block, since anvil_mine would add an argument to the real time, which goes on meanwhile.
      { method: 'anvil_setBlockTimestampInterval', params: [intervalSeconds] },
    ]);
    await rpc.call('anvil_mine', [numberToHex(count)]);
  }
}

const header = (baseFeeWei: string, timestampSeconds: number) => [
  { method: 'anvil_setNextBlockBaseFeePerGas', params: [numberToHex(BigInt(baseFeeWei))] },
  { method: 'evm_setNextBlockTimestamp', params: [timestampSeconds] },
];
