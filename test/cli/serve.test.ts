import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { banner } from '../../src/cli/run/banner.ts';
import { plainStyle } from '../../src/cli/terminal/style.ts';
import { delay } from '../../src/lib/timers.ts';
import { programMissing } from '../kits/run/programs.ts';
import { rewards, rewardsJson, serve, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { aliveOf, descendants } from '../kits/service/processes.ts';

type Stack = Awaited<ReturnType<typeof serve>>;

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const stacks: Stack[] = [];

beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(async () => {
  for (const stack of stacks.splice(0)) if (stack.child.exitCode === null) await stack.stop('SIGKILL');
  await project.remove();
});

async function start(...args: string[]): Promise<Stack> {
  const stack = await serve(args, { cwd: project.path });
  stacks.push(stack);
  return stack;
}

const ephemeral = () => start('--ephemeral', '--port', '0');
const here = (...args: string[]) => rewards(args, { cwd: project.path });
const alice = ['send-event', 'account_creation', '--user', 'alice@demo.example'];
const runFile = () => join(project.path, '.rewards', 'run.json');

const pidsBelow = (pid: number) => descendants(pid).map((row) => row.pid);
const eventuallyGone = (pids: number[]) =>
  until(`the end of ${pids.join(', ')}`, () => aliveOf(pids).length === 0);

async function balanceOf(ready: Stack['ready'], address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const response = await fetch(ready.urls.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ to: ready.contracts.token, data }, 'latest'],
    }),
  });
  return BigInt(((await response.json()) as { result: string }).result);
}

