/** The folder with all data of a persistent stack, for one process at a time. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { diskProblem } from './disk-problem.ts';

interface DataDir {
  path: string;
  /** Releases the folder; deletes an ephemeral one. */
  release(): Promise<void>;
}

/** Opens `path`, or a new folder for an ephemeral stack. Throws E_DATA_IN_USE while another process has it. */
export async function openDataDir(choice: { path: string; ephemeral: boolean }): Promise<DataDir> {
  const place = { folder: choice.ephemeral ? tmpdir() : choice.path, temporary: choice.ephemeral };
  try {
    return await lockedFolder(choice);
  } catch (error) {
    throw diskProblem(error, place) ?? error;
  }
}

async function lockedFolder(choice: { path: string; ephemeral: boolean }): Promise<DataDir> {
  const path = choice.ephemeral ? await mkdtemp(join(tmpdir(), 'rewards-')) : choice.path;
  await mkdir(path, { recursive: true, mode: 0o700 });
  const release = async () => {
    if (choice.ephemeral) await rm(path, { recursive: true, force: true });
  };
  // A database file that is locked exclusively: the operating system releases it however this process dies.
  let lock: SQLite.Database | undefined;
  try {
    lock = new SQLite(join(path, 'owner.lock'), { timeout: 0 });
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    await release();
    if (!/^SQLITE_BUSY/.test(String((error as { code?: unknown }).code))) throw error;
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
      await release();
    },
  };
}
