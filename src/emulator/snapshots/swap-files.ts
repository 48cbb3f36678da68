/**
 * Puts other files in the place of a stack's data, so that a kill at any moment leaves the old ones or the new ones, never
 * some of each. The new ones are written beside the old; these are kept until the new ones have been opened.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DATA_FILES, SWAP } from '../state/data-files.ts';
import { syncFolder } from './snapshot-file.ts';

const { staged: STAGED, kept: KEPT, done: DONE } = SWAP;
/** Among the old files: every old file is there, so what stands in their place is new. */
const COMPLETE = 'complete';

/** Writes the new files and moves them into the place of the old ones. `settleSwap` or `undoSwap` has to follow. */
export async function beginSwap(dataDir: string, parts: ReadonlyMap<string, Buffer>): Promise<void> {
  const [staged, kept] = [join(dataDir, STAGED), join(dataDir, KEPT)];
  await rm(staged, { recursive: true, force: true });
  await mkdir(staged, { mode: 0o700 });
  for (const [name, bytes] of parts) await writeDurably(join(staged, name), bytes);
  await syncFolder(staged);
  await mkdir(kept, { mode: 0o700 });
  for (const name of DATA_FILES)
    if (existsSync(join(dataDir, name))) await rename(join(dataDir, name), join(kept, name));
  await writeDurably(join(kept, COMPLETE), Buffer.alloc(0));
  await syncFolder(kept);
  for (const name of await readdir(staged)) await rename(join(staged, name), join(dataDir, name));
  await rm(staged, { recursive: true, force: true });
  await syncFolder(dataDir);
}

/** The new files hold. */
export async function settleSwap(dataDir: string): Promise<void> {
  await rename(join(dataDir, KEPT), join(dataDir, DONE));
  await syncFolder(dataDir);
  await rm(join(dataDir, DONE), { recursive: true, force: true });
}

/** Brings the old files back, also those of a swap that a kill has cut short. May be cut short itself, and called again. */
export async function undoSwap(dataDir: string): Promise<void> {
  const kept = join(dataDir, KEPT);
  for (const name of [STAGED, DONE]) await rm(join(dataDir, name), { recursive: true, force: true });
  if (!existsSync(kept)) return;
  if (existsSync(join(kept, COMPLETE))) {
    for (const name of DATA_FILES) await rm(join(dataDir, name), { recursive: true, force: true });
    // From here on, what stands in the data folder is old.
    await rm(join(kept, COMPLETE));
    await syncFolder(kept);
  }
  for (const name of await readdir(kept)) await rename(join(kept, name), join(dataDir, name));
  await syncFolder(dataDir);
  await rm(kept, { recursive: true, force: true });
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
