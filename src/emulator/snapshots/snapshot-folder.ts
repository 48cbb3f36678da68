/** The snapshots of a stack: a file for each, in a folder beside its data. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkSnapshot } from './check-snapshot.ts';
import { snapshotSettings } from './limits.ts';
import { isSnapshotName, type Manifest, type Snapshot } from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';
import { DRAFT_ENDING, readManifest, readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts';

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
