/** What a stack keeps in its data folder, and how the data of a stopped one is deleted, so that the next start begins anew. */
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../../ledger/database/database.ts';
import { openDataDir } from '../../ledger/database/file-lock.ts';
import { LOG_FILES } from '../../stack/log-file.ts';
import { refuseProductionLedger } from './refuse-production.ts';

export const LEDGER = 'ledger.sqlite';
/** The store of the demo site. */
export const SITE_STORE = 'site.sqlite';
/** Checkpoints of the chain, and the ledger's mark. */
export const CHAIN = 'chain';

const database = (file: string) => [file, `${file}-wal`, `${file}-shm`];

/** All of a stack's data; its snapshots are kept in a folder beside it. Anything else there is somebody else's. */
export const DATA_FILES = [...database(LEDGER), ...database(SITE_STORE), CHAIN];

/** While a snapshot is put in the place of the data: the new files, the old ones, and the old ones once they are not needed any more. */
export const SWAP = { staged: 'restore.new', kept: 'restore.old', done: 'restore.done' } as const;

export const SNAPSHOTS = 'snapshots';

const WRITTEN = [...DATA_FILES, ...Object.values(SWAP)];
const LOCK = ['owner.lock', 'owner.lock-journal'];

/** What `serve` has written into a folder, as paths. */
export const dataIn = (folder: string): string[] =>
  WRITTEN.map((name) => join(folder, name)).filter((path) => existsSync(path));

interface ResetDeps {
  openLedger: (path: string) => Database;
}

/** Deletes it; returns the paths. Throws E_DATA_IN_USE while a stack runs on it, and E_PRODUCTION_LEDGER. */
export async function resetData(deps: ResetDeps, folder: string): Promise<string[]> {
  const present = dataIn(folder);
  if (present.length === 0) return [];
  const dataDir = await openDataDir({ path: folder, ephemeral: false });
  try {
    if (existsSync(join(folder, LEDGER))) await refuseOthersLedger(deps, join(folder, LEDGER));
    for (const path of WRITTEN) await rm(join(folder, path), { recursive: true, force: true });
  } finally {
    await dataDir.release();
  }
  for (const path of [...LOCK, ...LOG_FILES]) await rm(join(folder, path), { force: true });
  // Fails where the user keeps files of their own in the folder.
  await rmdir(folder).catch(() => undefined);
  return present;
}

/** A file that is not a database any more is exactly what a reset is for. */
async function refuseOthersLedger({ openLedger }: ResetDeps, path: string): Promise<void> {
  const isGarbled = (error: unknown) =>
    /^SQLITE_(?:NOTADB|CORRUPT)/.test(String((error as { code?: unknown }).code));
  try {
    const database = openLedger(path);
    try {
      await refuseProductionLedger(database, path);
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!isGarbled(error)) throw error;
  }
}
