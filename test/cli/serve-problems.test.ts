/** What keeps a stack from starting: a code, the way to mend it, and the right exit code each time. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startAnvil } from '../../src/chain/development/anvil.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { freePort } from '../kits/network/free-port.ts';
import { rewards, rewardsJson, rewardsProcess, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const failing = (args: string[]) => rewardsJson(['serve', '--port', '0', ...args], { cwd: project.path });

describe('the database', () => {
  test('no node answers: exit 3, without the password', async () => {
    const url = 'postgres://me:pass-word@127.0.0.1:1/ledger';
    const { code, envelope } = await failing(['--ephemeral', '--database-url', url]);
    expect(code).toBe(exitCodes.unreachable);
    expect(envelope.error).toMatchObject({ code: 'E_DATABASE_UNREACHABLE', retryable: true });
    expect(envelope.error.message).toContain('127.0.0.1:1/ledger');
    expect(JSON.stringify(envelope)).not.toContain('pass-word');
  });
});

describe('the chain', () => {
  test('no node at --rpc-url: exit 3', async () => {
    const { code, envelope } = await failing(['--ephemeral', '--rpc-url', 'http://127.0.0.1:1']);
    expect(code).toBe(exitCodes.unreachable);
    expect(envelope.error).toMatchObject({
      code: 'E_RPC_UNREACHABLE',
      hint: expect.stringContaining('--rpc-url'),
    });
  });

  test('another chain than the one the data belongs to: exit 5, and both ways out', async () => {
    const anvil = await startAnvil({ bindAddress: '127.0.0.1', port: 0, blockTimeSeconds: 0 });
    const stack = await serveHere(['--port', '0', '--rpc-url', anvil.rpcUrl], { cwd: project.path });
    await stack.stop();
    await anvil.stop();
    const { code, envelope } = await failing([]);
    expect(code).toBe(exitCodes.precondition);
    expect(envelope.error).toMatchObject({
      code: 'E_CHAIN_CHANGED',
      hint: expect.stringMatching(/--ephemeral.*--persist-to/),
    });
  });
});

describe('a taken port of the chain', () => {
  let holder: Server;
  const hold = async (port: number) => {
    holder = createServer();
    const held = new Promise<boolean>((resolve) => {
      holder.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    await held;
    const address = holder.address();
    return typeof address === 'object' && address ? address.port : port;
  };
  const letGo = async () => {
    if (!holder.listening) return;
    holder.close();
    await once(holder, 'close');
  };

  test('the default one gives way to a free one, with a note', async () => {
    await hold(8545);
    const stack = await serveHere(['--ephemeral', '--port', String(await freePort())], { cwd: project.path });
    const port = Number(new URL(stack.ready.urls.rpc).port);
    expect(port).not.toBe(8545);
    expect(stack.stderr()).toContain(`port 8545 for the chain is taken; using ${port}`);
    await stack.stop();
    await letGo();
  });

  test('one that was asked for does not: exit 5', async () => {
    const port = await hold(0);
    const { code, envelope } = await failing(['--ephemeral', '--rpc-port', String(port)]);
    expect(code).toBe(exitCodes.precondition);
    expect(envelope.error).toMatchObject({ code: 'E_PORT_TAKEN' });
    expect(envelope.error.message).toContain(String(port));
    await letGo();
  });
});

test('a start that fails does not say that commands find it', async () => {
  const stack = await serveHere(['--port', '0'], { cwd: project.path });
  const port = new URL(stack.ready.urls.events).port;
  const args = ['serve', '--ephemeral', '--port', port, '--rpc-port', '0'];
  const failed = await rewards(args, { cwd: project.path });
  expect(failed.stderr).toContain('E_PORT_TAKEN');
  expect(failed.stderr).not.toContain('another stack');
  const other = await serveHere(['--ephemeral', '--port', '0'], { cwd: project.path });
  expect(other.stderr()).toContain(`another stack runs at ${stack.ready.urls.events}`);
  await other.stop();
  await stack.stop();
});

test('a SQLite module of another Node: exit 5, and how to build it again', async () => {
  const broken = join(project.path, 'broken.cjs');
  await writeFile(
    broken,
    `const { dlopen } = process;
     process.dlopen = (module, file, ...rest) => {
       if (!/better_sqlite3/.test(file)) return dlopen(module, file, ...rest);
       throw Object.assign(new Error(file + ' was compiled against a different Node.js version'), { code: 'ERR_DLOPEN_FAILED' });
     };`,
  );
  const { code, stdout } = await rewardsProcess(['serve', '--port', '0', '--ephemeral', '-o', 'json'], {
    env: { NODE_OPTIONS: `--require=${broken}` },
  });
  const envelope = JSON.parse(stdout);
  expect(code).toBe(exitCodes.precondition);
  expect(envelope.error).toMatchObject({
    code: 'E_NATIVE_SQLITE',
    hint: expect.stringContaining('npm rebuild better-sqlite3'),
  });
});

test('requests while serving: an entry of the stream each, after the ready line', async () => {
  const stack = await serveHere(['--ephemeral', '--port', '0'], { cwd: project.path });
  const { brandId } = stack.ready.brands[0];
  const body = JSON.stringify({
    brandId,
    domain: 'demo.example',
    eventType: 'account_creation',
    userEmail: 'alice@demo.example',
  });
  const ids: (string | null)[] = [];
  for (const _ of [1, 2]) {
    const answer = await fetch(`${stack.ready.urls.events}/rewards-api/manual-event`, {
      method: 'POST',
      body,
    });
    ids.push(answer.headers.get('x-request-id'));
  }
  await stack.stop();
  const entries = stack
    .lines()
    .slice(1, -1)
    .map((line) => JSON.parse(line));
  expect(entries).toMatchObject([
    { type: 'request', id: ids[0], status: 200, decision: 'rewarded', rewardAmount: 100 },
    { type: 'request', id: ids[1], status: 409, decision: 'duplicate' },
  ]);
});
