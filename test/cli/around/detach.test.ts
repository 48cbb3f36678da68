/** `rewards serve --detach` and `rewards logs`: a stack in the background, as processes. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { followLog, lastLines } from '../../../src/cli/around/logs.ts';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import { createLogFile } from '../../../src/stack/log-file.ts';
import {
  rewards,
  rewardsProcess,
  slowStart,
  startProcess,
  temporaryDirectory,
} from '../../kits/service/cli.ts';
import { until } from '../../kits/service/clock.ts';
import { aliveOf, descendants, processTable } from '../../kits/service/processes.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(async () => {
  await here('stop', '--all');
  await project.remove();
});

const here = (...args: string[]) => rewards(args, { cwd: project.path });
const detach = (...args: string[]) =>
  rewardsProcess(['serve', '--detach', '--port', '0', ...args], { cwd: project.path });
const send = (user: string) => here('send-event', 'account_creation', '--user', `${user}@demo.example`);

describe('rewards serve --detach', () => {
  test('prints what serve prints and goes on in the background; logs has what happened, also after the end', async () => {
    const started = await detach();
    expect(started).toMatchObject({ code: 0, stderr: expect.stringContaining('rewards stop') });
    expect(started.stdout).toContain('emulator ready');
    expect(started.stdout).toContain('demo.example');
    const { pid } = JSON.parse((await here('status', '-o', 'json')).stdout).data.stack;
    expect(aliveOf([pid])).toEqual([pid]);
    const family = [pid, ...descendants(pid).map((row) => row.pid)];
    expect((await send('alice')).code).toBe(0);

    const text = await here('logs');
    expect(text.stdout).toMatch(/started {2}http:\/\/127\.0\.0\.1:\d+ {2}process \d+/);
    expect(text.stdout).toMatch(/POST \/rewards-api\/manual-event +200 .*alice@demo\.example {2}\+100 RWT/);
    const follower = startProcess(['logs', '-f', '--lines', '1', '-o', 'json'], { cwd: project.path });
    // It follows before it prints what was, so that nothing falls between.
    expect(JSON.parse(await follower.nextLine())).toMatchObject({ type: 'request' });
    await send('bob');
    expect(JSON.parse(await follower.nextLine())).toMatchObject({
      type: 'request',
      user: 'bob@demo.example',
    });

    expect((await here('stop')).code).toBe(0);
    expect(JSON.parse(await follower.nextLine())).toMatchObject({ type: 'stop', signal: 'SIGTERM' });
    await until('the end of logs -f', () => follower.child.exitCode !== null);
    expect(follower.child.exitCode).toBe(0);
    await until('its end', () => aliveOf(family).length === 0);
    const lines = (await here('logs', '-o', 'json')).stdout.trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line));
    const told = entries.filter(({ type, path }) => type !== 'request' || path.endsWith('/manual-event'));
    expect(told.map(({ type }) => type)).toEqual(['start', 'request', 'request', 'stop']);
    expect((await here('logs', '--lines', '1')).stdout).toMatch(/stopped {2}by SIGTERM\n$/);
    const file = join(project.path, '.rewards/state/serve.log');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await here('reset', '--yes')).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('-o json: the line that is ready, and nothing else; a second one on the same data is refused', async () => {
    const { code, stdout } = await detach('-o', 'json');
    expect(code).toBe(0);
    const ready = JSON.parse(stdout);
    expect(ready).toMatchObject({ type: 'ready', dataDir: join(project.path, '.rewards/state') });
    const second = await detach();
    expect(second).toMatchObject({ code: exitCodes.precondition, stdout: '' });
    expect(second.stderr).toContain(`Process ${ready.pid} already serves`);
    expect(second.stderr).toContain('E_DATA_IN_USE');
    expect(aliveOf([ready.pid])).toEqual([ready.pid]);
  });

  test('what keeps it from starting is told as serve tells it, and nothing is left', async () => {
    await writeFile(join(project.path, 'bad.yaml'), 'brands:\n  - brandId: nothing\n');
    const bad = await detach('--seed', 'bad.yaml');
    expect(bad).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(bad.stderr).toMatch(/bad\.yaml:2:\d+/);
    expect(processTable().filter(({ command }) => command.includes(project.path))).toEqual([]);
  });

  test('a signal before it is ready ends it', async () => {
    const env = await slowStart(project.path);
    const run = startProcess(['serve', '--detach', '--port', '0'], { cwd: project.path, env });
    let family: number[] = [];
    await until('a start', () => {
      family = descendants(run.child.pid ?? 0).map(({ pid }) => pid);
      return family.length > 1;
    });
    expect((await run.stop('SIGINT')).code).toBe(exitCodes.interrupted);
    await until('its end', () => aliveOf(family).length === 0);
    expect((await here('status')).code).toBe(exitCodes.unreachable);
  });

  test('where no stack has run there is no log: exit 3', async () => {
    expect(await here('logs')).toMatchObject({
      code: exitCodes.unreachable,
      stderr: expect.stringContaining('There is no log in'),
    });
  });
});

describe('the log file', () => {
  test('begins anew when it is full; what is read goes on over both', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rewards-log-'));
    try {
      const log = createLogFile(200);
      log.write('{"n":0}\n');
      log.open(folder, { type: 'start' });
      const following = followLog(folder);
      for (let n = 1; n <= 40; n++) log.write(`{"n":${n}}\n`);
      const early = following.more();
      for (let n = 41; n <= 60; n++) log.write(`{"n":${n}}\n`);
      expect([...early, ...following.more()].at(-1)).toBe('{"n":60}');
      following.close();
      expect((await stat(join(folder, 'serve.log'))).size).toBeLessThanOrEqual(200);
      expect((await stat(join(folder, 'serve.log.1'))).size).toBeLessThanOrEqual(200);
      expect(await lastLines(folder, 30)).toEqual(
        Array.from({ length: 30 }, (_, index) => `{"n":${index + 31}}`),
      );
      expect((await lastLines(folder, 1_000)).length).toBeLessThan(60);
      expect((await readFile(join(folder, 'serve.log'), 'utf8')).endsWith('\n')).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a folder that takes no file stops the log, and nothing else', () => {
    const log = createLogFile();
    log.open('/nowhere/at/all', { type: 'start' });
    expect(() => log.write('{}\n')).not.toThrow();
  });
});
