import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Hex, hexToBytes } from 'viem';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startAnvil } from '../../../src/chain/development/anvil.ts';
import type { JournalBlock } from '../../../src/ledger/emulator/chain-journal.ts';
import {
  ALICE,
  BOB,
  gone,
  type HostOptions,
  lives,
  NOBODY,
  rpcOf,
  sqliteJournal,
  tempDir,
} from '../../emulator/chain/local-chain-support.ts';
import { until } from '../../kits/service/clock.ts';
import { removeHostProgram, startHost } from './local-chain-process.ts';

type Host = Awaited<ReturnType<typeof startHost>>;

const hosts: Host[] = [];
const dirs: string[] = [];
const newDir = () => {
  const dir = tempDir();
  dirs.push(dir);
  return dir;
};
const start = async (options: HostOptions) => {
  const host = await startHost(options);
  hosts.push(host);
  return host;
};
const entriesOf = (dir: string): JournalBlock[] => {
  const journal = sqliteJournal(join(dir, 'journal.sqlite'));
  const entries = journal.entries();
  journal.close();
  return entries;
};
/** The names of the checkpoint files, oldest first. */
const checkpointsOf = (dir: string) =>
  (existsSync(join(dir, 'chain')) ? readdirSync(join(dir, 'chain')) : []).sort(
    (a, b) => Number(a.split('-')[1]) - Number(b.split('-')[1]),
  );
const warnings = (host: Host) => host.logs.filter((log) => log.level === 'warn').map((log) => log.message);

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.kill();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});
afterAll(removeHostProgram);

describe('a restart on the same data directory', () => {
  test.each(['clean stop', 'SIGKILL'] as const)('after a %s brings everything back', async (how) => {
    const dir = newDir();
    const first = await start({ dir });
    await first.rpc.pay();
    await first.rpc.call('anvil_mine', '0x19', '0x7');
    await first.rpc.pay({ from: BOB, value: '0xde0b6b3a7640000' });
    await first.rpc.call('evm_setAutomine', false);
    for (const value of ['0x5', '0x6', '0x7']) await first.rpc.send({ value });
    await first.rpc.send({ from: BOB, value: '0x8' });
    await first.rpc.call('evm_mine');
    await first.rpc.call('evm_mine');
    await first.rpc.call('evm_setAutomine', true);
    // Reverts, and is in its block all the same.
    await first.rpc.pay({ to: undefined, data: '0x60006000fd', gas: '0x30000', value: '0x0' });
    await first.ask('flush');
    const before = await first.rpc.picture();
    expect(before.receipts.map((receipt) => receipt.status)).toContain('0x0');

    if (how === 'SIGKILL') await first.kill();
    else await first.stop();
    await gone([first.ready.pid, ...first.ready.guardPids]);

    const second = await start({ dir });
    expect(second.ready.restoredBlocks).toBe(before.blocks.length - 1);
    expect(await second.rpc.picture()).toEqual(before);
    expect(warnings(second)).toEqual([]);
    const next = await second.rpc.pay();
    expect(Number(next.blockNumber)).toBe(before.blocks.length);
  });

  test('long runs of empty blocks are one entry, and come back with their times', async () => {
    const dir = newDir();
    // Without a checkpoint everything is mined again.
    const first = await start({ dir, checkpointEveryBlocks: 1_000_000 });
    await first.rpc.pay();
    // More than Anvil mines in a second: the real time goes on in the middle of a run.
    await first.rpc.call('anvil_mine', '0x2710', '0x3');
    await first.ask('flush');
    const head = await first.rpc.block();
    const middle = await first.rpc.block(1_234);
    await first.kill();
    expect(entriesOf(dir).length).toBeLessThan(60);

    const second = await start({ dir, checkpointEveryBlocks: 1_000_000 });
    expect(await second.rpc.block()).toEqual(head);
    expect(await second.rpc.block(1_234)).toEqual(middle);
    expect(warnings(second)).toEqual([]);
  });

  test('with a block time, empty blocks cost one growing entry and nothing is lost on SIGKILL', async () => {
    const dir = newDir();
    const first = await start({ dir, blockTimeSeconds: 1 });
    await first.rpc.pay();
    await until('four blocks', async () => (await first.rpc.block()).number >= 4);
    await first.ask('flush');
    const before = await first.rpc.picture();
    await first.kill();
    expect(before.blocks.length).toBeGreaterThan(4);
    expect(entriesOf(dir).length).toBeLessThanOrEqual(before.blocks.length - 1);

    const second = await start({ dir, blockTimeSeconds: 1 });
    expect(second.ready.restoredBlocks).toBeGreaterThanOrEqual(before.blocks.length - 1);
    for (const block of before.blocks) expect(await second.rpc.block(block.number)).toEqual(block);
    expect(Number((await second.rpc.pay()).blockNumber)).toBeGreaterThanOrEqual(before.blocks.length);
  });

  test('transactions of impersonated senders come back', async () => {
    const dir = newDir();
    const first = await start({ dir });
    await first.rpc.pay({ to: NOBODY, value: '0xde0b6b3a7640000' });
    await first.rpc.call('anvil_impersonateAccount', NOBODY);
    await first.rpc.pay({ from: NOBODY, to: BOB, value: '0x9' });
    await first.ask('flush');
    const before = await first.rpc.picture();
    await first.kill();
    const second = await start({ dir });
    expect(await second.rpc.picture()).toEqual(before);
    expect(warnings(second)).toEqual([]);
  });

  test('blocks that were not flushed are journaled by themselves within a moment', async () => {
    const dir = newDir();
    const first = await start({ dir });
    const paid = await first.rpc.pay();
    await until('its entry', () => entriesOf(dir).some(({ hash }) => hash === paid.blockHash));
    await first.kill();
    const second = await start({ dir });
    expect(await second.rpc.receipt(paid.hash)).toMatchObject({ blockHash: paid.blockHash });
  });
});

