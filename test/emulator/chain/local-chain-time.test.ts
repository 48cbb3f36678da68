import { rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { delay } from '../../../src/lib/timers.ts';
import { until } from '../../kits/service/clock.ts';
import { type HostOptions, startHere, tempDir } from './local-chain-support.ts';

type Host = Awaited<ReturnType<typeof startHere>>;

const DAY_MS = 86_400_000;
const hosts: Host[] = [];
const dirs: string[] = [];
const newDir = () => {
  const dir = tempDir();
  dirs.push(dir);
  return dir;
};
const start = async (options: HostOptions) => {
  const host = await startHere(options);
  hosts.push(host);
  return host;
};
/** The clock's second before and after, and the time of a block mined in between. */
const mineNow = async (host: Host) => {
  const { now } = (await host.ask('now')) as { now: number };
  await host.rpc.pay();
  const { timestamp: block } = await host.rpc.block();
  const { now: after } = (await host.ask('now')) as { now: number };
  return { now, block, after };
};
/** Within what the clock showed before and after; a fraction of a second may put the chain one behind or ahead. */
const expectTogether = ({ now, block, after }: { now: number; block: number; after: number }) => {
  expect(block).toBeGreaterThanOrEqual(now - 1);
  expect(block).toBeLessThanOrEqual(after + 1);
};

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('blocks carry the clock: at the start, after advance and set', async () => {
  const host = await start({ dir: newDir() });
  expectTogether(await mineNow(host));
  await host.ask('advance', 61_000);
  expectTogether(await mineNow(host));
  await host.ask('advance', 3 * DAY_MS);
  const ahead = await mineNow(host);
  expectTogether(ahead);
  await host.ask('set', (ahead.now + 1_000_000) * 1000);
  expectTogether(await mineNow(host));
});

test('frozen blocks all carry the frozen second, which can be advanced', async () => {
  const startMs = Date.UTC(2030, 0, 1, 12, 0, 0);
  const host = await start({ dir: newDir(), startMs, frozen: true });
  expect(await mineNow(host)).toEqual({ now: startMs / 1000, block: startMs / 1000, after: startMs / 1000 });
  // As long as a running clock needs to show another second.
  await delay(1_200);
  await host.rpc.pay();
  expect(await mineNow(host)).toEqual({ now: startMs / 1000, block: startMs / 1000, after: startMs / 1000 });
  await host.ask('advance', 61_000);
  expect((await mineNow(host)).block).toBe(startMs / 1000 + 61);
  await delay(1_200);
  expect((await mineNow(host)).block).toBe(startMs / 1000 + 61);
  await host.ask('run');
  await until('the clock runs', async () => {
    const running = await mineNow(host);
    expectTogether(running);
    return running.block > startMs / 1000 + 61;
  });
  await host.ask('freeze');
  const frozen = await mineNow(host);
  await delay(1_200);
  expect(await mineNow(host)).toEqual(frozen);
});

test('a clock that is set back holds the chain until it has caught up', async () => {
  const host = await start({ dir: newDir() });
  const { block } = await mineNow(host);
  // Frozen, so that it does not catch up before it is looked at.
  await host.ask('freeze');
  await host.ask('set', (block - 2) * 1000);
  expect((await mineNow(host)).block).toBe(block);
  await host.ask('run');
  await until('the clock has passed the held second', async () => (await mineNow(host)).block > block);
  expectTogether(await mineNow(host));
});

test('after a restart blocks carry the clock again, three days ahead or not', async () => {
  const dir = newDir();
  const first = await start({ dir });
  await first.rpc.pay();
  await first.stop();
  const second = await start({ dir, offsetMs: 3 * DAY_MS });
  const ahead = await mineNow(second);
  expectTogether(ahead);
  await second.ask('flush');
  await second.stop();

  const third = await start({ dir, offsetMs: 3 * DAY_MS });
  expectTogether(await mineNow(third));
  await third.stop();

  // The clock was reset while the chain was down: time stands still rather than going back.
  const fourth = await start({ dir });
  const held = await mineNow(fourth);
  expect(held.block).toBeGreaterThanOrEqual(ahead.block);
  expect(held.now).toBeLessThan(ahead.block);
});

test('a frozen clock and a block time go together', async () => {
  const startMs = Date.UTC(2031, 5, 1);
  const dir = newDir();
  const host = await start({ dir, startMs, frozen: true, blockTimeSeconds: 1 });
  await until('a block', async () => (await host.rpc.block()).number >= 1);
  const head = await host.rpc.block();
  expect(head.timestamp).toBe(startMs / 1000);
  await host.stop();
  const again = await start({ dir, startMs: startMs + 5_000, frozen: true, blockTimeSeconds: 1 });
  await until('another block', async () => (await again.rpc.block()).number > again.ready.restoredBlocks);
  expect((await again.rpc.block()).timestamp).toBe(startMs / 1000 + 5);
});
