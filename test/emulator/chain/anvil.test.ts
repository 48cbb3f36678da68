import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type AnvilProcess, startAnvil } from '../../../src/chain/development/anvil.ts';
import { AnvilError, findAnvilBinary } from '../../../src/chain/development/find-anvil.ts';
import { until } from '../../kits/service/clock.ts';
import { processTable } from '../../kits/service/processes.ts';
import { gone, lives, rpcOf } from './local-chain-support.ts';

const started: AnvilProcess[] = [];
const start = async (settings: Partial<Parameters<typeof startAnvil>[0]> = {}) => {
  const anvil = await startAnvil({ bindAddress: '127.0.0.1', port: 0, blockTimeSeconds: 0, ...settings });
  started.push(anvil);
  return anvil;
};
const pidsOf = (anvil: AnvilProcess) => [anvil.pid ?? 0, ...anvil.guardPids];

afterEach(async () => {
  for (const anvil of started.splice(0)) await anvil.stop();
});

describe('starting', () => {
  test('takes a free port, answers with the chain id and mines a transaction at once', async () => {
    const anvil = await start();
    const rpc = rpcOf(anvil.rpcUrl);
    expect(anvil.port).toBeGreaterThan(1024);
    expect(await rpc.call('eth_chainId')).toBe('0x7a69');
    expect((await rpc.pay()).status).toBe('0x1');
    expect((await rpc.block()).number).toBe(1);
  });

  test('two at once get different ports', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    expect(one?.port).not.toBe(two?.port);
  });

  test('the genesis time, the block time and the gas limit are as asked', async () => {
    const anvil = await start({
      genesisTimeSeconds: 1_900_000_000,
      blockTimeSeconds: 1,
      gasLimit: 77_000_000,
    });
    const rpc = rpcOf(anvil.rpcUrl);
    expect(await rpc.block(0)).toMatchObject({ timestamp: 1_900_000_000, gasLimit: '0x496ed40' });
    await until('a block', async () => (await rpc.block()).number >= 1);
  });

  test('a taken port is an error that names it and the way out', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const address = holder.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const error = await startAnvil({ bindAddress: '127.0.0.1', port, blockTimeSeconds: 0 }).catch(
      (reason: unknown) => reason,
    );
    await new Promise((resolve) => holder.close(resolve));
    expect(error).toBeInstanceOf(AnvilError);
    expect(error).toMatchObject({ code: 'E_PORT_TAKEN', message: expect.stringContaining(String(port)) });
    expect((error as AnvilError).fix).toMatch(/another port/);
  });

  test('a host that is not this machine is an error that says so', async () => {
    const error = await startAnvil({ bindAddress: '192.0.2.1', port: 0, blockTimeSeconds: 0 }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'E_ANVIL_START', message: expect.stringContaining('192.0.2.1') });
  });

  test('a platform without a binary, and one that is not installed, say what to do', () => {
    const caught = (platform: { os: string; arch: string }) => {
      try {
        return findAnvilBinary(platform);
      } catch (error) {
        return error;
      }
    };
    expect(caught({ os: 'sunos', arch: 'sparc' })).toMatchObject({ code: 'E_ANVIL_MISSING' });
    const other = process.platform === 'win32' ? { os: 'linux', arch: 'x64' } : { os: 'win32', arch: 'x64' };
    expect(caught(other)).toMatchObject({
      code: 'E_ANVIL_MISSING',
      fix: expect.stringContaining('npm install'),
    });
  });
});

describe.skipIf(process.platform === 'win32')('ending', () => {
  test('stop ends Anvil and its guard and may be called again', async () => {
    const anvil = await start();
    expect(pidsOf(anvil).every(lives)).toBe(true);
    await Promise.all([anvil.stop(), anvil.stop()]);
    await anvil.stop();
    expect(pidsOf(anvil).some(lives)).toBe(false);
    expect(await anvil.exited).toMatchObject({ asked: true });
  });

  test('an Anvil that is killed is told by `exited`, and leaves no guard', async () => {
    const anvil = await start();
    process.kill(anvil.pid ?? 0, 'SIGKILL');
    expect(await anvil.exited).toMatchObject({ asked: false });
    await gone(pidsOf(anvil));
    await anvil.stop();
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('a guard that gets %s takes Anvil with it', async (name) => {
    const anvil = await start();
    process.kill(anvil.guardPids[0] ?? 0, name);
    expect(await anvil.exited).toMatchObject({ asked: false });
    await gone(pidsOf(anvil));
  });

  test('Ctrl-C in the terminal does not reach it', async () => {
    const anvil = await start();
    const [its, own] = [anvil.pid, process.pid].map(
      (pid) => processTable().find((row) => row.pid === pid)?.group,
    );
    expect(its).toBeGreaterThan(0);
    expect(its).not.toBe(own);
  });
});

describe('long runs', () => {
  test('leave no file below the home directory and print nothing', async () => {
    const home = mkdtempSync(join(tmpdir(), 'rewards-home-'));
    const before = process.env.HOME;
    process.env.HOME = home;
    const anvil = await start().finally(() => {
      process.env.HOME = before;
    });
    const rpc = rpcOf(anvil.rpcUrl);
    for (let i = 0; i < 20; i += 1) await rpc.pay();
    await rpc.call('anvil_mine', '0x7d0');
    await anvil.stop();
    expect(readdirSync(home)).toEqual([]);
    rmSync(home, { recursive: true });
  });
});