describe('checkpoints', () => {
  test('are taken while blocks come in, two are kept, and the newest is used', async () => {
    const dir = newDir();
    const first = await start({ dir, checkpointEveryBlocks: 10 });
    for (let round = 0; round < 4; round += 1) {
      // One is due every ten blocks; it is given up where blocks come for as long as it takes.
      await first.rpc.pay();
      await first.rpc.call('anvil_mine', '0xb');
      await until('a checkpoint of this round', () =>
        checkpointsOf(dir).some((name) => name.endsWith('.bin') && Number(name.split('-')[1]) > 12 * round),
      );
    }
    await first.ask('flush');
    const before = await first.rpc.picture();
    await until('two are left', () => checkpointsOf(dir).length === 2);
    await first.kill();

    const second = await start({ dir, checkpointEveryBlocks: 1_000 });
    expect(await second.rpc.picture()).toEqual(before);
    const restored = second.logs.find((log) => log.message === 'local chain restored');
    expect(restored?.fields.block).toBe(48);
    expect(restored?.fields.replayed).toBeLessThanOrEqual(24);
  });

  test('one with the state of another block is not used', async () => {
    const dir = newDir();
    const host = await start({ dir });
    await host.rpc.pay();
    await host.ask('flush');
    const { blocks } = await host.rpc.picture();
    const head = await host.rpc.block();
    // The state changes between the last block and the dump, as it does when Anvil mines while it dumps.
    await host.rpc.call('anvil_setBalance', BOB, '0x7');
    const state = await host.rpc.call<Hex>('anvil_dumpState');
    await host.kill();
    mkdirSync(join(dir, 'chain'), { recursive: true });
    writeFileSync(join(dir, 'chain', `checkpoint-${head.number}-${head.hash}.bin`), hexToBytes(state));
    const again = await start({ dir });
    expect(warnings(again)).toEqual(['skipped a checkpoint of the local chain']);
    expect((await again.rpc.picture()).blocks).toEqual(blocks);
  });
});

describe('forks', () => {
  test('a reorg, a rollback and a revert are followed', async () => {
    const dir = newDir();
    const first = await start({ dir });
    const { rpc } = first;
    for (let i = 0; i < 4; i += 1) await rpc.pay();
    await first.ask('flush');
    const snapshot = await rpc.call('evm_snapshot');
    await rpc.pay({ value: '0x11' });
    await rpc.pay({ value: '0x12' });
    await first.ask('flush');
    await rpc.call('evm_revert', snapshot);
    await rpc.pay({ value: '0x13' });
    await first.ask('flush');
    await rpc.call('anvil_reorg', 2, []);
    await first.ask('flush');
    await rpc.pay({ value: '0x14' });
    await rpc.call('anvil_rollback', 1);
    await first.ask('flush');
    await rpc.pay({ value: '0x15' });
    await first.ask('flush');
    const before = await rpc.picture();
    await first.kill();
    const entries = entriesOf(dir);
    expect(entries.at(-1)?.hash).toBe(before.blocks.at(-1)?.hash);

    const second = await start({ dir });
    expect(await second.rpc.picture()).toEqual(before);
    expect(warnings(second)).toEqual([]);
  });

  test('a checkpoint of a branch that is gone is not used', async () => {
    const dir = newDir();
    const first = await start({ dir, checkpointEveryBlocks: 4 });
    for (let i = 0; i < 5; i += 1) await first.rpc.pay();
    await until('a checkpoint', () => checkpointsOf(dir).some((name) => name.endsWith('.bin')));
    await first.rpc.call('anvil_reorg', 5, []);
    await first.rpc.pay({ value: '0x77' });
    await first.ask('flush');
    const before = await first.rpc.picture();
    await first.kill();
    const second = await start({ dir });
    expect(await second.rpc.picture()).toEqual(before);
  });
});

