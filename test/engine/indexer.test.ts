/** The follower against a real ledger: what blocks it reads, how deep it believes them, and whose logs it books. */

import { eq } from 'drizzle-orm';
import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { createAlarms } from '../../src/chain/alarms.ts';
import { businessEscrowAbi } from '../../src/chain/contracts/abis.ts';
import { applyBlock } from '../../src/chain/indexer/apply-block.ts';
import { createFollower } from '../../src/chain/indexer/indexer.ts';
import type { Block, ChainClient, Log, Receipt } from '../../src/chain/rpc/client.ts';
import { settlements } from '../../src/chain/work/settlements.ts';
import { bindRelay, storeRelays } from '../../src/ledger/relay/queued-relays.ts';
import { openFunds } from '../../src/ledger/rewards/funds.ts';
import { bindRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { relays } from '../../src/ledger/schema/relay.ts';
import { brandFunds, rewards } from '../../src/ledger/schema/rewards.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { recentBlocks } from '../../src/ledger/transactions/followed-blocks.ts';
import { storeReplacement, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const escrow = freshAddress();

const word = (value: bigint | number) => encodeAbiParameters([{ type: 'uint256' }], [BigInt(value)]);
const deposited = (brand: Hex, amount: number): Pick<Log, 'topics' | 'data'> => ({
  topics: encodeEventTopics({
    abi: businessEscrowAbi,
    eventName: 'Deposited',
    args: { brand, from: brand },
  } as never) as Hex[],
  data: word(amount),
});
const withdrawn = (brand: Hex, amount: number): Pick<Log, 'topics' | 'data'> => ({
  topics: encodeEventTopics({
    abi: businessEscrowAbi,
    eventName: 'Withdrawn',
    args: { brand },
  } as never) as Hex[],
  data: word(amount),
});
const skipped = (sequence: number, reason: number): Pick<Log, 'topics' | 'data'> => ({
  topics: encodeEventTopics({
    abi: businessEscrowAbi,
    eventName: 'RewardSkipped',
    args: { sequence: BigInt(sequence) },
  } as never) as Hex[],
  data: word(reason),
});

const receiptOf = (hash: Hex, logs: Pick<Log, 'topics' | 'data'>[] = [], address = escrow): Receipt => ({
  transactionHash: hash,
  succeeded: true,
  gasUsed: 1n,
  effectiveGasPriceWei: 1n,
  logs: logs.map((log, logIndex) => ({ ...log, address, logIndex, transactionHash: hash })),
});
const blockOf = (number: number, transactionHashes: Hex[] = []): Block => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  parentHash: `0x${(number - 1).toString(16).padStart(64, '0')}`,
  timestampSeconds: number,
  baseFeeWei: 1n,
  transactions: transactionHashes,
});

