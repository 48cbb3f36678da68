/** Whole states of the local chain on disk, so that a restart replays only the blocks after the newest state. */
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hex } from 'viem';
import type { ChainJournal } from '../../ledger/emulator/chain-journal.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import type { JournalWriter } from './journal-writer.ts';
import { headBlock, type LocalRpc } from './local-rpc.ts';
import { dumpState } from './state-transfer.ts';

export interface Checkpoint {
  path: string;
  number: number;
  hash: Hex;
}

/** The newest and the one before it, in case the newest is damaged. */
const KEPT_CHECKPOINTS = 2;

/** Attempts to dump between two blocks, since Anvil may mine during a dump. */
const DUMP_TRIES = 4;
const DUMP_PAUSE_MS = 100;

/** The file that is being written; what a kill leaves of it, the next one overwrites. */
const PART = 'checkpoint.part';

const NAME = /^checkpoint-(\d+)-(0x[0-9a-f]{64})\.bin$/;

/** The checkpoints in a directory, newest first. */
export async function listCheckpoints(dir: string): Promise<Checkpoint[]> {
  const names = await readdir(dir).catch(() => []);
  return names
    .flatMap((name) => {
      const found = NAME.exec(name);
      return found ? [{ path: join(dir, name), number: Number(found[1]), hash: found[2] as Hex }] : [];
    })
    .sort((a, b) => b.number - a.number);
}

/** What `loadState` gives the node. */
export const readCheckpoint = (checkpoint: Checkpoint): AsyncIterable<Buffer> =>
  createReadStream(checkpoint.path);

/**
 * Dumps the state at the chain's head into a new file, piece by piece. The file gets its name only when it is on the disk
 * and the journal has reached its block. Resolves to undefined when blocks came too fast to dump between two.
 */
export async function takeCheckpoint(parts: {
  rpc: LocalRpc;
  journal: ChainJournal;
  writer: JournalWriter;
  dir: string;
}): Promise<(Checkpoint & { dumpMs: number }) | undefined> {
  const { rpc, journal, writer, dir } = parts;
  const part = join(dir, PART);
  writer.keepApart(true);
  try {
    await writer.flush();
    for (let tries = 0; tries < DUMP_TRIES; tries += 1) {
      if (tries > 0) await delay(DUMP_PAUSE_MS);
      const head = await headBlock(rpc);
      const path = join(dir, `checkpoint-${head.number}-${head.hash}.bin`);
      const elapsedMs = stopwatch();
      await write({ dir, part }, dumpState(rpc.url));
      const dumpMs = elapsedMs();
      if ((await headBlock(rpc)).hash !== head.hash) continue;
      await writer.flush();
      if (!(await isInJournal(journal, head))) continue;
      await nameDurably({ dir, part }, path);
      await removeOld(dir, path);
      return { path, number: head.number, hash: head.hash, dumpMs };
    }
    return undefined;
  } finally {
    // Not there any more when it has got its name.
    await rm(part, { force: true });
    writer.keepApart(false);
  }
}

/** Whether an entry of the journal ends exactly at this block. */
export async function isInJournal(
  journal: ChainJournal,
  block: { number: number; hash: Hex },
): Promise<boolean> {
  const [entry] = await journal.read({ afterBlock: block.number - 1, limit: 1 });
  return entry?.number === block.number && entry.hash === block.hash;
}

interface PartFile {
  dir: string;
  part: string;
}

async function write({ dir, part }: PartFile, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dir, { recursive: true });
  const file = await open(part, 'w', 0o600);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

async function nameDurably({ dir, part }: PartFile, path: string): Promise<void> {
  const file = await open(part, 'r+');
  await file.sync().finally(() => file.close());
  await rename(part, path);
  // Windows cannot open a directory; its file system decides when the rename is durable.
  const directory = await open(dir, 'r').catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

/** Keeps the new checkpoint and the newest of the others; a checkpoint of an abandoned branch counts as old. */
async function removeOld(dir: string, written: string): Promise<void> {
  const others = (await listCheckpoints(dir)).filter((checkpoint) => checkpoint.path !== written);
  for (const { path } of others.slice(KEPT_CHECKPOINTS - 1)) await rm(path, { force: true });
  for (const name of await readdir(dir))
    if (name.endsWith('.part')) await rm(join(dir, name), { force: true });
}
