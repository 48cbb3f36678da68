/** What the ledger keeps of the chain: blocks that were read, open transactions, accepted nonces, movements, waiting work. */
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { directMints, recordMint } from '../../src/ledger/payments/mints.ts';
import { bookMovement, lockAvailableFunds, unbookMovementsFrom } from '../../src/ledger/rewards/funds.ts';
import {
  bindRewards,
  failRewards,
  findBySequences,
  forgetFailures,
  markReleased,
  newestReward,
  recordRewards,
  rewardHistory,
  unbindRewards,
  unreleasedFailures,
  waitingRewards,
} from '../../src/ledger/rewards/rewards.ts';
import { followedBlocks, transactions } from '../../src/ledger/schema/transactions.ts';
import {
  acceptedNoncesOf,
  acceptNonces,
  behindAccepted,
} from '../../src/ledger/transactions/accepted-nonces.ts';
import {
  newestFollowed,
  openTransactions,
  payoutsInFlight,
  waitingBacklog,
} from '../../src/ledger/transactions/backlog.ts';
import {
  followedHash,
  forgetBlocksFrom,
  lockFollowed,
  noteBlock,
  recentBlocks,
} from '../../src/ledger/transactions/followed-blocks.ts';
import { leaseLane, ownAccountsAmong } from '../../src/ledger/transactions/lanes.ts';
import { type Settlements, settleFinal, settleLost } from '../../src/ledger/transactions/settle.ts';
import {
  isRefusedThroughout,
  lanesInFlight,
  markLost,
  markRefused,
  markSent,
  nextNonce,
  offersOf,
  payloadOf,
  reopenFrom,
  storeReplacement,
  transactionsById,
  unsettledTransactions,
} from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase, signal } from '../kits/databases/databases.ts';
import { NOW_MS, transactionsOf } from './transactions.ts';

let sequences = 0;

