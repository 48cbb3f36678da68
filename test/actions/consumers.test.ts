/** What follows from booked and taken-back payouts: once for each, whatever fails in between, and for one brand without the other. */
import { eq } from 'drizzle-orm';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { beforeEach, expect, test } from 'vitest';
import type { Consumer, Facts } from '../../src/actions/consumers/consumer.ts';
import { consumers as all, boards } from '../../src/actions/consumers/consumers.ts';
import type { DigestDeps } from '../../src/actions/consumers/digest.ts';
import { begin, oneCommit } from '../../src/actions/consumers/run-consumers.ts';
import { trySetAside } from '../../src/actions/consumers/try-set-aside.ts';
import { encodePayoutBatch, sequencesInPayout } from '../../src/chain/contracts/payout-batch.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import { feedHead, takeBackFacts } from '../../src/ledger/consumers/feed.ts';
import { readPositions } from '../../src/ledger/consumers/positions.ts';
import type { SetAside } from '../../src/ledger/consumers/set-aside.ts';
import { atMs, type Database } from '../../src/ledger/database/database.ts';
import { boardAt } from '../../src/ledger/engagement/boards.ts';
import { firstOf, usersOn } from '../../src/ledger/engagement/ranks.ts';
import { bindRewards, failRewards, forgetFailures, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { consumerPositions, consumerSetAside, feedTakeBacks } from '../../src/ledger/schema/consumers.ts';
import { checkoutSessions, mints } from '../../src/ledger/schema/payments.ts';
import { rewards as rewardRows } from '../../src/ledger/schema/rewards.ts';
import { attempts, followedBlocks, transactions } from '../../src/ledger/schema/transactions.ts';
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../src/ledger/schema/webhooks.ts';
import { forgetBlocksFrom, noteBlock, recentBlocks } from '../../src/ledger/transactions/followed-blocks.ts';
import { markIncluded, reopenFrom, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import type { BrandId } from '../../src/rules/brands/brand.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = Date.UTC(2026, 10, 18, 12);
let sequences = 500_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  let aside: SetAside[] = [];
  let queued = 0;

  beforeEach(async () => {
    aside = [];
    queued = 0;
    for (const table of [consumerSetAside, feedTakeBacks, consumerPositions, followedBlocks])
      await db().delete(table);
    for (const table of [attempts, transactions, webhookDeliveries, webhookEvents, webhookEndpoints])
      await db().delete(table);
    await noteBlock(db(), { number: 1, hash: freshHash(), feedPosition: 0 }, 100);
    await begin(kit(), all);
  });

  const depsOf = (more: Partial<DigestDeps> = {}): DigestDeps => ({
    database: kit().database,
    businessTime: () => atMs(NOW_MS),
    clock: { now: () => NOW_MS },
    random: { uuid: () => freshKey('uuid') },
    crash: neverCrash,
    realNow: () => NOW_MS,
    onQueued: () => {
      queued += 1;
    },
    onSetAside: (row) => void aside.push(row),
    ...more,
  });
  /** Digests until nothing is left. */
  const consume = async (deps = depsOf(), consumers: readonly Consumer[] = all) => {
    while (await oneCommit(deps, consumers)) {}
  };

  /** A payout of 10 RWT to each of these users, not yet in a block. */
  async function payout(brandId: Hex, users: string[]) {
    const rewards = users.map((userKey) => ({
      sequence: sequences++,
      id: freshKey('reward'),
      brandId,
      eventType: 'survey',
      userKey,
      userEmail: null,
      wallet: freshAddress(),
      walletCreated: true,
      amount: 10,
      metadata: {},
      createdAt: NOW_MS,
      platform: userKey === 'dora' ? 'discord' : null,
    }));
    const data = encodePayoutBatch(
      rewards.map(({ sequence, wallet, amount }) => ({
        sequence: BigInt(sequence),
        brandId,
        to: wallet,
        amount: BigInt(amount),
      })),
    );
    const stored = await store('payout', data);
    await recordRewards(db(), rewards);
    await bindRewards(db(), {
      sequences: rewards.map(({ sequence }) => sequence),
      transactionId: stored.id,
    });
    return { ...stored, rewards };
  }
  async function store(purpose: 'payout' | 'mint', data: Hex) {
    const raw = await localKeySigner(generatePrivateKey()).signTransaction({
      type: 'eip1559',
      chainId: 7,
      nonce: 0,
      to: freshAddress(),
      data,
      gas: 100_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
    });
    const transaction = { id: freshKey('transaction'), hash: freshHash(), purpose };
    await kit().database.atomically((tx) =>
      storeTransaction(tx, {
        ...transaction,
        lane: freshAddress(),
        nonce: 0,
        epoch: 1,
        createdAt: NOW_MS,
        raw,
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
      }),
    );
    return transaction;
  }
  /** Records the next block with these transactions, and what the escrow skipped. */
  async function book(shown: { id: string; hash: Hex }[], outcome: 'done' | 'reverted' = 'done') {
    const [newest] = await recentBlocks(db(), 1);
    const number = (newest?.number ?? 0) + 1;
    let feedPosition = newest?.feedPosition ?? 0;
    await kit().database.atomically(async (tx) => {
      for (const { id, hash } of shown)
        await markIncluded(tx, {
          id,
          hash,
          outcome,
          blockNumber: number,
          blockHash: freshHash(),
          gasUsed: 1,
          gasPriceWei: '1',
          feedPosition: outcome === 'done' ? ++feedPosition : null,
        });
      await noteBlock(tx, { number, hash: freshHash(), feedPosition }, 100);
    });
    return number;
  }
  /** The chain takes back the blocks from this one on. */
  const takeBack = (blockNumber: number) =>
    kit().database.atomically(async (tx) => {
      await takeBackFacts(tx, { blockNumber, sequencesOf: sequencesInPayout });
      await forgetFailures(tx, await reopenFrom(tx, blockNumber));
      await forgetBlocksFrom(tx, blockNumber);
    });
  const standing = async (brandId: Hex, platform = '') => {
    const board = await boardAt(db(), {
      brandId: brandId as BrandId,
      period: 'week',
      platform,
      atMs: NOW_MS,
    });
    if (!board) return [];
    const first = await firstOf(db(), { boardId: board.id, metric: 'rwt_earned', limit: 10 });
    expect(await usersOn(db(), { boardId: board.id, metric: 'claims' })).toBe(first.length);
    return first.map(({ userKey, score }) => `${userKey} ${score}`).sort();
  };
  const positions = async () => Object.fromEntries(await readPositions(db()));
  const addHook = (brandId: Hex) =>
    addEndpoint(db(), {
      id: freshKey('we'),
      brandId: brandId as BrandId,
      url: 'https://shop.example/hook',
      types: [],
      isDefault: false,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      createdAt: NOW_MS,
    });
  const events = () => db().select().from(webhookEvents);

  test('a payout counts once, on the boards of its platforms, and nothing that was skipped or reverted', async () => {
    const brandId = freshAddress();
    const paid = await payout(brandId, ['alice', 'dora', 'bob']);
    const [, , skipped] = paid.rewards;
    await failRewards(db(), { sequences: [skipped?.sequence ?? 0], failure: 'insufficient_brand_balance' });
    await book([paid]);
    await book([await payout(brandId, ['carol'])], 'reverted');
    await consume();
    await consume();
    expect(await standing(brandId)).toEqual(['alice 10', 'dora 10']);
    expect(await standing(brandId, 'discord')).toEqual(['dora 10']);
    expect(await positions()).toEqual({ boards: 1, achievements: 1, webhooks: 1 });
  });

  test('what a consumer has seen goes back with its block, and counts again with the next', async () => {
    const brandId = freshAddress();
    await book([await payout(brandId, ['alice'])]);
    const again = await payout(brandId, ['alice', 'bob']);
    const [, skipped] = again.rewards;
    await failRewards(db(), { sequences: [skipped?.sequence ?? 0], failure: 'insufficient_brand_balance' });
    const number = await book([again]);
    await consume();
    expect(await standing(brandId)).toEqual(['alice 20']);
    await takeBack(number);
    // Nobody has digested it yet: the board is as it was.
    expect(await standing(brandId)).toEqual(['alice 20']);
    await consume();
    expect(await standing(brandId)).toEqual(['alice 10']);
    // This time the escrow pays both.
    await book([again]);
    await consume();
    expect(await standing(brandId)).toEqual(['alice 20', 'bob 10']);
  });

  test('a block that came and went before anybody looked, or between two looks, counts nothing', async () => {
    const brandId = freshAddress();
    const paid = await payout(brandId, ['alice', 'bob']);
    await takeBack(await book([paid]));
    const late = await payout(brandId, ['carol']);
    await book([late]);
    await consume();
    expect(await standing(brandId)).toEqual(['carol 10']);
    await takeBack(await book([paid]));
    await takeBack(await book([paid]));
    await book([paid]);
    await consume();
    expect(await standing(brandId)).toEqual(['alice 10', 'bob 10', 'carol 10']);
    const head = await feedHead(db());
    expect(await positions()).toEqual({ boards: head, achievements: head, webhooks: head });
  });

  test('a payout that is taken back and rebound to another transaction before anybody looks is taken off as it was counted', async () => {
    const brandId = freshAddress();
    const first = await payout(brandId, ['alice']);
    const number = await book([first]);
    await consume();
    await takeBack(number);
    const second = await store('payout', '0x');
    await db()
      .update(rewardRows)
      .set({ transactionId: second.id })
      .where(eq(rewardRows.transactionId, first.id));
    await consume();
    expect(await standing(brandId)).toEqual([]);
  });

  test('a process that dies in the commit, or after it, has had the effect once', async () => {
    const brandId = freshAddress();
    await book([await payout(brandId, ['alice'])]);
    for (const point of ['consumers.before-commit', 'consumers.committed'] as const) {
      let isOver = false;
      const crash: DigestDeps['crash'] = (at) => {
        if (at !== point || isOver) return;
        isOver = true;
        throw new Error('the process is gone');
      };
      await oneCommit(depsOf({ crash }), [boards]).catch(() => undefined);
    }
    await consume();
    expect(await standing(brandId)).toEqual(['alice 10']);
  });

  test('two processes at once digest each fact once', async () => {
    const brandId = freshAddress();
    for (let block = 0; block < 4; block++) await book([await payout(brandId, ['alice', `user${block}`])]);
    await Promise.all([consume(), consume(), consume()]);
    expect(await standing(brandId)).toEqual(['alice 40', 'user0 10', 'user1 10', 'user2 10', 'user3 10']);
  });

  test('a reorganisation that is committed while facts are read is noticed', async () => {
    const brandId = freshAddress();
    const paid = await payout(brandId, ['alice']);
    const number = await book([paid]);
    let isFirst = true;
    const { database } = kit();
    const racing: Database = {
      ...database,
      async atomically(work, wait) {
        if (isFirst) {
          isFirst = false;
          await takeBack(number);
        }
        return database.atomically(work, wait);
      },
    };
    await consume(depsOf({ database: racing }));
    expect(await standing(brandId)).toEqual([]);
  });

  test('facts of a brand that cannot be digested are set aside with their cause, in their order; everybody else goes on', async () => {
    const [bad, good] = [freshAddress(), freshAddress()];
    let isBroken = true;
    const digested: string[] = [];
    const picky: Consumer = {
      name: 'picky',
      begins: 'at the first fact',
      async digest(_, { facts, kind }: Facts) {
        if (isBroken && facts.some(({ brandId }) => brandId === bad)) throw new Error('no such colour');
        // What a trial digests is undone, but for this list.
        for (const fact of facts) {
          const text = fact.of === 'reward' ? `${kind} ${fact.reward.userKey}` : '';
          if (!digested.includes(text)) digested.push(text);
        }
        return 0;
      },
    };
    const withPicky = [...all, picky];
    await begin(kit(), withPicky);
    await book([await payout(bad, ['alice']), await payout(good, ['bob'])]);
    await consume(depsOf(), withPicky);
    const number = await book([await payout(bad, ['carol'])]);
    await consume(depsOf(), withPicky);
    await takeBack(number);
    await consume(depsOf(), withPicky);
    expect(digested).toEqual(['booked bob']);
    expect(await standing(bad)).toEqual(['alice 10']);
    expect(await standing(good)).toEqual(['bob 10']);
    expect(aside.map(({ consumer, brandId, error, tries }) => [consumer, brandId, error, tries])[0]).toEqual([
      ...['picky', bad, 'no such colour', 1],
    ]);
    const later = depsOf({ realNow: () => NOW_MS + 60_000 });
    await trySetAside(later, withPicky);
    expect(digested).toEqual(['booked bob']);
    isBroken = false;
    // Tried again after twice the pause, not before.
    await trySetAside(later, withPicky);
    expect(digested).toEqual(['booked bob']);
    await trySetAside(depsOf({ realNow: () => NOW_MS + 4 * 60_000 }), withPicky);
    expect(digested).toEqual(['booked bob', 'booked alice', 'booked carol', 'taken_back carol']);
    expect(await db().select().from(consumerSetAside)).toEqual([]);
  });

  test('a brand with an endpoint is told of each reward once, with what was paid, to whom, and by which transaction', async () => {
    const brandId = freshAddress();
    await addHook(brandId);
    const paid = await payout(brandId, ['guest']);
    const number = await book([paid, await payout(freshAddress(), ['stranger'])]);
    await consume();
    const [told, ...more] = await events();
    expect([queued, more]).toEqual([1, []]);
    expect(told).toMatchObject({ brandId, type: 'reward.distributed', subject: paid.rewards[0]?.id });
    expect(told).toMatchObject({ transactionId: paid.id, createdAt: NOW_MS });
    const [transactionHash, walletAddress] = [paid.hash, paid.rewards[0]?.wallet];
    expect(JSON.parse(told?.body ?? '')).toEqual({
      id: told?.id,
      type: 'reward.distributed',
      created: NOW_MS / 1000,
      event: 'rwt_distributed',
      brandId,
      userId: 'guest',
      email: '',
      walletAddress,
      rwtAmount: 10,
      transactionHash,
      timestamp: NOW_MS,
      data: { userEmail: '', amount: 10, eventType: 'survey', transactionHash, timestamp: NOW_MS },
    });
    // Nobody has heard of it yet: it is forgotten with its block, and told with the next one.
    await takeBack(number);
    await consume();
    expect(await events()).toEqual([]);
    await book([paid]);
    await consume();
    expect((await events()).map(({ subject }) => subject)).toEqual([paid.rewards[0]?.id]);
  });

  test('a brand is told of what was minted for a payment', async () => {
    const brandId = freshAddress();
    await addHook(brandId);
    const minted = await store('mint', '0x');
    const [sessionId, wallet] = [freshKey('cs_test'), freshAddress()];
    await db()
      .insert(mints)
      .values({
        sessionId,
        key: freshHash(),
        kind: 'wallet',
        brandId: brandId as BrandId,
        wallet,
        usdCents: 1_250,
        rwtAmount: 125,
        paymentIntentId: null,
        createdAt: NOW_MS,
        transactionId: minted.id,
        failedTries: 0,
        failure: null,
      });
    await db()
      .insert(checkoutSessions)
      .values({
        id: freshKey('checkout'),
        brandId: brandId as BrandId,
        userEmail: 'buyer@shop.example',
        wallet,
        amountCents: 1_250,
        currency: 'usd',
        rwtAmount: 125,
        mintTo: 'wallet',
        livemode: false,
        processorSessionId: sessionId,
        state: 'paid',
        createdAt: NOW_MS,
        expiresAt: NOW_MS,
        refundedCents: 0,
      });
    await book([minted]);
    await consume();
    const [told] = await events();
    expect(told).toMatchObject({ type: 'payment.minted', subject: sessionId, transactionId: minted.id });
    expect(JSON.parse(told?.body ?? '')).toEqual({
      id: told?.id,
      type: 'payment.minted',
      created: NOW_MS / 1000,
      data: {
        userEmail: 'buyer@shop.example',
        sessionId,
        walletAddress: wallet,
        mintTo: 'wallet',
        usdAmount: 12.5,
        rwtAmount: 125,
        transactionHash: minted.hash,
        timestamp: NOW_MS,
      },
    });
  });
});