describe('serve', () => {
  test('one event’s life: rewarded, duplicate, cooldown, used up', async () => {
    const stack = await ephemeral();
    expect(Object.keys(stack.ready)).toEqual([
      ...['type', 'pid', 'urls', 'chain', 'contracts', 'brands', 'users', 'processor'],
      ...['controlToken', 'clock', 'dataDir'],
    ]);
    expect(stack.ready).toMatchObject({
      type: 'ready',
      pid: stack.child.pid,
      chain: { id: 31337 },
      urls: {
        control: expect.stringMatching(/\/_rewards$/),
        rpc: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      },
      brands: [{ brandId: expect.stringMatching(/^0x[0-9a-f]{40}$/), domain: 'demo.example' }],
    });
    expect((await stat(runFile())).mode & 0o777).toBe(0o600);

    const { code, envelope } = await rewardsJson(alice, { cwd: project.path });
    expect(code).toBe(exitCodes.done);
    expect(envelope).toMatchObject({
      ok: true,
      data: { status: 200, body: { success: true, rewardAmount: 100 } },
    });
    expect(await balanceOf(stack.ready, envelope.data.body.walletAddress)).toBe(100n);

    const duplicate = await rewardsJson(alice, { cwd: project.path });
    expect(duplicate.code).toBe(exitCodes.refused);
    expect(duplicate.envelope.data).toMatchObject({
      status: 409,
      body: { details: { existingEventId: envelope.data.body.eventId } },
    });

    expect((await here('clock', 'advance', '61s')).code).toBe(0);
    const cooldown = await here(...alice);
    expect(cooldown).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(cooldown.stderr).toMatch(
      /429 {2}Cooldown active[\s\S]*passes .*\(rewards clock advance 23h5\dm\d+s\)/,
    );

    expect((await here('clock', 'advance', '24h')).code).toBe(0);
    expect((await here(...alice, '--expect', '429:max_claims_reached')).code).toBe(0);

    const foreign = await here(
      'send-event',
      'account_creation',
      '--user',
      'bob@demo.example',
      '--domain',
      'evil-demo.example',
    );
    expect(foreign).toMatchObject({
      code: exitCodes.refused,
      stderr: expect.stringContaining('evil-demo.example'),
    });
    const backwards = await rewardsJson(['clock', 'set', '2020-01-01T00:00:00Z'], { cwd: project.path });
    expect(backwards).toMatchObject({ code: exitCodes.refused, envelope: { error: { code: 'E_REFUSED' } } });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('%s: a clean stop, nothing left behind', async (signal) => {
    const stack = await ephemeral();
    const family = pidsBelow(stack.ready.pid);
    expect(family.length).toBeGreaterThan(0);
    expect(await stack.stop(signal)).toEqual({ code: 0, signal: null });
    expect(JSON.parse(stack.lines.at(-1) ?? '')).toEqual({ type: 'shutdown', signal, clean: true });
    await eventuallyGone(family);
    await expect(stat(runFile())).rejects.toThrow('ENOENT');
    await expect(stat(stack.ready.dataDir)).rejects.toThrow('ENOENT');
    expect((await here('clock', 'show')).code).toBe(exitCodes.unreachable);
  });

  test('started by npm: ends when npm’s shell is ended', async () => {
    const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
    const command = `"${process.execPath}" "${program}" serve --ephemeral --port 0 -o json; true`;
    const shell = spawn('sh', ['-c', command], {
      cwd: project.path,
      env: { ...process.env, npm_lifecycle_script: "'rewards'" },
    });
    const [line] = await once(createInterface({ input: shell.stdout }), 'line');
    const { pid } = JSON.parse(line);
    const family = [pid, ...pidsBelow(pid)];
    shell.kill('SIGTERM');
    await eventuallyGone(family);
    await expect(stat(runFile())).rejects.toThrow('ENOENT');
  });

  test('a signal before it is ready: interrupted, nothing left behind', async () => {
    const program = new URL('../../bin/rewards.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [program, 'serve', '--ephemeral', '--port', '0'], {
      cwd: project.path,
    });
    const family: number[] = [];
    while (family.length === 0 && child.exitCode === null) {
      await delay(20);
      family.push(...pidsBelow(child.pid ?? 0));
    }
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect([exitCodes.terminated, exitCodes.done]).toContain(code);
    await eventuallyGone(family);
  });

  test('killed: its chain ends, its run file is taken as stale, its data comes back', async () => {
    const first = await start('--port', '0');
    const rewarded = await rewardsJson(alice, { cwd: project.path });
    expect(rewarded.code).toBe(0);
    const family = pidsBelow(first.ready.pid);
    await first.stop('SIGKILL');
    await eventuallyGone(family);
    const between = await here(...alice);
    expect(between).toMatchObject({
      code: exitCodes.unreachable,
      stderr: expect.stringContaining('left over from process'),
    });

    const second = await start('--port', '0');
    expect(second.stderr()).toBe('');
    // The kill may have taken the last block with it: its transactions are sent again.
    const { walletAddress } = rewarded.envelope.data.body;
    await expect.poll(() => balanceOf(second.ready, walletAddress)).toBe(100n);
    expect((await here(...alice, '--expect', '4xx')).code).toBe(0);

    const third = await rewardsJson(['serve', '--port', '0'], { cwd: project.path });
    expect(third).toMatchObject({
      code: exitCodes.precondition,
      envelope: { error: { code: 'E_DATA_IN_USE' } },
    });
  });

  test('a taken port: the next free one by default, exit 5 when it was asked for', async () => {
    const holder = createServer();
    const held = await new Promise<boolean>((resolve) => {
      holder.once('error', () => resolve(false)).listen(8787, '127.0.0.1', () => resolve(true));
    });
    const stack = await start('--ephemeral', '--rpc-port', '0');
    const port = Number(new URL(stack.ready.urls.events).port);
    expect(port).toBeGreaterThan(8787);
    expect(stack.stderr()).toContain(`port 8787 is taken; using ${port}`);
    if (held) holder.close();

    const again = ['serve', '--ephemeral', '--port', String(port), '--rpc-port', '0'];
    const taken = await rewardsJson(again, { cwd: '/' });
    expect(taken).toMatchObject({
      code: exitCodes.precondition,
      envelope: { ok: false, error: { code: 'E_PORT_TAKEN', hint: expect.stringContaining('--port') } },
    });
    expect(taken.envelope.error.message).toContain(String(port));
  });

  test('text: a banner with something to try', async (context) => {
    const stack = await ephemeral();
    const text = banner(stack.ready, { style: plainStyle, tookMs: 900, ephemeral: true });
    expect(text).toContain('emulator ready in 0.9s');
    for (const fact of [
      stack.ready.urls.rpc,
      'demo.example',
      stack.ready.brands[0].apiKey,
      'alice@demo.example',
    ]) {
      expect(text).toContain(fact);
    }
    const reason = programMissing('curl');
    if (reason) return context.skip(reason);
    const curl = text.slice(text.indexOf('curl'));
    const answer = JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }));
    expect(answer).toMatchObject({ success: true, rewardAmount: 100 });
  });

  test('what cannot work is refused before anything starts', async () => {
    const both = await here('serve', '--ephemeral', '--persist-to', 'x');
    expect(both).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('exclude each other'),
    });
    await writeFile(join(project.path, 'bad.yaml'), 'brands:\n  - brandId: nothing\n');
    const seed = await rewardsJson(['serve', '--ephemeral', '--seed', 'bad.yaml'], { cwd: project.path });
    expect(seed).toMatchObject({ code: exitCodes.usage, envelope: { error: { code: 'E_FIXTURE' } } });
    expect(seed.envelope.error.message).toMatch(/bad\.yaml:2:\d+ /);
    expect((await here('serve', '--port', '99999')).code).toBe(exitCodes.usage);
    expect((await here('serve', '--clock', 'noon')).code).toBe(exitCodes.usage);
  });

  test('two stacks under names of their own', async () => {
    const one = await start('--ephemeral', '--port', '0', '--name', 'one');
    const two = await start('--ephemeral', '--port', '0', '--name', 'two');
    const shown = await rewardsJson(['clock', 'show', '--name', 'two'], { cwd: project.path });
    expect(shown.envelope.meta.target).toBe(two.ready.urls.events);
    expect(one.ready.urls.events).not.toBe(two.ready.urls.events);
    expect((await here('clock', 'show')).stderr).toContain('--name');
    expect(JSON.parse(await readFile(join(project.path, '.rewards', 'run-one.json'), 'utf8'))).toMatchObject({
      name: 'one',
    });
  });
});
