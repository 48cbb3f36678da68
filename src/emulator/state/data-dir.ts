/** The folder with all data of a persistent stack, for one process at a time. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { PreconditionError } from '../../compose/precondition.ts';

interface DataDir {
  path: string;
  /** Releases the folder; deletes an ephemeral one. */
  release(): Promise<void>;
}

/** Opens `path`, or a new folder for an ephemeral stack. Throws E_DATA_IN_USE while another process has it. */
export async function openDataDir(choice: { path: string; ephemeral: boolean }): Promise<DataDir> {
  const path = choice.ephemeral ? await mkdtemp(join(tmpdir(), 'rewards-')) : choice.path;
  await mkdir(path, { recursive: true, mode: 0o700 });
  // A database file that is locked exclusively: the operating system releases it however this process dies.
  const lock = new SQLite(join(path, 'owner.lock'), { timeout: 0 });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('begin exclusive');
  } catch {
    lock.close();
    throw new PreconditionError({
      code: 'E_DATA_IN_USE',
      message: `another process is using ${path}`,
      fix: 'stop it, or choose another folder with --persist-to DIR, or use --ephemeral',
    });
  }
  return {
    path,
    async release() {
      lock.close();
      if (choice.ephemeral) await rm(path, { recursive: true, force: true });
    },
  };
}