onEveryDatabase(({ kit }) => {
  /** The follower's deps on this database, whose blocks begin at 1; a database is shared, so blocks are forgotten first. */
  const depsOf = (
    chain: Partial<ChainClient>,
    more: { confirmations?: number; finalityBlocks?: number } = {},
  ) => {
    const { database } = kit();
    return {
      database,
      chain: chain as ChainClient,
      clock: { now: () => NOW_MS, sleep: async () => {} },
      log: silentLog,
      alarms: createAlarms({ now: () => NOW_MS, log: silentLog }),
      crash: neverCrash,
      settlements,
      settings: {
        escrow,
        token: freshAddress(),
        pointsSale: freshAddress(),
        firstBlock: 1,
        confirmations: 1,
        finalityBlocks: 3,
        ...more,
      },
      onIncluded: () => {},
      onReorganized: () => {},
    };
  };
  const book = (deps: ReturnType<typeof depsOf>, block: Block, receipts: Receipt[]) =>
    applyBlock(deps, { block, receipts, logs: receipts.flatMap(({ logs }) => logs), isWhole: true });
  const depositOf = async (brandId: Hex) =>
    (
      await kit()
        .database.db.select()
        .from(brandFunds)
        .where(eq(brandFunds.brandId, brandId as never))
    )[0]?.deposited;

  /** A reward that a stored transaction carries. */
  async function carriedReward(brandId: Hex) {
    const { database } = kit();
    const sequence = Math.floor(Number(BigInt(freshHash()) % 1_000_000_000n));
    const hash = freshHash();
    const id = freshKey('transaction');
    await database.atomically(async (tx) => {
      await recordRewards(tx, [
        {
          sequence,
          id: `reward${sequence}`,
          brandId: brandId as never,
          eventType: 'survey',
          userKey: freshKey('user'),
          wallet: freshAddress(),
          walletCreated: true,
          amount: 10,
          metadata: {},
          createdAt: NOW_MS,
        },
      ]);
      await storeTransaction(tx, {
        id,
        lane: freshAddress(),
        nonce: 0,
        purpose: 'relay',
        epoch: 1,
        hash,
        raw: '0x02c0',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
        createdAt: NOW_MS,
      });
      await bindRewards(tx, { sequences: [sequence], transactionId: id });
    });
    const status = async () =>
      (await database.db.select().from(transactions).where(eq(transactions.id, id)))[0]?.status;
    const failure = async () =>
      (await database.db.select().from(rewards).where(eq(rewards.sequence, sequence)))[0]?.failure;
    const transaction = async () =>
      (await database.db.select().from(transactions).where(eq(transactions.id, id)))[0];
    return { id, sequence, hash, status, failure, transaction };
  }
  const begun = async () => {
    const { database } = kit();
    const [newest] = await recentBlocks(database.db, 1);
    return newest?.number ?? 0;
  };

  test('a reward that an earlier transaction has paid already is no failure; one without an earlier try is for an operator', async () => {
    const deps = depsOf({});
    const brandId = freshAddress();
    const one = await carriedReward(brandId);
    const block = blockOf((await begun()) + 1, [one.hash]);
    const booked = await book(deps, block, [receiptOf(one.hash, [skipped(one.sequence, 1)])]);
    expect(booked).toMatchObject([{ hash: one.hash, outcome: 'done', failures: new Map() }]);
    expect(await one.failure()).toBeNull();
    expect(deps.alarms.list()).toMatchObject([{ code: 'reward_skipped', facts: { reason: 'already_paid' } }]);
  });

  test.each([
    ['a reason of ours', 4, 'zero_amount'],
    ['a reason that is new', 99, 'skipped'],
  ])('a reward that the escrow skipped for %s has failed, and is an alarm', async (_, reason, failure) => {
    const deps = depsOf({});
    const one = await carriedReward(freshAddress());
    const block = blockOf((await begun()) + 1, [one.hash]);
    const booked = await book(deps, block, [receiptOf(one.hash, [skipped(one.sequence, reason)])]);
    expect(booked).toMatchObject([{ failures: new Map([[`reward${one.sequence}`, failure]]) }]);
    expect(await one.failure()).toBe(failure);
    expect(deps.alarms.list()).toMatchObject([
      { code: 'reward_skipped', about: String(one.sequence), facts: { reason: failure } },
    ]);
  });

  test('a reward that was paid already is nothing to look at when an earlier try of ours came to nothing', async () => {
    const deps = depsOf({});
    const one = await carriedReward(freshAddress());
    const { db } = kit().database;
    await db.update(rewards).set({ failedTries: 1 }).where(eq(rewards.sequence, one.sequence));
    const block = blockOf((await begun()) + 1, [one.hash]);
    const receipt = receiptOf(one.hash, [skipped(one.sequence, 1), { topics: [], data: '0x' }]);
    expect(await book(deps, block, [receipt])).toMatchObject([{ outcome: 'done', failures: new Map() }]);
    expect([await one.failure(), deps.alarms.list()]).toEqual([null, []]);
  });

  test('what a block says of a transaction is kept: that it did nothing but use its nonce, and what it cost', async () => {
    const deps = depsOf({});
    const [paid, given] = [await carriedReward(freshAddress()), await carriedReward(freshAddress())];
    const noop = freshHash();
    await storeReplacement(kit().database.db, {
      transactionId: given.id,
      kind: 'noop',
      hash: noop,
      raw: '0x02c0',
      createdAt: NOW_MS,
      maxFeeWei: 2n,
      priorityFeeWei: 2n,
    });
    const first = (await begun()) + 1;
    const receipt = { ...receiptOf(paid.hash), gasUsed: 5n, effectiveGasPriceWei: 6n, l1FeeWei: 7n };
    const booked = await book(deps, blockOf(first, [paid.hash, noop]), [receipt, receiptOf(noop)]);
    expect(booked?.map(({ outcome }) => outcome).sort()).toEqual(['done', 'noop']);
    expect(await paid.transaction()).toMatchObject({
      outcome: 'done',
      gasUsed: 5,
      gasPriceWei: '6',
      l1FeeWei: '7',
      blockNumber: first,
    });
    expect(await given.transaction()).toMatchObject({ outcome: 'noop', hash: noop, l1FeeWei: null });
    expect(deps.alarms.list()).toEqual([]);
  });

  test('a relayed call costs its payer what its block says', async () => {
    const { database } = kit();
    const one = await carriedReward(freshAddress());
    const id = freshKey('call');
    await database.atomically(async (tx) => {
      await storeRelays(tx, [
        {
          id,
          lane: freshAddress(),
          payer: freshAddress(),
          userAddress: freshAddress(),
          recipient: freshAddress(),
          data: '0x',
          valueWei: '0',
          gas: 1,
          permit: null,
          reservedGwei: 1_000,
          budgetDay: 1,
          createdAt: NOW_MS,
        },
      ]);
    });
    const ours = async () => (await database.db.select().from(relays).where(eq(relays.id, id)))[0];
    const position = (await ours())?.position ?? -1;
    await database.atomically((tx) => bindRelay(tx, { position, part: 'call', transactionId: one.id }));
    const receipt = { ...receiptOf(one.hash), gasUsed: 3n, effectiveGasPriceWei: 10n ** 9n };
    await book(depsOf({}), blockOf((await begun()) + 1, [one.hash]), [receipt]);
    expect((await ours())?.chargedGwei).toBe(3);
  });

  test('a block that does not follow the newest one, or is another than the one that was read, books nothing', async () => {
    const deps = depsOf({});
    const brandId = freshAddress();
    await openFunds(kit().database.db, brandId as never);
    const next = (await begun()) + 1;
    const logs = [receiptOf(freshHash(), [deposited(brandId, 1_000)])];
    // Its parent was taken back; and between it and the newest one there is another.
    expect(await book(deps, { ...blockOf(next), parentHash: freshHash() }, logs)).toBeUndefined();
    expect(await book(deps, blockOf(next + 1), logs)).toBeUndefined();
    expect(await book(deps, blockOf(next), [])).toEqual([]);
    // Another process has read this one under another hash meanwhile.
    expect(await book(deps, { ...blockOf(next), hash: freshHash() }, logs)).toBeUndefined();
    expect(await depositOf(brandId)).toBe(0);
    expect(await book(deps, blockOf(next + 1), logs)).toEqual([]);
    expect(await depositOf(brandId)).toBe(1_000);
  });

  test("logs of a stranger's contract in the escrow's words change nothing", async () => {
    const deps = depsOf({});
    const brandId = freshAddress();
    await openFunds(kit().database.db, brandId as never);
    const one = await carriedReward(brandId);
    const logs = [deposited(brandId, 1_000_000_000), withdrawn(brandId, 5), skipped(one.sequence, 5)];
    const hash = freshHash();
    await book(deps, blockOf((await begun()) + 1, [hash]), [receiptOf(hash, logs, freshAddress())]);
    expect(await depositOf(brandId)).toBe(0);
    expect(await one.failure()).toBeNull();
    expect(deps.alarms.list()).toEqual([]);
  });

  test('two deposits and a withdrawal in one transaction are all booked', async () => {
    const brandId = freshAddress();
    await openFunds(kit().database.db, brandId as never);
    const hash = freshHash();
    const logs = [deposited(brandId, 100), deposited(brandId, 20), withdrawn(brandId, 3)];
    await book(depsOf({}), blockOf((await begun()) + 1, [hash]), [receiptOf(hash, logs)]);
    expect(await depositOf(brandId)).toBe(117);
  });

  test('a transaction is final when its block is as deep as finality is set, and not one block earlier', async () => {
    const deps = depsOf({}, { finalityBlocks: 3 });
    const one = await carriedReward(freshAddress());
    const first = (await begun()) + 1;
    await book(deps, blockOf(first, [one.hash]), [receiptOf(one.hash)]);
    for (const number of [first + 1, first + 2]) await book(deps, blockOf(number), []);
    expect(await one.status()).toBe('included');
    await book(deps, blockOf(first + 3), []);
    expect(await one.status()).toBe('final');
  });

  test('a block is read when it has its confirmations, itself counted', async () => {
    const first = await begun();
    const head = first + 6;
    const chain = {
      block: async (which: 'latest' | number) => blockOf(which === 'latest' ? head : which),
      blockReceipts: async () => [],
    };
    await createFollower(depsOf(chain, { confirmations: 3 })).catchUp();
    expect(await begun()).toBe(head - 2);
  });

  test('those who wait are told as soon as the block is booked, and consumers after them', async () => {
    const number = (await begun()) + 1;
    const hashes: Hex[] = [];
    for (let count = 0; count < 3; count++) hashes.push((await carriedReward(freshAddress())).hash);
    const chain = {
      block: async (which: 'latest' | number) =>
        which === 'latest' || which === number ? blockOf(number, hashes) : blockOf(which),
      blockReceipts: async () => hashes.map((hash) => receiptOf(hash)),
    };
    const told: string[] = [];
    await createFollower({
      ...depsOf(chain),
      onIncluded: ({ hash }) => void told.push(hash),
      onFed: () => void told.push('consumers'),
    }).catchUp();
    expect(told).toEqual([...hashes, 'consumers']);
  });

  test('of a block whose receipts are not complete nothing is booked', async () => {
    const first = await begun();
    const [ours, other] = [freshHash(), freshHash()];
    const shown = [receiptOf(other)];
    const chain = {
      block: async (which: 'latest' | number) =>
        which === first ? blockOf(first) : blockOf(first + 1, [ours, other]),
      blockReceipts: async () => shown,
    };
    const follower = createFollower(depsOf(chain));
    await follower.catchUp();
    expect(await begun()).toBe(first);
    shown.unshift(receiptOf(ours));
    await follower.catchUp();
    expect(await begun()).toBe(first + 1);
  });
});
