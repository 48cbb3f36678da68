/** Wallets that a thread derives before their users come: the same addresses, whatever becomes of the thread. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HDKey } from '@scure/bip32';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { walletsDerivedAhead } from '../../src/identity/derive-ahead.ts';
import { derivedWallets, levelOf } from '../../src/identity/derived.ts';
import type { Log } from '../../src/lib/log.ts';
import { until } from '../kits/service/clock.ts';

const xpub = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'/0").publicExtendedKey;
const tree = derivedWallets(xpub);
const built = new URL('../../dist/derive-thread.js', import.meta.url);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'derive-ahead-'));
});
afterAll(() => rm(folder, { recursive: true }));

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const warnings: string[] = [];
const log: Log = {
  debug: () => {},
  info: () => {},
  error: () => {},
  warn: ({ error }, message) => warnings.push(`${message}: ${error}`),
};

function open(module: URL) {
  const wallets = walletsDerivedAhead(levelOf(xpub), { log, module });
  stops.push(wallets.stop);
  return wallets;
}

/** A thread of this text, as a module. */
async function threadOf(name: string, text: string) {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, text);
  return pathToFileURL(file);
}

/** The users of a turn of the event loop. */
async function turnOf(wallets: { addressAt(index: number): string }, { from = 0, users = 64 } = {}) {
  const addresses = Array.from({ length: users }, (_, place) => wallets.addressAt(from + place));
  await new Promise((resolve) => setImmediate(resolve));
  return addresses;
}

/** Answers with addresses that nobody would derive, so that it shows which of them were used. */
const MARKED = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ from, count }) =>
  parentPort.postMessage({ from, addresses: Array.from({ length: count }, (_, place) => 'of the thread: ' + (from + place)) }));`;

test('3,000 users of a busy minute have the addresses of the tree', async () => {
  const wallets = open(built);
  for (let from = 0; from < 3_000; from += 60) {
    const addresses = await turnOf(wallets, { from, users: 60 });
    expect(addresses).toEqual(addresses.map((_, place) => tree.addressAt(from + place)));
    // As a commit would, it leaves the thread time.
    if (from % 600 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(warnings).toEqual([]);
});

test('what the thread has derived is used, and each place once; a ledger that goes back derives anew', async () => {
  const wallets = open(await threadOf('marked', MARKED));
  expect(await turnOf(wallets)).toEqual(Array.from({ length: 64 }, (_, place) => tree.addressAt(place)));
  let from = 64;
  await until('the thread has answered', async () => {
    const [address] = await turnOf(wallets, { from, users: 1 });
    from += 1;
    return address === `of the thread: ${from - 1}`;
  });
  expect(wallets.addressAt(from)).toBe(`of the thread: ${from}`);
  expect(wallets.addressAt(from)).toBe(tree.addressAt(from));
  expect(wallets.addressAt(3)).toBe(tree.addressAt(3));
});

test('a few users at a time start no thread', async () => {
  const wallets = open(await threadOf('unused', 'throw new Error("started")'));
  for (let from = 0; from < 150; from += 15) await turnOf(wallets, { from, users: 15 });
  // Nothing happens: a thread would have failed by now.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(warnings).toEqual([]);
});

test('a thread that fails is told once, and users get their addresses', async () => {
  const wallets = open(await threadOf('failing', 'throw new Error("no memory")'));
  await turnOf(wallets);
  await until('the log says it', async () => warnings.length > 0);
  const addresses = await turnOf(wallets, { from: 64 });
  expect(addresses).toEqual(addresses.map((_, place) => tree.addressAt(64 + place)));
  // No second warning comes.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(warnings.splice(0)).toEqual([expect.stringMatching(/derived as users come.*no memory/)]);
});

test('where other processes take nearly all places, it ends', async () => {
  const wallets = open(await threadOf('in-vain', MARKED));
  const rest = () => new Promise((resolve) => setTimeout(resolve, 5));
  let from = 0;
  for (let turn = 0; turn < 80; turn += 1) {
    await turnOf(wallets, { from });
    from += 1_000;
    await rest();
  }
  for (let turn = 0; turn < 20; turn += 1) {
    const addresses = await turnOf(wallets, { from });
    expect(addresses).toEqual(addresses.map((_, place) => tree.addressAt(from + place)));
    from += addresses.length;
    await rest();
  }
});