onEveryDatabase(({ kind, kit }) => {
  const db = () => kit().database.db;
  const { atomically, store, include } = transactionsOf(() => kit().database);
  const replace = async (transactionId: string, kind: 'payload' | 'noop' = 'payload') => {
    const hash = freshHash();
    const stored = await atomically((tx) =>
      storeReplacement(tx, {
        transactionId,
        kind,
        hash,
        raw: hash,
        maxFeeWei: 2n,
        priorityFeeWei: 2n,
        createdAt: NOW_MS,
      }),
    );
    return { hash, stored };
  };
  const rowOf = async ({ id }: { id: string }) => (await transactionsById(db(), [id]))[0];
  const reward = (change: object = {}) => {
    const sequence = sequences++;
    return {
      sequence,
      id: freshKey('reward'),
      brandId: freshAddress(),
      eventType: 'survey',
      userKey: freshKey('user'),
      wallet: freshAddress(),
      walletCreated: true,
      amount: 10,
      metadata: {},
      createdAt: NOW_MS,
      ...change,
    };
  };
  const grant = async (change: object = {}) => {
    const row = reward(change);
    await atomically((tx) => recordRewards(tx, [row]));
    return row;
  };

  describe('blocks that were read', () => {
    test('are kept as deep as asked, replaced under the same number, and forgotten from a number on', async () => {
      for (let number = 100; number <= 104; number++)
        await atomically((tx) => noteBlock(tx, { number, hash: freshHash(), feedPosition: number }, 3));
      const numbers = async (count = 10) => (await recentBlocks(db(), count)).map(({ number }) => number);
      expect(await numbers()).toEqual([104, 103, 102, 101]);
      expect(await numbers(2)).toEqual([104, 103]);
      expect(await newestFollowed(db())).toBe(104);
      const hash = freshHash();
      await atomically((tx) => noteBlock(tx, { number: 103, hash, feedPosition: 0 }, 3));
      expect(await followedHash(db(), 103)).toBe(hash);
      // What the feed has by then is never less.
      expect(await atomically((tx) => lockFollowed(tx, 103))).toEqual({
        number: 103,
        hash,
        feedPosition: 103,
      });
      expect(await followedHash(db(), 102)).not.toBe(hash);
      expect(await followedHash(db(), 99)).toBeUndefined();
      expect(await atomically((tx) => lockFollowed(tx, 99))).toBeUndefined();
      await atomically((tx) => forgetBlocksFrom(tx, 103));
      expect(await numbers()).toEqual([102, 101]);
      await db().delete(followedBlocks);
      expect(await newestFollowed(db())).toBeUndefined();
    });
  });

  test.skipIf(kind !== 'Postgres')('the block before is locked until the next one is booked', async () => {
    const hash = freshHash();
    await atomically((tx) => noteBlock(tx, { number: 9_000_000, hash, feedPosition: 0 }, 3));
    const [held, free] = [signal(), signal()];
    const booking = atomically(async (tx) => {
      await lockFollowed(tx, 9_000_000);
      held.give();
      await free.given;
    });
    await held.given;
    const other = kit().other.db;
    const unlocked = await other
      .select()
      .from(followedBlocks)
      .where(eq(followedBlocks.number, 9_000_000))
      .for('update', { skipLocked: true });
    expect(unlocked).toEqual([]);
    free.give();
    await booking;
    await db().delete(followedBlocks);
  });

  describe('nonces', () => {
    test('that an operator accepted count for their lane; the next one is behind both', async () => {
      const [lane, other] = [freshAddress(), freshAddress()];
      const accept = (of: Hex, fromNonce: number, nextNonceThen: number) =>
        acceptNonces(db(), {
          lane: of,
          fromNonce,
          nextNonce: nextNonceThen,
          acceptedBy: 'me',
          reason: 'test',
          createdAt: NOW_MS,
        });
      expect(await behindAccepted(db(), lane)).toBeUndefined();
      await accept(lane, 5, 7);
      await accept(lane, 2, 3);
      await accept(other, 50, 60);
      expect(await behindAccepted(db(), lane)).toBe(7);
      expect((await acceptedNoncesOf(db(), lane)).map(({ fromNonce }) => fromNonce)).toEqual([2, 5]);
      // Accepted nonces alone do not say where a lane stands.
      expect(await nextNonce(db(), lane)).toBeUndefined();
      await store({ lane, nonce: 4 });
      expect(await nextNonce(db(), lane)).toBe(7);
      await store({ lane, nonce: 9 });
      expect(await nextNonce(db(), lane)).toBe(10);
    });
  });

  describe('open transactions', () => {
    test('are told by lane and purpose while no block holds them', async () => {
      const [stored, sent, held] = [await store(), await store(), await store()];
      const relay = await store({ purpose: 'relay' });
      await markSent(db(), [sent.id, held.id]);
      await include(held, { blockNumber: 3_000_001 });
      const lanes = await lanesInFlight(db(), 'payout');
      expect(lanes).toEqual(expect.arrayContaining([stored.lane, sent.lane]));
      expect(lanes).not.toContain(held.lane);
      expect(lanes).not.toContain(relay.lane);
      const raws = (await payoutsInFlight(db(), 1_000)).map(({ raw }) => raw);
      expect(raws).toEqual(expect.arrayContaining([stored.hash, sent.hash]));
      expect(raws).not.toContain(held.hash);
      expect(raws).not.toContain(relay.hash);
      expect(await payoutsInFlight(db(), 1)).toHaveLength(1);
      const counted = await openTransactions(db());
      expect(counted.find((one) => one.purpose === 'payout' && one.status === 'included')?.count).toBe(1);
      expect(counted.some(({ status }) => status === 'final')).toBe(false);
      await atomically((tx) => markLost(tx, stored.id));
      expect(await lanesInFlight(db(), 'payout')).not.toContain(stored.lane);
      expect(await transactionsById(db(), [])).toEqual([]);
    });

    test('each replacement is one attempt more; none is stored once a block holds the transaction', async () => {
      const of = await store();
      const [first, second] = [await replace(of.id), await replace(of.id, 'noop')];
      expect([first.stored, second.stored]).toEqual([true, true]);
      expect(await unsettledTransactions(db(), of.lane)).toMatchObject([{ hash: second.hash, kind: 'noop' }]);
      expect(await rowOf(of)).toMatchObject({ hash: second.hash, status: 'stored' });
      // What the transaction was made for stays its first payload.
      expect(await payloadOf(db(), of.id)).toBe(of.hash);
      expect(await payloadOf(db(), 'unknown')).toBeUndefined();
      const offers = async () => (await offersOf(db(), of.id)).map(({ maxFeePerGas }) => maxFeePerGas);
      expect(await offers()).toHaveLength(3);
      expect(await offersOf(db(), of.id)).toContainEqual({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
      await include({ id: of.id, hash: first.hash }, { blockNumber: 3_000_002 });
      const late = await replace(of.id);
      expect(late.stored).toBe(false);
      expect(await offers()).toHaveLength(3);
      expect(await rowOf(of)).toMatchObject({ hash: first.hash, status: 'included' });
    });

    test('are refused throughout while every attempt is', async () => {
      const [of, other] = [await store(), await store()];
      const { hash } = await replace(of.id);
      expect(await isRefusedThroughout(db(), of.id)).toBe(false);
      await markRefused(db(), of.hash, true);
      expect(await isRefusedThroughout(db(), of.id)).toBe(false);
      await markRefused(db(), hash, true);
      expect(await isRefusedThroughout(db(), of.id)).toBe(true);
      expect(await isRefusedThroughout(db(), other.id)).toBe(false);
      expect(await unsettledTransactions(db(), of.lane)).toMatchObject([{ refused: true }]);
      await markRefused(db(), of.hash, false);
      expect(await isRefusedThroughout(db(), of.id)).toBe(false);
    });

    test('a block that is taken back leaves nothing of what it showed', async () => {
      const [kept, gone] = [await store(), await store()];
      await include(kept, { blockNumber: 3_000_010 });
      await include(gone, { blockNumber: 3_000_011, l1FeeWei: 5n });
      expect(await rowOf(gone)).toMatchObject({ status: 'included', gasUsed: 21_000, l1FeeWei: '5' });
      expect(await atomically((tx) => reopenFrom(tx, 3_000_011))).toEqual([gone.id]);
      expect(await rowOf(gone)).toMatchObject({
        status: 'stored',
        blockNumber: null,
        blockHash: null,
        outcome: null,
        gasUsed: null,
        gasPriceWei: null,
        l1FeeWei: null,
      });
      expect(await rowOf(kept)).toMatchObject({
        status: 'included',
        blockNumber: 3_000_010,
        gasPriceWei: '7',
      });
    });
  });

  describe('settling', () => {
    test('each purpose settles its own, once, when its block is final; what is lost as well', async () => {
      const settled: string[][] = [];
      const settlements: Settlements = {
        payout: async (_, of) => {
          settled.push(['payout', ...of.transactions.map(({ id }) => id), String(of.nowMs)]);
        },
        relay: async (_, of) => {
          settled.push(['relay', ...of.transactions.map(({ id }) => id), String(of.nowMs)]);
        },
      };
      const [payout, relay, setup] = [
        await store(),
        await store({ purpose: 'relay' }),
        await store({ purpose: 'setup' }),
      ];
      const later = await store();
      // Blocks below those of the other tests, whose transactions are not final either.
      for (const one of [payout, relay, setup]) await include(one, { blockNumber: 10 });
      await include(later, { blockNumber: 11 });
      const final = (blockNumber: number) =>
        atomically((tx) => settleFinal(tx, { blockNumber, nowMs: NOW_MS, settlements }));
      await final(9);
      expect(settled).toEqual([]);
      await final(10);
      await final(10);
      expect(settled).toEqual([
        ['payout', payout.id, String(NOW_MS)],
        ['relay', relay.id, String(NOW_MS)],
      ]);
      expect((await rowOf(setup))?.status).toBe('final');
      expect((await rowOf(later))?.status).toBe('included');
      const lost = await store();
      const lose = () =>
        atomically((tx) => settleLost(tx, { transactionId: lost.id, nowMs: 5, settlements }));
      expect(await lose()).toBe(true);
      expect(await lose()).toBe(false);
      expect(settled.slice(2)).toEqual([['payout', lost.id, '5']]);
      expect(await rowOf(lost)).toMatchObject({ status: 'final', outcome: 'noop' });
    });
  });

  describe('movements', () => {
    const available = async (brandId: Hex) =>
      (await atomically((tx) => lockAvailableFunds(tx, [brandId]))).get(brandId);
    test('are taken back with their blocks, deposits and withdrawals alike', async () => {
      const [brandId, other] = [freshAddress(), freshAddress()];
      const book = (of: Hex, kind: 'deposit' | 'withdrawal', amount: number, blockNumber: number) =>
        atomically((tx) =>
          bookMovement(tx, {
            id: freshKey('log'),
            kind,
            brandId: of,
            amount,
            blockNumber,
            transactionHash: freshHash(),
            logIndex: 0,
            createdAt: NOW_MS,
          }),
        );
      await book(brandId, 'deposit', 100, 4_000_001);
      await book(brandId, 'withdrawal', 30, 4_000_002);
      await book(brandId, 'deposit', 7, 4_000_003);
      await book(other, 'deposit', 50, 4_000_001);
      expect([await available(brandId), await available(other)]).toEqual([77, 50]);
      await atomically((tx) => unbookMovementsFrom(tx, 4_000_003));
      expect(await available(brandId)).toBe(70);
      await atomically((tx) => unbookMovementsFrom(tx, 4_000_002));
      expect([await available(brandId), await available(other)]).toEqual([100, 50]);
    });
  });

  describe('rewards', () => {
    test('that failed hold no place among those that wait, and are never the newest', async () => {
      const claim = { brandId: freshAddress(), userKey: freshKey('user') };
      const [first, second, failed] = [
        await grant(claim),
        await grant({ ...claim, createdAt: NOW_MS + 1 }),
        await grant(claim),
      ];
      const others = [
        await grant({ ...claim, brandId: freshAddress() }),
        await grant({ ...claim, eventType: 'visit' }),
        await grant({ ...claim, userKey: freshKey('user') }),
      ];
      await atomically((tx) => failRewards(tx, { sequences: [failed.sequence], failure: 'reverted' }));
      const waiting = await atomically((tx) => waitingRewards(tx, 10_000));
      const mine = new Set([first, second, failed, ...others].map(({ sequence }) => sequence));
      expect(waiting.filter(({ sequence }) => mine.has(sequence)).map(({ sequence }) => sequence)).toEqual(
        [first, second, ...others].map(({ sequence }) => sequence),
      );
      const of = { ...claim, eventType: 'survey' };
      expect((await newestReward(db(), of))?.id).toBe(second.id);
      const history = (limit: number) => rewardHistory(db(), { ...claim, limit });
      expect((await history(10)).map(({ eventType, timestamp }) => [eventType, timestamp])).toEqual([
        ['visit', NOW_MS],
        ['survey', NOW_MS + 1],
        ['survey', NOW_MS],
      ]);
      expect(await history(1)).toHaveLength(1);
    });

    test('wait again only when that very transaction carried them', async () => {
      const [one, two] = [await grant(), await grant()];
      const [ours, other] = [await store(), await store()];
      await atomically((tx) => bindRewards(tx, { sequences: [one.sequence], transactionId: ours.id }));
      await atomically((tx) => bindRewards(tx, { sequences: [two.sequence], transactionId: other.id }));
      const both = [one.sequence, two.sequence];
      await atomically((tx) => unbindRewards(tx, { sequences: both, transactionId: ours.id }));
      const found = (await findBySequences(db(), both)).sort((a, b) => a.sequence - b.sequence);
      expect(found.map(({ transactionId, failedTries }) => [transactionId, failedTries])).toEqual([
        [null, 1],
        [other.id, 0],
      ]);
    });

    test('their failures are forgotten with the block, until the claim was given back', async () => {
      const [open, released, elsewhere, paid] = [await grant(), await grant(), await grant(), await grant()];
      const [ours, other] = [await store(), await store()];
      const bind = (of: { sequence: number }[], { id }: { id: string }) =>
        atomically((tx) =>
          bindRewards(tx, { sequences: of.map(({ sequence }) => sequence), transactionId: id }),
        );
      await bind([open, released, paid], ours);
      await bind([elsewhere], other);
      const failed = [open, released, elsewhere].map(({ sequence }) => sequence);
      await atomically((tx) => failRewards(tx, { sequences: failed, failure: 'zero_amount' }));
      await atomically((tx) => markReleased(tx, { sequence: released.sequence, nowMs: NOW_MS }));
      const unreleased = await unreleasedFailures(db(), [ours.id]);
      expect(unreleased.map(({ id }) => id)).toEqual([open.id]);
      expect(await unreleasedFailures(db(), [])).toEqual([]);
      await atomically((tx) => forgetFailures(tx, []));
      await atomically((tx) => forgetFailures(tx, [ours.id]));
      expect(await unreleasedFailures(db(), [ours.id])).toEqual([]);
      expect((await unreleasedFailures(db(), [other.id])).map(({ id }) => id)).toEqual([elsewhere.id]);
      const [still] = await findBySequences(db(), [released.sequence]);
      expect(still).toMatchObject({ releasedAt: NOW_MS, transactionId: ours.id });
    });

    test('the backlog counts those that wait, since the oldest', async () => {
      const before = await waitingBacklog(db());
      const [old, bound, failed] = [
        await grant({ createdAt: 1_000 }),
        await grant({ createdAt: 500 }),
        await grant({ createdAt: 400 }),
      ];
      const { id } = await store();
      await atomically((tx) => bindRewards(tx, { sequences: [bound.sequence], transactionId: id }));
      await atomically((tx) => failRewards(tx, { sequences: [failed.sequence], failure: 'x' }));
      expect(await waitingBacklog(db())).toEqual({ waiting: before.waiting + 1, oldestAt: old.createdAt });
    });
  });

  test('a mint is recorded once; only those past the sale are told by their transactions', async () => {
    const mint = (kind: 'sale' | 'direct', amount: number) => ({
      key: freshHash(),
      kind,
      recipient: freshAddress(),
      amount,
      reason: 'test',
      createdAt: NOW_MS,
    });
    const [sale, direct] = [mint('sale', 5), mint('direct', 7)];
    expect([await recordMint(db(), sale), await recordMint(db(), direct)]).toEqual([true, true]);
    expect(await recordMint(db(), { ...direct, amount: 8 })).toBe(false);
    expect([...(await directMints(db(), [sale.key, direct.key, freshHash()]))]).toEqual([[direct.key, 7n]]);
    expect((await directMints(db(), [])).size).toBe(0);
  });

  test('accounts that a lane sends from are our own, in any spelling', async () => {
    const address = `0x${'aB'.repeat(20)}` as const;
    const now = kit().database.now;
    await leaseLane(db(), { address, purpose: 'payout', owner: 'a', now, forMs: 1 });
    const own = await ownAccountsAmong(db(), [address.toLowerCase(), freshAddress()]);
    expect([...own]).toEqual([address.toLowerCase()]);
    await db().delete(transactions).where(eq(transactions.lane, address));
  });
});
