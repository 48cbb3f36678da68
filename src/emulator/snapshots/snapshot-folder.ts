/** The snapshots of a stack: a file for each, in a folder beside its data, and whether this program can open one. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newestMigration as newestKnown } from '../../ledger/database/migrate.ts';
import { snapshotSettings } from '../limits.ts';
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import { isSnapshotName, type Manifest, type Snapshot } from './manifest.ts';
import { damaged, SnapshotError } from './snapshot-error.ts';
import { DRAFT_ENDING, readManifest, readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts';
import { journalEnd, newestMigration, type OpenImage, openImage } from './store-images.ts';

const ENDING = '.rewards';

/** A snapshot as lists show it. */
export interface ListedSnapshot extends Manifest {
  file: string;
  /** Of the file. */
  bytes: number;
}

/** Reads a snapshot and checks that this program can open it. Throws `SnapshotError`. */
export async function readChecked(path: string): Promise<Snapshot> {
  const snapshot = await readSnapshotFile(path, snapshotSettings.snapshots);
  checkSnapshot(snapshot, path);
  return snapshot;
}

/** Removes what a process left behind that was killed while it saved. Not to be called during a save. */
export async function removeDrafts(folder: string): Promise<void> {
  const files = await readdir(folder).catch(() => []);
  for (const file of files)
    if (file.endsWith(`${ENDING}${DRAFT_ENDING}`)) await rm(join(folder, file), { force: true });
}

export function snapshotFolder(folder: string) {
  const pathOf = (name: string) => {
    if (!isSnapshotName(name)) {
      throw new SnapshotError('invalid_snapshot_name', {
        message: `${JSON.stringify(name.slice(0, 80))} is not a name for a snapshot`,
        fix: 'Begin with a letter or digit; up to 63 more letters, digits, dots, dashes or underscores may follow. `now` is the running stack.',
      });
    }
    return join(folder, `${name}${ENDING}`);
  };
  const present = (name: string) => {
    const path = pathOf(name);
    if (existsSync(path)) return path;
    throw new SnapshotError('snapshot_not_found', {
      message: `There is no snapshot ${name}`,
      fix: '`rewards snapshot list` shows those of this stack.',
    });
  };
  const names = async () =>
    (await readdir(folder).catch(() => []))
      .filter((file) => file.endsWith(ENDING))
      .map((file) => file.slice(0, -ENDING.length))
      .filter(isSnapshotName);

  return {
    path: present,
    /** Refuses a name that is taken, unless the older one is to be replaced. */
    refuseTaken(name: string, replace: boolean): void {
      if (!existsSync(pathOf(name)) || replace) return;
      throw new SnapshotError('snapshot_exists', {
        message: `There is a snapshot ${name} already`,
        fix: 'Take another name, or replace it with --replace.',
      });
    },
    /** The first of `snapshot-1`, `snapshot-2`, … that is free. */
    async freeName(): Promise<string> {
      const taken = new Set(await names());
      for (let number = 1; ; number += 1) if (!taken.has(`snapshot-${number}`)) return `snapshot-${number}`;
    },
    async write(snapshot: Snapshot): Promise<ListedSnapshot> {
      const path = pathOf(snapshot.manifest.name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeSnapshotFile(snapshot, path);
      return { ...snapshot.manifest, file: path, bytes: (await stat(path)).size };
    },
    read: async (name: string): Promise<Snapshot> => readChecked(present(name)),
    async show(name: string): Promise<ListedSnapshot> {
      const path = present(name);
      const { manifest } = await readSnapshotFile(path, snapshotSettings.snapshots);
      return { ...manifest, name, file: path, bytes: (await stat(path)).size };
    },
    /** Newest first; `unreadable` are files of that ending that are no snapshots. */
    async list(): Promise<{ snapshots: ListedSnapshot[]; unreadable: string[] }> {
      const snapshots: ListedSnapshot[] = [];
      const unreadable: string[] = [];
      for (const name of (await names()).slice(0, snapshotSettings.snapshots.listMax)) {
        const path = join(folder, `${name}${ENDING}`);
        const manifest = await readManifest(path, snapshotSettings.snapshots);
        if (!manifest) unreadable.push(name);
        // A file may have been renamed: its name is what it is called by.
        else snapshots.push({ ...manifest, name, file: path, bytes: (await stat(path)).size });
      }
      snapshots.sort((one, other) => other.takenAt.localeCompare(one.takenAt));
      return { snapshots, unreadable };
    },
    async remove(name: string): Promise<void> {
      await rm(present(name));
    },
  };
}

/** Throws `SnapshotError`. `what` names the snapshot in its message. */
function checkSnapshot({ manifest, parts }: Snapshot, what: string): void {
  const ledger = parts.get(LEDGER);
  if (!ledger) throw damaged(`${what} has no ledger`);
  inside(ledger, `the ledger of ${what}`, (store) => {
    if (!store.tables().includes('migrations')) throw damaged(`the ledger of ${what} is not one of rewards`);
    const migration = newestMigration(store);
    if (migration > newestKnown) {
      throw new SnapshotError('snapshot_newer', {
        message: `${what} is of a newer version of rewards (${manifest.program}): its ledger has migration ${migration}, and this one knows ${newestKnown}; nothing was changed`,
        fix: 'Run the newer version.',
      });
    }
    const end = journalEnd(store);
    const { block, hash } = manifest.chain;
    if (end?.block !== block || end.hash !== hash)
      throw damaged(`the chain of ${what} ends elsewhere than its manifest says`);
  });
  const site = parts.get(SITE_STORE);
  if (site) inside(site, `the site's store of ${what}`, () => undefined);
}

function inside(image: Buffer, what: string, look: (store: OpenImage) => void): void {
  let store: OpenImage | undefined;
  try {
    store = openImage(image);
    const damage = store.damage();
    if (damage !== undefined) throw damaged(`${what} is damaged: ${damage}`);
    const [stranger] = store.strangers();
    if (stranger !== undefined) throw damaged(`${what} has a ${stranger}, which no snapshot has`);
    look(store);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw damaged(`${what} cannot be opened`, { cause: error });
  } finally {
    store?.close();
  }
}
