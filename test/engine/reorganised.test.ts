/** A follower whose chain changes under it: what it takes back, what it waits for, and what it tells. */
import { eq } from 'drizzle-orm';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { createFollower } from '../../src/chain/indexer/indexer.ts';
import type { BookedTransaction, Reading } from '../../src/chain/indexer/types.ts';
import type { Block, ChainClient, Receipt } from '../../src/chain/rpc/client.ts';
import { RpcTooLargeError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { beginQuestion } from '../../src/ledger/constraint-results.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { bookMovement, openFunds } from '../../src/ledger/rewards/funds.ts';
import { bindRewards, failRewards, markReleased, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { constraintResults } from '../../src/ledger/schema/engagement/constraints.ts';
import { brandFunds, rewards } from '../../src/ledger/schema/rewards.ts';
import { followedBlocks, transactions } from '../../src/ledger/schema/transactions.ts';
import { recentBlocks } from '../../src/ledger/transactions/followed-blocks.ts';
import { storeTransaction, transactionsById } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
let sequences = 900_000;

onEveryDatabase(({ kit }) => {
  /** A chain of one's own, and a follower that has read nothing. */
  async function start(settings: { confirmations?: number; finalityBlocks?: number } = {}) {
    const { database } = kit();
    await database.db.delete(followedBlocks);
    // Transactions of other tests would become final with these blocks.
    await database.db.update(transactions).set({ status: 'final' });
    const escrow = `0x${'ab'.repeat(20)}` as const;
    const world = {
      nowMs: 0,
      blocks: [] as Block[],
      receipts: new Map<Hex, Receipt[]>(),
      /** A node that is behind shows blocks up to here only. */
      shownUpTo: Number.POSITIVE_INFINITY,
      fails: undefined as Error | undefined,
      /** A block of this number is not shown when it is asked for. */
      hides: undefined as number | undefined,
      /** What the second look at a block shows. */
      again: undefined as Block | undefined,
      asked: [] as string[],
      booked: [] as BookedTransaction[],
      readings: [] as Reading[],
      reorganised: 0,
    };
    const shown = () => world.blocks.filter(({ number }) => number <= world.shownUpTo);
    const chain: Partial<ChainClient> = {
      block: async (which) => {
        if (which === 'latest') return shown().at(-1);
        if (which === world.hides) return undefined;
        return world.again?.number === which ? world.again : shown().find(({ number }) => number === which);
      },
      blockReceipts: async (number) => {
        world.asked.push(`receipts ${number}`);
        if (world.fails) throw world.fails;
        const block = shown().find((one) => one.number === number);
        return block && (world.receipts.get(block.hash) ?? []);
      },
      receipt: async (hash) =>
        [...world.receipts.values()].flat().find((one) => one.transactionHash === hash),
      logsIn: async (hash, address) =>
        (world.receipts.get(hash) ?? []).flatMap(({ logs }) => logs).filter((log) => log.address === address),
    };
    const alarms = createAlarms({ now: () => NOW_MS, log: silentLog });
    const follower = createFollower({
      database,
      chain: chain as ChainClient,
      alarms,
      log: silentLog,
      crash: neverCrash,
      clock: { now: () => NOW_MS, sleep: async () => {} },
      realClock: { now: () => world.nowMs, sleep: async () => {} },
      settlements: {},
      settings: {
        escrow,
        token: freshAddress(),
        pointsSale: freshAddress(),
        firstBlock: 5,
        confirmations: 1,
        finalityBlocks: 3,
        ...settings,
      },
      onIncluded: (transaction) => world.booked.push(transaction),
      onReorganized: () => {
        world.reorganised += 1;
      },
      onReading: (reading) => world.readings.push(reading),
    });
    /** Blocks on top of the chain, or in the place of those from `at` on. */
    const mine = (count: number, { at, holding = [] as Hex[] }: { at?: number; holding?: Hex[] } = {}) => {
      if (at !== undefined) world.blocks = world.blocks.filter(({ number }) => number < at);
      for (let n = 0; n < count; n++) {
        const parent = world.blocks.at(-1);
        const block: Block = {
          number: (parent?.number ?? 4) + 1,
          hash: freshHash(),
          parentHash: parent?.hash ?? '0x00',
          timestampSeconds: 1,
          baseFeeWei: 1n,
          transactions: n === 0 ? holding : [],
        };
        world.blocks.push(block);
        world.receipts.set(
          block.hash,
          (block.transactions ?? []).map((transactionHash) => ({
            transactionHash,
            blockHash: block.hash,
            succeeded: true,
            gasUsed: 9n,
            effectiveGasPriceWei: 2n,
            logs: [],
          })),
        );
      }
    };
    return {
      world,
      follower,
      mine,
      alarms,
      escrow,
      hashes: () => world.blocks.map(({ hash }) => hash),
      /** The blocks that the ledger has read, oldest first. */
      read: async () => (await recentBlocks(database.db, 100)).map(({ hash }) => hash).reverse(),
      newest: async () => (await recentBlocks(database.db, 1))[0]?.number,
    };
  }
  const store = async (purpose: 'payout' | 'relay' | 'redeem' | 'setup' = 'setup') => {
    const of = { id: freshKey('transaction'), lane: freshAddress(), hash: freshHash() };
    const rest = { nonce: 0, epoch: 1, raw: '0x02c0', maxFeeWei: 1n, priorityFeeWei: 1n } as const;
    await kit().database.atomically((tx) =>
      storeTransaction(tx, { ...of, ...rest, purpose, createdAt: NOW_MS }),
    );
    return of;
  };
  const rowOf = async ({ id }: { id: string }) => (await transactionsById(kit().database.db, [id]))[0];

  test('begins at the first block that may hold ours, and tells how far it is', async () => {
    const { world, follower, mine, read, hashes } = await start();
    await follower.catchUp();
    expect(await read()).toEqual([]);
    mine(3);
    await follower.catchUp();
    expect(await read()).toEqual(hashes());
    expect(world.readings).toEqual([4, 5, 6, 7].map((block) => ({ block, of: 7, head: 7 })));
    await follower.catchUp();
    expect(world.readings).toHaveLength(4);
    mine(1);
    await follower.catchUp();
    expect(world.readings.slice(4)).toEqual([7, 8].map((block) => ({ block, of: 8, head: 8 })));
    const over = new AbortController();
    over.abort();
    mine(1);
    await follower.catchUp(over.signal);
    expect(await read()).toHaveLength(4);
  });

  test('what blocks showed is taken back with them: transactions, movements and open failures', async () => {
    const { database } = kit();
    const { world, follower, mine, read, hashes } = await start({ finalityBlocks: 10 });
    const [kept, gone] = [await store(), await store()];
    const brandId = freshAddress();
    await openFunds(database.db, brandId);
    const [open, released] = [sequences++, sequences++];
    await database.atomically(async (tx) => {
      await recordRewards(
        tx,
        [open, released].map((sequence) => ({
          sequence,
          id: `reorganised${sequence}`,
          brandId,
          eventType: 'survey',
          userKey: 'user',
          wallet: freshAddress(),
          walletCreated: true,
          amount: 1,
          metadata: {},
          createdAt: NOW_MS,
        })),
      );
      await bindRewards(tx, { sequences: [open, released], transactionId: gone.id });
      await failRewards(tx, { sequences: [open, released], failure: 'zero_amount' });
      await markReleased(tx, { sequence: released, nowMs: NOW_MS });
      for (const [blockNumber, amount] of [
        [6, 100],
        [7, 11],
      ] as const)
        await bookMovement(tx, {
          id: freshKey('log'),
          kind: 'deposit',
          brandId,
          amount,
          blockNumber,
          transactionHash: freshHash(),
          logIndex: 0,
          createdAt: NOW_MS,
        });
    });
    mine(2, { holding: [kept.hash] });
    mine(2, { holding: [gone.hash] });
    await follower.catchUp();
    expect(world.booked.map(({ id, outcome }) => [id, outcome])).toEqual([
      [kept.id, 'done'],
      [gone.id, 'done'],
    ]);
    expect([(await rowOf(gone))?.status, (await rowOf(gone))?.blockNumber]).toEqual(['included', 7]);

    mine(3, { at: 7 });
    await follower.catchUp();
    expect(world.reorganised).toBe(1);
    expect(await read()).toEqual(hashes().slice(-5));
    expect([(await rowOf(kept))?.status, (await rowOf(gone))?.status]).toEqual(['included', 'stored']);
    const rows = await database.db.select().from(rewards).where(eq(rewards.transactionId, gone.id));
    expect(rows.sort((a, b) => a.sequence - b.sequence).map(({ failure }) => failure)).toEqual([
      null,
      'zero_amount',
    ]);
    const [funds] = await database.db.select().from(brandFunds).where(eq(brandFunds.brandId, brandId));
    expect(funds?.deposited).toBe(100);
    // The other branch took it in later.
    mine(1, { holding: [gone.hash] });
    await follower.catchUp();
    expect((await rowOf(gone))?.blockNumber).toBe(10);
  });

  test('a node that is behind takes nothing back, until it lacks the block for three seconds', async () => {
    const { world, follower, mine, newest } = await start();
    mine(4);
    await follower.catchUp();
    world.shownUpTo = 6;
    await follower.catchUp();
    world.nowMs += 2_999;
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([8, 0]);
    // It has caught up meanwhile: the wait begins anew.
    world.shownUpTo = 8;
    await follower.catchUp();
    world.shownUpTo = 6;
    await follower.catchUp();
    world.nowMs += 2_999;
    await follower.catchUp();
    expect(world.reorganised).toBe(0);
    world.nowMs += 1;
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([6, 1]);
  });

  test('a shorter chain with another block at its head is another chain at once', async () => {
    const { world, follower, mine, read, hashes } = await start();
    mine(4);
    await follower.catchUp();
    mine(1, { at: 7 });
    await follower.catchUp();
    expect(world.reorganised).toBe(1);
    expect(await read()).toEqual(hashes());
  });

  test('while a node lacks blocks below its head, nothing is taken back', async () => {
    const { world, follower, mine, newest } = await start();
    mine(4);
    await follower.catchUp();
    mine(2, { at: 8 });
    const missing = world.blocks.findIndex(({ number }) => number === 7);
    const [hidden] = world.blocks.splice(missing, 1);
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([8, 0]);
    if (hidden) world.blocks.splice(missing, 0, hidden);
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([9, 1]);
  });

  test('as many blocks are taken back as finality may be deep, in one look', async () => {
    const { world, follower, mine, read, hashes } = await start({ finalityBlocks: 3 });
    mine(6);
    await follower.catchUp();
    mine(4, { at: 8 });
    await follower.catchUp();
    expect([(await read()).slice(-4), world.reorganised]).toEqual([hashes().slice(-4), 1]);
  });

  test('a newest block that a node names and does not show takes nothing back', async () => {
    const { world, follower, mine, newest } = await start();
    mine(4);
    await follower.catchUp();
    mine(1, { at: 7 });
    world.hides = 7;
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([8, 0]);
    world.hides = undefined;
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([7, 1]);
  });

  test('after a reorganisation a node has its three seconds anew', async () => {
    const { world, follower, mine, newest } = await start();
    mine(4);
    await follower.catchUp();
    mine(2, { at: 8 });
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([9, 1]);
    world.nowMs += 3_000;
    world.shownUpTo = 8;
    await follower.catchUp();
    expect([await newest(), world.reorganised]).toEqual([9, 1]);
  });

  test('receipts of another block of the same number are not booked', async () => {
    const { world, follower, mine, newest } = await start();
    mine(1, { holding: [freshHash()] });
    const [receipt] = world.receipts.get(world.blocks[0]?.hash ?? '0x') ?? [];
    if (!receipt) throw new Error('the block holds one');
    const { blockHash } = receipt;
    receipt.blockHash = freshHash();
    await follower.catchUp();
    expect(await newest()).toBeUndefined();
    if (blockHash) receipt.blockHash = blockHash;
    await follower.catchUp();
    expect(await newest()).toBe(5);
  });

  test('a block that changes while it is read is not booked', async () => {
    const { world, follower, mine, newest } = await start();
    mine(1);
    await follower.catchUp();
    mine(1);
    const [head] = world.blocks.slice(-1);
    world.again = head && { ...head, hash: freshHash() };
    await follower.catchUp();
    expect(await newest()).toBe(5);
    world.again = undefined;
    await follower.catchUp();
    expect(await newest()).toBe(6);
  });

  test('a reverted transaction is an alarm, but for a call that a user asked for', async () => {
    const { world, follower, mine, alarms } = await start();
    const done = await store();
    mine(1, { holding: [done.hash] });
    await follower.catchUp();
    expect([world.booked.map(({ outcome }) => outcome), alarms.list()]).toEqual([['done'], []]);
    world.booked.length = 0;
    const [setup, relay, redeem] = [await store(), await store('relay'), await store('redeem')];
    mine(1, { holding: [setup.hash, relay.hash, redeem.hash] });
    for (const receipt of world.receipts.get(world.blocks[1]?.hash ?? '0x') ?? []) receipt.succeeded = false;
    await follower.catchUp();
    expect(world.booked.map(({ outcome }) => outcome)).toEqual(['reverted', 'reverted', 'reverted']);
    expect(alarms.list()).toMatchObject([
      { code: 'transaction_reverted', about: setup.id, facts: { hash: setup.hash } },
    ]);
    expect(await rowOf(relay)).toMatchObject({ outcome: 'reverted', gasUsed: 9, gasPriceWei: '2' });
  });

  test.each([
    ['too large', () => new RpcTooLargeError('eth_getBlockReceipts', 'us'), 1],
    ['unanswered', () => new RpcUnreachableError('eth_getBlockReceipts', 'no answer'), 3],
  ] as const)('receipts that are %s are asked for one by one', async (_, error, tries) => {
    const { world, follower, mine, newest } = await start();
    const { db } = kit().database;
    const question = { brandId: freshAddress(), url: 'https://shop.example/', userAddress: freshAddress() };
    await beginQuestion(db, { ...question, collectionId: 1, askedBy: 'test', now: atMs(1), forMs: 1_000 });
    const asked = async () => (await db.select().from(constraintResults)).length;
    const ours = await store();
    mine(1, { holding: [freshHash(), ours.hash] });
    world.fails = error();
    for (let n = 1; n < tries; n++) await expect(follower.catchUp()).rejects.toThrow('no answer');
    expect(await newest()).toBeUndefined();
    await follower.catchUp();
    expect([await newest(), world.asked.length]).toEqual([5, tries]);
    expect(world.booked.map(({ id }) => id)).toEqual([ours.id]);
    // Whose RWT it moved is not known: results of everybody are old. A block that is read as a whole makes none old.
    expect(await asked()).toBe(0);
    await beginQuestion(db, { ...question, collectionId: 1, askedBy: 'test', now: atMs(1), forMs: 1_000 });
    world.fails = undefined;
    mine(1);
    await follower.catchUp();
    expect([await newest(), await asked()]).toEqual([6, 1]);
  });

  test('unanswered questions for a block that is gone do not count for the one in its place', async () => {
    const { world, follower, mine, newest } = await start();
    mine(1);
    world.fails = new RpcUnreachableError('eth_getBlockReceipts', 'no answer');
    for (let n = 0; n < 2; n++) await expect(follower.catchUp()).rejects.toThrow('no answer');
    mine(1, { at: 5 });
    await expect(follower.catchUp()).rejects.toThrow('no answer');
    expect(await newest()).toBeUndefined();
  });

  test('a node that is far behind, or shows a newest block that it does not find, takes nothing back', async () => {
    const { world, follower, mine, read } = await start();
    mine(10);
    await follower.catchUp();
    const before = await read();
    world.shownUpTo = 6;
    await follower.catchUp();
    world.shownUpTo = Number.POSITIVE_INFINITY;
    mine(1, { at: 14 });
    world.hides = 14;
    await follower.catchUp();
    expect([await read(), world.reorganised]).toEqual([before, 0]);
  });

  test('no block is booked from parts while a receipt of ours, or a log in it, is not shown', async () => {
    const { world, follower, mine, newest, escrow } = await start();
    const [ours, silent] = [await store(), await store()];
    mine(1, { holding: [ours.hash, silent.hash] });
    world.fails = new RpcTooLargeError('eth_getBlockReceipts', 'us');
    const [receipt, another] = world.receipts.get(world.blocks[0]?.hash ?? '0x') ?? [];
    if (!receipt) throw new Error('the block holds ours');
    const { blockHash } = receipt;
    receipt.blockHash = freshHash();
    await follower.catchUp();
    expect(await newest()).toBeUndefined();
    if (blockHash) receipt.blockHash = blockHash;
    const spelled = `0x${escrow.slice(2).toUpperCase()}` as const;
    receipt.logs = [{ address: spelled, topics: [], data: '0x', logIndex: 0, transactionHash: ours.hash }];
    await follower.catchUp();
    expect(await newest()).toBeUndefined();
    receipt.logs = [{ address: escrow, topics: [], data: '0x', logIndex: 0, transactionHash: ours.hash }];
    // A log of another contract was not asked for.
    another?.logs.push({
      address: freshAddress(),
      topics: [],
      data: '0x',
      logIndex: 1,
      transactionHash: silent.hash,
    });
    await follower.catchUp();
    expect(await newest()).toBe(5);
  });

  test('a block too large whose transactions a node does not name is not read from parts', async () => {
    const { world, follower, mine, newest } = await start();
    mine(1);
    world.fails = new RpcTooLargeError('eth_getBlockReceipts', 'us');
    delete world.blocks[0]?.transactions;
    await follower.catchUp();
    expect(await newest()).toBeUndefined();
  });

  test('any other error of a node is the follower’s own', async () => {
    const { world, follower, mine } = await start();
    mine(1);
    world.fails = new Error('something else');
    await expect(follower.catchUp()).rejects.toThrow('something else');
  });

  test('an alarm of a skipped reward is over once its claim came back', async () => {
    const { follower, mine, alarms } = await start({ confirmations: 2 });
    const { database } = kit();
    const [back, open] = [sequences++, sequences++];
    await database.atomically(async (tx) => {
      await recordRewards(
        tx,
        [back, open].map((sequence) => ({
          sequence,
          id: `skipped${sequence}`,
          brandId: freshAddress(),
          eventType: 'survey',
          userKey: 'user',
          wallet: freshAddress(),
          walletCreated: true,
          amount: 1,
          metadata: {},
          createdAt: NOW_MS,
        })),
      );
      await markReleased(tx, { sequence: back, nowMs: NOW_MS });
    });
    for (const sequence of [back, open]) alarms.raise('reward_skipped', String(sequence));
    const lane = freshAddress();
    alarms.raise('gas_money_low', lane);
    const now = () => alarms.list().map(({ code, about }) => [code, about]);
    mine(1);
    await follower.catchUp();
    expect(now()).toEqual([
      ['reward_skipped', String(open)],
      ['gas_money_low', lane],
    ]);
    // Another process has given it back: a new block is asked for that, also one that may not be read yet.
    await database.atomically((tx) => markReleased(tx, { sequence: open, nowMs: NOW_MS }));
    await follower.catchUp();
    expect(now()).toHaveLength(2);
    mine(1);
    await follower.catchUp();
    expect(now()).toEqual([['gas_money_low', lane]]);
  });
});
