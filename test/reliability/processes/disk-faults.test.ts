/** A disk that is full, or that fails to sync: nothing is sent that is not stored, and nothing that was said is lost. */
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { leaveOut } from '../../kits/run/left-out.ts';
import { askAgain, pause, startLoad, until } from './load.ts';
import { type Life, startLife } from './program.ts';
import { openStage, type Stage } from './stage.ts';

const LOAD_MS = Number(process.env.TORTURE_LOAD_MS ?? 800);
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function live(stage: Stage, wrapper: string[] = []): Promise<{ life: Life; base: string }> {
  const life = startLife(stage.serveArgs, { cwd: stage.folder, wrapper });
  cleanUps.push(async () => void (life.isOver() || (await life.stop('SIGKILL'))));
  const ready = await life.ready;
  if (!ready) throw new Error(`the service did not start: ${life.stderr()}`);
  return { life, base: ready.urls.events };
}

async function allIsWell(
  stage: Stage,
  { life, base }: { life: Life; base: string },
  users: string[],
): Promise<void> {
  await askAgain(stage, base, users);
  const ready = await life.ready;
  if (!ready) throw new Error('it was ready before');
  const { violations, paid } = await stage.verdict(ready);
  expect(violations).toEqual([]);
  expect(paid).toBe(users.length);
}

/**
 * A disk that gives out is a 503, which says that nothing was recorded. The one 500 there may be is of a reward that was
 * recorded before and whose transaction could not be stored for as long as a caller waits.
 */
async function noneWasMisled(stage: Stage): Promise<void> {
  const recorded = new Set((await stage.ledger().rewards()).map(({ userKey }) => userKey));
  for (const { user, said = '' } of stage.calls.filter(({ status }) => status === 500)) {
    expect(said).toContain('"payout_pending"');
    expect(recorded).toContain(user);
  }
  for (const { said } of stage.calls.filter(({ status }) => status === 503))
    expect(said).toContain('"database_unavailable"');
}

/** A small disk of its own; undefined where this user may not mount one. */
function mountDisk(path: string, megabytes: number): boolean {
  try {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** Writes until nothing more fits. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const size of [65_536, 4_096, 512, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // The next smaller piece may still fit.
      }
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

describe('SQLite', { timeout: 90_000 }, () => {
  test('the disk is full: 503, nothing is sent without its row, and all goes on when there is room', async (context) => {
    const disk = await mkdtemp(join(tmpdir(), 'rewards-disk-'));
    if (!mountDisk(disk, 8)) return context.skip(leaveOut('right to mount a disk', 'run as root'));
    cleanUps.push(async () => execFileSync('umount', ['-l', disk], { stdio: 'pipe' }));
    const stage = await openStage({ seed: 5, blockTimeSeconds: 1, dataDir: join(disk, 'data') });
    cleanUps.push(stage.close);
    const running = await live(stage);
    const load = startLoad(stage, [running.base]);
    await pause(LOAD_MS);
    fill(join(disk, 'filler'));
    // Of those before, all may be waiting for a payout that cannot be stored: whoever comes now is refused at once.
    const late = startLoad(stage, [running.base], { clients: 2 });
    const refused = () => stage.calls.filter(({ status }) => status === 503).length;
    await until('events are refused', () => refused() > 3);
    await pause(LOAD_MS);
    rmSync(join(disk, 'filler'));
    const after = stage.calls.length;
    await until('events are rewarded again', () =>
      stage.calls.slice(after).some(({ kind }) => kind === 'ok'),
    );
    await Promise.all([load.stop(), late.stop()]);
    await noneWasMisled(stage);
    await allIsWell(stage, running, [...load.users, ...late.users]);
    expect(running.life.isOver()).toBe(false);
  });

  test('fsync fails: nothing that was acknowledged is lost', async (context) => {
    if (!hasStrace())
      return context.skip(leaveOut('strace', 'install strace, and allow it to watch processes'));
    const stage = await openStage({ seed: 6, blockTimeSeconds: 1 });
    cleanUps.push(stage.close);
    const first = await live(stage);
    const warmUp = startLoad(stage, [first.base]);
    await pause(300);
    await warmUp.stop();
    await first.life.stop('SIGTERM');

    // From its fortieth on, one call in seven: not in three, since a checkpoint is three calls (the commit's, the log's,
    // the file's), and where it fails at the third the next commit tries it again, so that all failures would fall there.
    const failing = await live(stage, [
      ...['strace', '-D', '-f', '-qq', '-o', '/dev/null', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync'],
      ...['-e', 'inject=fsync,fdatasync:error=EIO:when=40+7'],
    ]);
    const load = startLoad(stage, [failing.base]);
    // Whether it goes on with 503s or ends: after a restart on a sound disk everything is there.
    await until(
      'the disk has failed',
      () => failing.life.isOver() || stage.calls.some(({ status }) => status === 503),
    );
    await pause(LOAD_MS);
    await load.stop();
    if (!failing.life.isOver()) await failing.life.stop('SIGKILL');

    const last = await live(stage);
    await noneWasMisled(stage);
    await allIsWell(stage, last, [...warmUp.users, ...load.users]);
  });
});

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', '--seccomp-bpf', '-f', '-e', 'trace=fsync', 'true'], {
      stdio: 'pipe',
    });
    return true;
  } catch {
    return false;
  }
}
