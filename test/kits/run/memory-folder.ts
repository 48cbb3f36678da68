/** A folder in memory for what a run of the tests writes: what is synced there costs no time. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux has a file system in memory that everybody may write to. */
const SHARED_MEMORY = '/dev/shm';

/** A whole run holds some 0.3 GB at a time; containers often have 64 MB there. */
const ROOM_BYTES = 2 * 2 ** 30;

/**
 * Makes it the folder of temporary files, of workers and of what they start, where there is one that is large enough and
 * lets programs run. It ends with this process, even a killed one.
 */
export default function setup() {
  const made = memoryFolder();
  if (!made) return undefined;
  const before = process.env.TMPDIR;
  process.env.TMPDIR = made;
  // Its input ends with this process.
  const guard = spawn('sh', ['-c', 'trap "" HUP INT TERM; cat >/dev/null; rm -rf "$0"', made], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = once(guard, 'exit');
  return async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    guard.stdin.end();
    await gone;
  };
}

/** Undefined where there is none that tests could use. */
function memoryFolder(): string | undefined {
  if (process.platform !== 'linux' || !existsSync(SHARED_MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (bavail * bsize < ROOM_BYTES) return undefined;
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(SHARED_MEMORY, 'rewards-tests-'));
    // Postgres has another user where this one is root.
    chmodSync(folder, 0o755);
    const script = join(folder, 'runs');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(script);
    return folder;
  } catch {
    if (folder) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}
