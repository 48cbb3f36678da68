/** A lane whose nonce a block has used with a transaction that the ledger does not know: an offer of its own that was lost, or another's. */
import { type Hex, parseTransaction, toHex } from 'viem';
import { expect, test } from 'vitest';
import { sign } from '../../src/chain/lane/broadcast.ts';
import type { LaneDeps, Payload } from '../../src/chain/lane/types.ts';
import type { RpcTransaction } from '../../src/chain/rpc/signed-transaction.ts';
import type { Queries } from '../../src/ledger/database/database.ts';
import { followedBlocks } from '../../src/ledger/schema/transactions.ts';
import { noteBlock } from '../../src/ledger/transactions/followed-blocks.ts';
import { findByHashes, transactionsById } from '../../src/ledger/transactions/transactions.ts';
import { freshAddress, freshHash, onEveryDatabase } from '../kits/databases/databases.ts';
import { GWEI, settings, startLane } from './lane-kit.ts';

const FEES = { maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: 2n * GWEI };

onEveryDatabase(({ kit }) => {
  /** A lane with `count` transactions in the pool, whose settlements are noted. */
  async function startWith(count: number) {
    const settled: string[] = [];
    const settlements = {
      setup: async (_: Queries, { transactions }: { transactions: { nonce: number }[] }) => {
        settled.push(...transactions.map(({ nonce }) => `nonce ${nonce}`));
      },
    };
    const more = { settlements, lostAfterBlocks: 2, inFlightMax: 20, storeMax: 20, bumpAfterMs: 600_000 };
    const one = startLane(kit().database, more);
    const { database } = kit();
    await database.db.delete(followedBlocks);
    one.world.work = count;
    await one.turn();
    const { world, signer } = one;
    return {
      ...one,
      settled,
      /** The chain has such a block, in which the account has this nonce, and the ledger has read it. */
      async read(number: number, nonce: number, transactions: RpcTransaction[] = []) {
        const hash = freshHash();
        await database.atomically((tx) => noteBlock(tx, { number, hash, feedPosition: 0 }, 3));
        world.blocks.set(number, { hash, transactions });
        Object.assign(world.nonces, { [hash]: nonce, [number]: nonce });
        for (const { hash: transactionHash } of transactions)
          world.receipts.set(transactionHash, {
            transactionHash,
            blockHash: hash,
            succeeded: true,
            gasUsed: 30_000n,
            effectiveGasPriceWei: 7n,
            logs: [],
          });
        return hash;
      },
      /** Another offer of the `nth` transaction that was made, or what `change` makes of it, as a node shows it. */
      async offer(nth: number, change: Partial<Payload> = {}): Promise<RpcTransaction & { raw: Hex }> {
        const {
          to,
          data = '0x',
          value = 0n,
          gas = 0n,
          nonce = 0,
        } = parseTransaction(world.offered[nth] ?? '0x');
        const payload = { to: to ?? signer.address, data, valueWei: value, gas, ...change };
        const deps = { signer, settings } as unknown as LaneDeps;
        const { raw, hash } = await sign(deps, { nonce, payload, fees: FEES });
        const { r, s, yParity = 0 } = parseTransaction(raw);
        return {
          raw,
          hash,
          from: signer.address,
          to: payload.to,
          nonce: toHex(nonce),
          input: payload.data,
          value: toHex(payload.valueWei),
          gas: toHex(payload.gas),
          type: '0x2',
          chainId: toHex(settings.chainId),
          maxFeePerGas: toHex(FEES.maxFeePerGas),
          maxPriorityFeePerGas: toHex(FEES.maxPriorityFeePerGas),
          accessList: [],
          ...(r && { r }),
          ...(s && { s }),
          yParity: toHex(yParity),
        };
      },
      rows: async (ids: string[]) => transactionsById(database.db, ids),
    };
  }
  type Started = Awaited<ReturnType<typeof startWith>>;
  const opened = async ({ open }: Started) => (await open()).map(({ nonce }) => nonce);

  test('a nonce that a foreign transaction used is an alarm, and given up when its block is deep enough', async () => {
    const one = await startWith(2);
    const { world, turn, alarms, facts, settled, read } = one;
    Object.assign(world.nonces, { latest: 1, pending: 2 });
    await read(50, 0);
    // The chain has passed the nonce; its block was not read yet.
    await turn(1_000);
    expect(alarms()).toEqual([]);
    await read(51, 1, [await one.offer(0, { to: freshAddress() })]);
    await turn(1_000);
    expect([alarms(), facts()]).toEqual([['nonce_lost'], { nonce: 0, count: 1, unknown: 0 }]);
    await read(52, 1);
    await turn(1_000);
    expect([settled, await opened(one)]).toEqual([[], [0, 1]]);
    await read(53, 1);
    await turn(1_000);
    expect([settled, await opened(one)]).toEqual([['nonce 0'], [1]]);
    await turn(1_000);
    expect(alarms()).toEqual([]);
  });

  test.each([
    ['value', { valueWei: 6n }],
    ['data', { data: '0xabce' as Hex }],
  ] as const)('one with another %s is foreign as well', async (_, change) => {
    const one = await startWith(1);
    const { world, turn, settled, read } = one;
    Object.assign(world.nonces, { latest: 1, pending: 1 });
    await read(50, 0);
    await read(51, 1, [await one.offer(0, change)]);
    for (const number of [52, 53]) await read(number, 1);
    await turn(1_000);
    expect(settled).toEqual(['nonce 0']);
  });

  test.each([
    ['done', true],
    ['reverted', false],
  ] as const)(
    'an offer of ours that the ledger lost is booked with its block: %s',
    async (outcome, succeeded) => {
      const one = await startWith(2);
      const { world, turn, alarms, settled, read } = one;
      const [first] = await one.open();
      Object.assign(world.nonces, { latest: 1, pending: 2 });
      await read(50, 0);
      const lost = await one.offer(0);
      const blockHash = await read(51, 1, [lost]);
      Object.assign(world.receipts.get(lost.hash) ?? {}, { succeeded });
      await read(52, 1);
      await turn(1_000);
      const alarm = succeeded ? [] : ['transaction_reverted'];
      expect([alarms(), settled, await opened(one)]).toEqual([alarm, [], [1]]);
      expect(world.told).toContain(outcome);
      expect(await one.rows([first?.id ?? ''])).toMatchObject([
        {
          status: 'included',
          hash: lost.hash,
          blockNumber: 51,
          blockHash,
          outcome,
          gasUsed: 30_000,
          gasPriceWei: '7',
        },
      ]);
      expect(await findByHashes(kit().database.db, [lost.hash])).toMatchObject([
        { kind: 'payload', raw: lost.raw },
      ]);
      for (const number of [53, 54, 55]) await read(number, 1);
      await turn(1_000);
      expect(settled).toEqual([]);
    },
  );

  test('bytes that the ledger has by now, in a block that was read before, are booked with it', async () => {
    const one = await startWith(1);
    const { world, turn, read } = one;
    const [own] = await one.open();
    Object.assign(world.nonces, { latest: 1, pending: 1 });
    await read(50, 0);
    const shown = { ...(await one.offer(0)), hash: own?.hash ?? '0x' };
    await read(51, 1, [shown]);
    await turn(1_000);
    expect(await one.rows([own?.id ?? ''])).toMatchObject([{ status: 'included', blockNumber: 51 }]);
    expect(await findByHashes(kit().database.db, [own?.hash ?? '0x'])).toHaveLength(1);
  });

  const silences: [string, (one: Started, lost: RpcTransaction) => () => void][] = [
    [
      'the state of the block before',
      ({ world }) => {
        delete world.nonces[52];
        return () => Object.assign(world.nonces, { 52: 1 });
      },
    ],
    [
      'the block',
      ({ world }) => {
        const block = world.blocks.get(51) ?? { hash: '0x', transactions: [] };
        world.blocks.delete(51);
        return () => void world.blocks.set(51, block);
      },
    ],
    [
      'the transaction',
      ({ world }) => {
        const block = world.blocks.get(51);
        const transactions = block?.transactions.splice(0) ?? [];
        return () => void block?.transactions.push(...transactions);
      },
    ],
    [
      'the receipt',
      ({ world }, { hash }) => {
        const receipt = world.receipts.get(hash);
        world.receipts.delete(hash);
        return () => void (receipt && world.receipts.set(hash, receipt));
      },
    ],
    [
      'a receipt of this very block',
      ({ world }, { hash }) => {
        const receipt = world.receipts.get(hash);
        const { blockHash = '0x' } = receipt ?? {};
        Object.assign(receipt ?? {}, { blockHash: freshHash() });
        return () => void Object.assign(receipt ?? {}, { blockHash });
      },
    ],
    [
      'the form of its signature',
      ({ world }) => {
        const [shown] = world.blocks.get(51)?.transactions ?? [];
        Object.assign(shown ?? {}, { type: '0x4' });
        return () => void Object.assign(shown ?? {}, { type: '0x2' });
      },
    ],
  ];
  test.each(silences)(
    'while no node tells %s, nothing is decided, however deep it is',
    async (_, silence) => {
      const one = await startWith(1);
      const { world, turn, alarms, facts, settled, read } = one;
      Object.assign(world.nonces, { latest: 1, pending: 1 });
      await read(50, 0);
      const lost = await one.offer(0);
      await read(51, 1, [lost]);
      for (const number of [52, 53, 54, 55]) await read(number, 1);
      const speak = silence(one, lost);
      for (let looks = 0; looks < 3; looks += 1) {
        await turn(1_000);
        expect([alarms(), settled, await opened(one)]).toEqual([['nonce_lost'], [], [0]]);
        expect(facts()).toEqual({ nonce: 0, count: 1, unknown: 1 });
      }
      speak();
      await turn(1_000);
      expect([alarms(), settled, await opened(one)]).toEqual([[], [], []]);
    },
  );

  test.each(['ours', 'foreign'] as const)(
    'a block that the ledger read otherwise decides nothing: %s',
    async (whose) => {
      const one = await startWith(1);
      const { world, turn, settled, read } = one;
      Object.assign(world.nonces, { latest: 1, pending: 1 });
      await read(50, 0);
      const shown = await one.offer(0, whose === 'ours' ? {} : { to: freshAddress() });
      await read(51, 1, [shown]);
      for (const number of [52, 53]) await read(number, 1);
      const hash = freshHash();
      // The node is on another fork than the one that was read.
      world.blocks.set(51, { hash, transactions: [shown] });
      const receipt = world.receipts.get(shown.hash);
      Object.assign(receipt ?? {}, { blockHash: hash });
      await turn(1_000);
      expect([settled, await opened(one)]).toEqual([[], [0]]);
    },
  );

  test('of many, a few are searched in each look, and those that nobody tells of do not keep the others', async () => {
    const one = await startWith(12);
    const { world, turn, facts, read } = one;
    Object.assign(world.nonces, { latest: 12, pending: 12 });
    await read(50, 0);
    const offers = await Promise.all(world.offered.map((_, nth) => one.offer(nth)));
    const [hidden, ...shown] = [offers.slice(0, 4), ...offers.slice(4)];
    await read(51, 12, shown as RpcTransaction[]);
    await turn(1_000);
    expect(facts()).toEqual({ nonce: 0, count: 12, unknown: 12 });
    expect(world.questions).toBeLessThanOrEqual(4 * 3);
    await turn(1_000);
    expect(facts()).toEqual({ nonce: 0, count: 8, unknown: 8 });
    await turn(1_000);
    expect(facts()).toEqual({ nonce: 0, count: 4, unknown: 4 });
    world.blocks.get(51)?.transactions.push(...(hidden as RpcTransaction[]));
    for (const { hash } of hidden as RpcTransaction[]) {
      const [like] = world.receipts.values();
      if (like) world.receipts.set(hash, { ...like, transactionHash: hash });
    }
    await turn(1_000);
    expect(await opened(one)).toEqual([]);
  });

  test('a use of long ago is found with few questions', async () => {
    const one = await startWith(1);
    const { world, turn, read } = one;
    Object.assign(world.nonces, { latest: 1, pending: 1 });
    const lost = await one.offer(0);
    await read(70_000, 1, [lost]);
    for (let number = 60_000; number < 100_000; number += 1) world.nonces[number] = number < 70_000 ? 0 : 1;
    await read(100_000, 1);
    await turn(1_000);
    expect(await opened(one)).toEqual([]);
    expect(world.questions).toBeLessThan(40);
  });

  test('one that offers less than the newest of the ledger does not become the one to outbid', async () => {
    const one = await startWith(1);
    const { world, turn, read } = one;
    Object.assign(world.nonces, { latest: 0, pending: 1 });
    world.baseFeeWei = 45n * GWEI;
    await turn(2_000);
    const [better] = await one.open();
    expect(better?.maxFeeWei).toBeGreaterThan(FEES.maxFeePerGas);
    Object.assign(world.nonces, { latest: 1, pending: 1 });
    await read(50, 0);
    const lost = await one.offer(0);
    await read(51, 1, [lost]);
    await turn(1_000);
    expect(await one.rows([better?.id ?? ''])).toMatchObject([{ status: 'included', hash: lost.hash }]);
    const { reopenFrom } = await import('../../src/ledger/transactions/transactions.ts');
    await kit().database.atomically((tx) => reopenFrom(tx, 51));
    expect(await one.open()).toMatchObject([{ hash: better?.hash }]);
  });
});
