/** The emulator's chain: Anvil whose blocks survive SIGKILL and follow the adjustable clock. */
import { join } from 'node:path';
import type { Hex } from 'viem';
import {
  type AnvilExit,
  type AnvilProcess,
  LOCAL_CHAIN_ID,
  startAnvil,
} from '../../chain/development/anvil.ts';
import type { ChainJournal, JournalBlock } from '../../ledger/emulator/chain-journal.ts';
import type { AdjustableClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { delay, stopwatch, within } from '../../lib/timers.ts';
import { createJournalWriter, type JournalWriter } from './journal-writer.ts';
import { listCheckpoints, takeCheckpoint } from './local-checkpoint.ts';
import { loadCheckpoint, replayJournal } from './local-restore.ts';
import { createLocalRpc, headBlock, type LocalRpc } from './local-rpc.ts';
import { createStrandedWatch } from './local-stranded.ts';
import { type ChainTime, createChainTime } from './local-time.ts';

export interface LocalChainSettings {
  /** Undefined: the chain lives in memory only and starts empty. */
  journal?: ChainJournal | undefined;
  /** Blocks go into the journal when `save` is called, and not before: for a stack that is dropped at its end. */
  isSavedOnlyOnDemand?: boolean | undefined;
  /** Checkpoints go into its folder `chain`. */
  dataDir: string;
  clock: AdjustableClock;
  bindAddress: string;
  /** 0 takes a free port. */
  port: number;
  /** 0 mines each transaction at once. */
  blockTimeSeconds: number;
  /** How many blocks back reorgs and calls to old states can reach; each costs a copy of the state. */
  historyBlocks?: number;
  /** A node for a chain without blocks that is started already; undefined when somebody has it. */
  takePrestartedNode?: (() => Promise<AnvilProcess> | undefined) | undefined;
  /** Hears which of the journal's blocks is mined again. */
  onRestoring?: ((progress: { block: number; of: number }) => void) | undefined;
  /** Replaces `CHECKPOINT_EVERY_BLOCKS`. */
  checkpointEveryBlocks?: number;
  log: Log;
}

export interface LocalChain {
  rpcUrl: string;
  port: number;
  chainId: number;
  pid: number | undefined;
  guardPids: number[];
  /** The number of the newest block that came back; 0 for a new chain. */
  restoredBlocks: number;
  /** Resolves when every block up to the head is durably in the journal. */
  flush(): Promise<void>;
  /** The same, with a checkpoint where the chain has any; one that blocks come too fast for is left out. */
  save(): Promise<void>;
  /** The newest block. */
  head(): Promise<{ number: number; hash: Hex }>;
  /** Resolves when the next block will carry the clock's time; a change of the clock calls it automatically. */
  syncClock(): Promise<void>;
  /** Saves everything with a checkpoint and ends Anvil; may be called again. */
  stop(): Promise<void>;
  /** Resolves when Anvil has ended; `asked` is false unless `stop` ended it. */
  exited: Promise<AnvilExit>;
}

/** Replay takes about a millisecond a block, so a restart never replays for much more than a second. */
const CHECKPOINT_EVERY_BLOCKS = 1_000;

/** A dump writes the whole chain again; on an old chain, dumps may take at most this share of the time. */
const PAUSE_PER_DUMP_TIME = 20;

/** How often the chain is read. A SIGKILL can lose this much of it; the engine sends those transactions again. */
const LOOK_MS = 25;
/** A chain without new blocks is polled less often, to save processor time. */
const IDLE_LOOK_MS = 250;
const IDLE_AFTER_LOOKS = 80;

/** How long the shell around a node takes to tell that it has ended, on a busy machine. */
const EXIT_TOLD_MS = 500;

/**
 * Starts the chain, restored from the journal if that has blocks. Only checkpoints keep changes without a
 * transaction (such as `anvil_setBalance`); unsent and pending transactions are lost.
 * Rejects with `AnvilError` when Anvil does not start, and with the journal's own errors.
 */
export async function startLocalChain(settings: LocalChainSettings): Promise<LocalChain> {
  const { journal, clock, log } = settings;
  const dir = join(settings.dataDir, 'chain');
  const [genesis] = journal ? await journal.read({ afterBlock: -1, limit: 1 }) : [];
  const genesisTimeSeconds = genesis?.timestampSeconds ?? Math.floor(clock.now() / 1000);
  const start = () =>
    startAnvil({ ...settings, chainId: LOCAL_CHAIN_ID, genesisTimeSeconds, miningOff: true });

  let anvil = await ((genesis ? undefined : settings.takePrestartedNode?.()) ?? start());
  let rpc = createLocalRpc(anvil.rpcUrl);
  try {
    if (journal && genesis) {
      const elapsedMs = stopwatch();
      for (const checkpoint of await listCheckpoints(dir)) {
        if (await loadCheckpoint({ rpc, journal, checkpoint, log })) break;
        await anvil.stop();
        anvil = await start();
        rpc = createLocalRpc(anvil.rpcUrl);
      }
      const loadedBlock = (await headBlock(rpc)).number;
      await replayJournal({ rpc, journal, log, onProgress: settings.onRestoring });
      const block = (await headBlock(rpc)).number;
      log.info({ block, replayed: block - loadedBlock, ms: Math.round(elapsedMs()) }, 'local chain restored');
    }
    const restoredBlocks = (await headBlock(rpc)).number;
    const time = createChainTime({ rpc, clock });
    await time.sync();
    const memory =
      journal && !settings.isSavedOnlyOnDemand && (await remember({ rpc, journal, dir, settings }));
    if (settings.blockTimeSeconds > 0) await rpc.call('evm_setIntervalMining', [settings.blockTimeSeconds]);
    else await rpc.call('evm_setAutomine', [true]);
    return watch({ anvil, rpc, time, memory: memory || undefined, restoredBlocks, settings });
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

interface Memory {
  writer: JournalWriter;
  /** Takes a checkpoint when enough has happened since the last one; never two at a time. */
  checkpointWhenDue(): void;
  /** Takes one now. */
  checkpoint(): Promise<void>;
  /** Waits for a checkpoint under way, and takes a last one if there is anything new. */
  finish(): Promise<void>;
}

async function remember(parts: {
  rpc: LocalRpc;
  journal: ChainJournal;
  dir: string;
  settings: LocalChainSettings;
}): Promise<Memory> {
  const { rpc, journal, dir, settings } = parts;
  const everyBlocks = settings.checkpointEveryBlocks ?? CHECKPOINT_EVERY_BLOCKS;
  const writer = createJournalWriter({ rpc, journal, tail: await lastEntry(journal) });
  await writer.flush();
  const newest = (await listCheckpoints(dir))[0];
  // Replayed blocks count, so that a chain that is killed again and again gets its checkpoint too.
  let countedFrom = writer.seenBlocks() - (await journal.lastBlock()) + (newest?.number ?? 0);
  let sinceMs = stopwatch();
  let pauseMs = 0;
  let underWay: Promise<void> | undefined;

  const checkpoint = async () => {
    countedFrom = writer.seenBlocks();
    const taken = await takeCheckpoint({ rpc, journal, writer, dir });
    sinceMs = stopwatch();
    if (!taken) return;
    pauseMs = taken.dumpMs * PAUSE_PER_DUMP_TIME;
    settings.log.debug({ block: taken.number, ms: Math.round(taken.dumpMs) }, 'local chain checkpoint');
  };
  return {
    writer,
    checkpointWhenDue() {
      if (underWay || writer.seenBlocks() - countedFrom < everyBlocks || sinceMs() < pauseMs) return;
      underWay = checkpoint()
        .catch((error: unknown) =>
          settings.log.warn({ why: messageOf(error) }, 'writing a checkpoint of the local chain failed'),
        )
        .finally(() => {
          underWay = undefined;
        });
    },
    async checkpoint() {
      await underWay;
      underWay = checkpoint().finally(() => {
        underWay = undefined;
      });
      await underWay;
    },
    async finish() {
      await underWay;
      await writer.flush();
      await sealState(rpc);
      await checkpoint();
    },
  };
}

function watch(parts: {
  anvil: AnvilProcess;
  rpc: LocalRpc;
  time: ChainTime;
  memory: Memory | undefined;
  restoredBlocks: number;
  settings: LocalChainSettings;
}): LocalChain {
  const { anvil, rpc, time, memory, settings } = parts;
  const { clock, log } = settings;
  const closing = new AbortController();
  const complain = (error: unknown) => {
    if (!closing.signal.aborted) log.warn({ why: messageOf(error) }, 'reading the local chain failed');
  };
  const off = clock.onChange(() => void time.sync().catch(complain));
  const stranded = createStrandedWatch({ rpc, log });

  const loop = async () => {
    let seen = 0;
    let idleLooks = 0;
    while (!closing.signal.aborted) {
      await delay(idleLooks < IDLE_AFTER_LOOKS ? LOOK_MS : IDLE_LOOK_MS, closing.signal);
      if (closing.signal.aborted) return;
      try {
        await time.look();
        await stranded.look();
        await memory?.writer.look();
        memory?.checkpointWhenDue();
      } catch (error) {
        // A node that has ended tells so by its exit, a moment after it has stopped answering.
        if (await within(EXIT_TOLD_MS, anvil.exited)) return;
        complain(error);
      }
      const nowSeen = memory?.writer.seenBlocks() ?? 0;
      idleLooks = nowSeen === seen ? idleLooks + 1 : 0;
      seen = nowSeen;
    }
  };
  const looping = loop();
  // Anvil has ended and cannot answer.
  void anvil.exited.then(() => closing.abort());

  const end = async () => {
    off();
    const alive = !closing.signal.aborted;
    closing.abort();
    await looping;
    try {
      if (alive) {
        await rpc.call('evm_setIntervalMining', [0]);
        await rpc.call('evm_setAutomine', [false]);
        await memory?.finish();
      }
    } catch (error) {
      log.warn({ why: messageOf(error) }, 'the local chain was stopped without its last checkpoint');
    } finally {
      await anvil.stop();
    }
  };
  let stopping: Promise<void> | undefined;
  return {
    rpcUrl: anvil.rpcUrl,
    port: anvil.port,
    chainId: LOCAL_CHAIN_ID,
    pid: anvil.pid,
    guardPids: anvil.guardPids,
    restoredBlocks: parts.restoredBlocks,
    ...createSaving({ rpc, memory, journal: settings.journal }),
    syncClock: time.sync,
    stop() {
      stopping ??= end();
      return stopping;
    },
    exited: anvil.exited,
  };
}

/** What a snapshot asks of the chain. */
function createSaving(parts: {
  rpc: LocalRpc;
  memory: Memory | undefined;
  journal: ChainJournal | undefined;
}): Pick<LocalChain, 'flush' | 'save' | 'head'> {
  const { rpc, memory, journal } = parts;
  const flush = async () => {
    const writer =
      memory?.writer ?? (journal && createJournalWriter({ rpc, journal, tail: await lastEntry(journal) }));
    await writer?.flush();
  };
  return {
    flush,
    async save() {
      await memory?.checkpoint();
      await flush();
    },
    head: () => headBlock(rpc),
  };
}

/**
 * Changes without a transaction since the last block are in no block yet, and a checkpoint is loaded only when its
 * state is that of its block. So such changes get an empty block; without them nothing is mined.
 */
async function sealState(rpc: LocalRpc): Promise<void> {
  // A restart drops pending transactions anyway, and they must not get into this block.
  await rpc.call('anvil_dropAllTransactions', []);
  const before = await headBlock(rpc);
  const snapshot = await rpc.call('evm_snapshot', []);
  await rpc.call('evm_mine', []);
  if ((await headBlock(rpc)).stateRoot === before.stateRoot) await rpc.call('evm_revert', [snapshot]);
}

async function lastEntry(journal: ChainJournal): Promise<JournalBlock | undefined> {
  const [entry] = await journal.read({ afterBlock: (await journal.lastBlock()) - 1, limit: 1 });
  return entry;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