describe('changes without a transaction', () => {
  test('that a later transaction needs are reported, and the rest comes back', async () => {
    const dir = newDir();
    const first = await start({ dir });
    await first.rpc.pay();
    await first.rpc.call('anvil_setBalance', BOB, '0xffffffffffffffffffffffff');
    await first.rpc.pay({ from: BOB, value: '0xeeeeeeeeeeeeeeeeeeeeeeee' });
    await first.rpc.pay({ from: ALICE, value: '0x2' });
    await first.ask('flush');
    await first.kill();
    const second = await start({ dir });
    expect(warnings(second)).toEqual([
      'a transaction of the local chain could not be replayed',
      expect.stringContaining('anvil_setBalance'),
    ]);
    expect(await second.rpc.call('eth_getTransactionCount', ALICE, 'latest')).toBe('0x2');
    // The journal now tells the story as it is, so the next restart has nothing to report.
    await second.stop();
    expect(warnings(await start({ dir }))).toEqual([]);
  });
});

test('2,000 blocks with a transaction each come back, mined again or from a checkpoint', async () => {
  const dir = newDir();
  const first = await start({ dir, checkpointEveryBlocks: 1_000_000 });
  for (let i = 0; i < 2_000; i += 1) await first.rpc.send();
  await until(
    'all of them in blocks',
    async () => (await first.rpc.call('eth_getTransactionCount', ALICE, 'latest')) === '0x7d0',
  );
  await first.ask('flush');
  const head = await first.rpc.block();
  await first.kill();
  const second = await start({ dir });
  expect((await second.rpc.block()).hash).toBe(head.hash);
  const replay = second.logs.find((log) => log.message === 'local chain restored');
  await second.stop();
  const third = await start({ dir });
  expect((await rpcOf(third.ready.rpcUrl).block()).hash).toBe(head.hash);
  const load = third.logs.find((log) => log.message === 'local chain restored');
  console.log(
    `${head.number} blocks: replayed in ${replay?.fields.ms} ms, from a checkpoint in ${load?.fields.ms} ms`,
  );
  expect(replay?.fields.replayed).toBe(head.number);
  expect(load?.fields.replayed).toBe(0);
});

test('Anvil and its guard die with a parent that gets SIGKILL', async () => {
  const dir = newDir();
  const host = await start({ dir, journal: false });
  const pids = [host.ready.pid, ...host.ready.guardPids];
  expect(pids.length).toBe(3);
  expect(pids.every(lives)).toBe(true);
  await host.kill();
  expect(pids.some(lives)).toBe(false);
});

test('an empty block costs no more at height 5,000 than at the start', async () => {
  const anvil = await startAnvil({ bindAddress: '127.0.0.1', port: 0, blockTimeSeconds: 0, miningOff: true });
  const rpc = rpcOf(anvil.rpcUrl);
  /** For one block, the best of ten runs of a hundred: the others were interrupted. */
  const mineMs = async () => {
    const runs: number[] = [];
    for (let run = 0; run < 10; run += 1) {
      const startedAt = performance.now();
      await rpc.call('anvil_mine', '0x64');
      runs.push((performance.now() - startedAt) / 100);
    }
    return Math.min(...runs);
  };
  await rpc.call('anvil_mine', '0x3e8');
  const early = await mineMs();
  await rpc.call('anvil_mine', '0x7d0');
  const late = await mineMs();
  console.log(`empty block: ${early.toFixed(3)} ms at 2,000, ${late.toFixed(3)} ms at 5,000`);
  await anvil.stop();
  expect(late).toBeLessThan(1);
});
