/** The folder that holds everything of a persistent stack; one process at a time. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { PreconditionError } from '../../compose/precondition.ts';

interface DataDir {
  path: string;
  /** Gives the folder up; an ephemeral one is deleted. */
  release(): Promise<void>;
}

/** Opens `path`, or a new folder for an ephemeral stack. Throws E_DATA_IN_USE while another process has it. */
export async function openDataDir(choice: { path: string; ephemeral: boolean }): Promise<DataDir> {
  const path = choice.ephemeral ? await mkdtemp(join(tmpdir(), 'rewards-')) : choice.path;
  await mkdir(path, { recursive: true, mode: 0o700 });
  // A database file held open exclusively: the operating system lets go of it when this process dies, however it dies.
  const lock = new SQLite(join(path, 'owner.lock'), { timeout: 0 });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('begin exclusive');
  } catch {
    lock.close();
    throw new PreconditionError({
      code: 'E_DATA_IN_USE',
      message: `another process is using ${path}`,
      fix: 'stop it, or choose another folder with --persist-to DIR, or --ephemeral for none',
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
