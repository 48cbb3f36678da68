/** What a clean stop keeps, and a start that finds damage. What a killed process keeps: test/reliability/kills. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { BOB, type HostOptions, startHere, tempDir } from './local-chain-support.ts';

type Host = Awaited<ReturnType<typeof startHere>>;

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
/** The names of the checkpoint files, oldest first. */
const checkpointsOf = (dir: string) =>
  (existsSync(join(dir, 'chain')) ? readdirSync(join(dir, 'chain')) : []).sort(
    (a, b) => Number(a.split('-')[1]) - Number(b.split('-')[1]),
  );
const warnings = (host: Host) => host.logs.filter((log) => log.level === 'warn').map((log) => log.message);

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('a chain without a journal starts empty each time and writes nothing', async () => {
  const dir = newDir();
  const first = await start({ dir, journal: false });
  await first.rpc.pay();
  await first.stop();
  expect(readdirSync(dir)).toEqual([]);
  expect((await start({ dir, journal: false })).ready.restoredBlocks).toBe(0);
});

test.each([1, 2])('with the newest %i damaged, the chain still comes back', async (damaged) => {
  const dir = newDir();
  for (let round = 0; round < 2; round += 1) {
    const host = await start({ dir });
    for (let i = 0; i < 5; i += 1) await host.rpc.pay();
    await host.stop();
  }
  const files = checkpointsOf(dir).reverse();
  expect(files.length).toBe(2);
  for (const file of files.slice(0, damaged)) {
    const path = join(dir, 'chain', file);
    writeFileSync(path, readFileSync(path).subarray(0, 300));
  }
  const host = await start({ dir });
  expect(host.ready.restoredBlocks).toBe(10);
  expect(warnings(host)).toEqual(Array(damaged).fill('skipped a checkpoint of the local chain'));
  // All that a checkpoint does not bring is mined again, which is told.
  const told = host.logs.filter(({ level }) => level === 'progress').map(({ fields }) => fields);
  expect([told.at(0), told.at(-1)]).toEqual([
    { block: damaged === 1 ? 5 : 0, of: 10 },
    { block: 10, of: 10 },
  ]);
  const { receipts } = await host.rpc.picture();
  expect(receipts.map((receipt) => receipt.status)).toEqual(Array(10).fill('0x1'));
});

test('changes without a transaction survive a clean stop', async () => {
  const dir = newDir();
  const first = await start({ dir });
  await first.rpc.pay();
  await first.rpc.call('anvil_setBalance', BOB, '0x7');
  await first.stop();
  const second = await start({ dir });
  expect(await second.rpc.call('eth_getBalance', BOB, 'latest')).toBe('0x7');
  expect(warnings(second)).toEqual([]);
});
