/** Ordinary trouble with the disk keeps a stack from starting: a code, the cause and the way out, never a stack trace. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { leaveOut } from '../kits/run/left-out.ts';
import { program, rewardsJson, rewardsProcess, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const cleanUps: (() => void)[] = [];
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  await project.remove();
});

const failing = (...args: string[]) =>
  rewardsJson(['serve', '--port', '0', '--rpc-port', '0', ...args], { cwd: project.path });

/** A disk of this size at `path`; false where this user may not mount one. */
function mountDisk(path: string, kilobytes: number): boolean {
  try {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', path], { stdio: 'pipe' });
    cleanUps.push(() => execFileSync('umount', [path]));
    return true;
  } catch {
    return false;
  }
}

test('the data folder is a file', async () => {
  await writeFile(join(project.path, 'data'), 'a file');
  for (const folder of ['data', 'data/below']) {
    const { code, envelope } = await failing('--persist-to', folder);
    expect(code).toBe(exitCodes.precondition);
    expect(envelope.error).toMatchObject({
      code: 'E_DATA_FOLDER',
      message: expect.stringContaining(join(project.path, folder)),
      hint: expect.stringContaining('--persist-to'),
    });
  }
});

test('no permission to write there', async () => {
  const closed = join(project.path, 'closed');
  await mkdir(closed);
  await chmod(closed, 0o555);
  await chmod(project.path, 0o755);
  // Root may write everywhere, so for root another user tries.
  const isRoot = process.getuid?.() === 0;
  const child = spawn(
    process.execPath,
    [program, 'serve', '--port', '0', '--persist-to', 'closed/data', '-o', 'json'],
    {
      cwd: project.path,
      ...(isRoot && { uid: 65_534, gid: 65_534 }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(exitCodes.precondition);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'E_NO_PERMISSION',
    message: expect.stringContaining(closed),
    hint: expect.stringContaining('--persist-to'),
  });
});

test('the disk is full', async (context) => {
  const disk = join(project.path, 'disk');
  if (!mountDisk(disk, 64)) return context.skip(leaveOut('right to mount a disk', 'run as root'));
  const { code, envelope } = await failing('--persist-to', 'disk/data');
  expect(code).toBe(exitCodes.precondition);
  expect(envelope.error).toMatchObject({
    code: 'E_DISK_FULL',
    message: expect.stringContaining(`The disk with ${disk}/data is full`),
    hint: expect.stringContaining('df -h'),
  });
});

test('the folder for temporary files is full: another remedy than --ephemeral', async (context) => {
  const disk = join(project.path, 'tmp');
  if (!mountDisk(disk, 4)) return context.skip(leaveOut('right to mount a disk', 'run as root'));
  await writeFile(join(disk, 'full'), Buffer.alloc(4_096)).catch(() => undefined);
  const { code, stdout } = await rewardsProcess(['serve', '--ephemeral', '--port', '0', '-o', 'json'], {
    cwd: project.path,
    env: { TMPDIR: disk },
  });
  expect(code).toBe(exitCodes.precondition);
  const { error } = JSON.parse(stdout);
  expect(error).toMatchObject({ code: 'E_DISK_FULL', hint: expect.stringContaining('TMPDIR') });
  expect(error.hint).not.toContain('use --ephemeral');
});

test('the ledger is no database any more', async () => {
  await mkdir(join(project.path, 'data'));
  await writeFile(join(project.path, 'data', 'ledger.sqlite'), 'this is no database at all'.repeat(100));
  const { code, envelope } = await failing('--persist-to', 'data');
  expect(code).toBe(exitCodes.precondition);
  expect(envelope.error).toMatchObject({
    code: 'E_LEDGER_GARBLED',
    hint: expect.stringContaining('rewards reset'),
  });
});

test('the data is of a newer version', async () => {
  const stack = await serveHere(['--port', '0', '--rpc-port', '0'], { cwd: project.path });
  await stack.stop();
  const ledger = new SQLite(join(project.path, '.rewards', 'state', 'ledger.sqlite'));
  ledger.exec("insert into migrations (number, name) values (9999, '9999-tomorrow')");
  ledger.close();
  const { code, envelope } = await failing();
  expect(code).toBe(exitCodes.precondition);
  expect(envelope.error).toMatchObject({
    code: 'E_LEDGER_NEWER',
    message: expect.stringContaining('migration 9999'),
    hint: expect.stringContaining('newer version'),
  });
});

test('standard output is full: exit 5, and a line that says so', async () => {
  const child = spawn('sh', ['-c', `exec "${process.execPath}" "${program}" --help > /dev/full`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  expect([code, stderr]).toEqual([
    exitCodes.precondition,
    expect.stringMatching(/^error: The output cannot be written \(ENOSPC\).* E_OUTPUT\n {2}fix {2}/),
  ]);
});

test('a database that is not Postgres', async () => {
  const { code, envelope } = await failing('--database-url', 'mysql://me:hunter2@db/ledger');
  expect(code).toBe(exitCodes.usage);
  expect(envelope.error.hint).toContain('postgres://');
  expect(JSON.stringify(envelope)).not.toContain('hunter2');
});
