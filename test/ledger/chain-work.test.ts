import { describe, expect, test } from 'vitest';
import { atMs, isUniqueViolation, readTime } from '../../src/ledger/database/database.ts';
import {
  bindRewards,
  findReward,
  readRewardProgress,
  recordRewards,
  waitingRewards,
} from '../../src/ledger/rewards/rewards.ts';
import { holdsLane, leaseLane, releaseLane } from '../../src/ledger/transactions/lanes.ts';
import {
  findByHashes,
  includedUpTo,
  markFinal,
  markIncluded,
  markSent,
  nextNonce,
  reopenFrom,
  storeReplacement,
  storeTransaction,
  unsettledTransactions,
} from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase, outcomes } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;

const signed = (of: { lane: Hex; nonce: number }) => ({
  ...of,
  id: freshKey('transaction'),
  purpose: 'payout' as const,
  epoch: 1,
  hash: freshHash(),
  raw: '0x02c0' as const,
  maxFeeWei: 2n ** 70n,
  priorityFeeWei: 1n,
  createdAt: NOW_MS,
});

let sequences = 0;
const reward = () => {
  const sequence = sequences++;
  return {
    sequence,
    id: `reward${sequence}`,
    brandId: freshAddress(),
    eventType: 'survey',
    userKey: freshKey('user'),
    wallet: freshAddress(),
    walletCreated: true,
    amount: 10,
    metadata: {},
    createdAt: NOW_MS,
  };
};

onEveryDatabase(({ kit }) => {
  describe('rewards', () => {
    test('wait in the order of their sequence until a transaction carries them', async () => {
      const { database } = kit();
      const rows = [reward(), reward(), reward()];
      await database.atomically((tx) => recordRewards(tx, [...rows].reverse()));
      const waiting = await database.atomically((tx) => waitingRewards(tx, 2));
      expect(waiting.map(({ sequence }) => sequence)).toEqual(
        rows.slice(0, 2).map(({ sequence }) => sequence),
      );
      const transaction = signed({ lane: freshAddress(), nonce: 0 });
      await database.atomically(async (tx) => {
        await storeTransaction(tx, transaction);
        await bindRewards(tx, {
          sequences: waiting.map(({ sequence }) => sequence),
          transactionId: transaction.id,
        });
      });
      const left = await database.atomically((tx) => waitingRewards(tx, 10));
      expect(left.map(({ sequence }) => sequence)).toEqual(rows.slice(2).map(({ sequence }) => sequence));
      expect(
        await readRewardProgress(
          database.db,
          rows.map(({ id }) => id),
        ),
      ).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ rewardId: rows[0]?.id, hash: transaction.hash, status: 'stored' }),
          expect.objectContaining({ rewardId: rows[2]?.id, hash: null, status: null, failure: null }),
        ]),
      );
    });

    test('are bound to one transaction: of several at once, one', async () => {
      const { database, other } = kit();
      const row = reward();
      await database.atomically((tx) => recordRewards(tx, [row]));
      const { values, errors } = await outcomes(
        Array.from({ length: 8 }, (_, place) =>
          (place % 2 ? database : other).atomically(async (tx) => {
            const transaction = signed({ lane: freshAddress(), nonce: 0 });
            await storeTransaction(tx, transaction);
            await bindRewards(tx, { sequences: [row.sequence], transactionId: transaction.id });
            return transaction.id;
          }),
        ),
      );
      expect(values).toHaveLength(1);
      expect(errors).toHaveLength(7);
      for (const error of errors)
        expect(error).toMatchObject({ message: 'a reward was bound to a transaction before' });
      expect((await findReward(database.db, row.id))?.transaction?.id).toBe(values[0]);
    });

    test('one that was bound before holds back all that would be bound with it', async () => {
      const { database } = kit();
      const rows = [reward(), reward()];
      await database.atomically((tx) => recordRewards(tx, rows));
      const bind = (sequences: number[]) =>
        database.atomically(async (tx) => {
          const transaction = signed({ lane: freshAddress(), nonce: 0 });
          await storeTransaction(tx, transaction);
          await bindRewards(tx, { sequences, transactionId: transaction.id });
        });
      const numbers = rows.map(({ sequence }) => sequence);
      await bind(numbers.slice(0, 1));
      await expect(bind(numbers)).rejects.toThrow('a reward was bound to a transaction before');
      expect((await findReward(database.db, rows[1]?.id ?? ''))?.transaction).toBeNull();
    });

    test.each(['sequence', 'id'] as const)('no two have the same %s', async (field) => {
      const { database } = kit();
      const [one, two] = [reward(), reward()];
      await database.atomically((tx) => recordRewards(tx, [one]));
      const same = { ...two, [field]: one[field] };
      const { errors } = await outcomes([database.atomically((tx) => recordRewards(tx, [same]))]);
      expect(isUniqueViolation(errors[0])).toBe(true);
    });
  });

  describe('transactions', () => {
    test('no two of a lane have the same nonce, also when they are stored at once', async () => {
      const { database, other } = kit();
      const lane = freshAddress();
      const { values, errors } = await outcomes(
        Array.from({ length: 10 }, (_, place) =>
          (place % 2 ? database : other).atomically((tx) => storeTransaction(tx, signed({ lane, nonce: 5 }))),
        ),
      );
      expect(values).toHaveLength(1);
      expect(errors.map(isUniqueViolation)).toEqual(Array.from({ length: 9 }, () => true));
      expect(await unsettledTransactions(database.db, lane)).toHaveLength(1);
      await database.atomically((tx) => storeTransaction(tx, signed({ lane: freshAddress(), nonce: 5 })));
    });

    test('the next nonce follows the highest that was stored', async () => {
      const { database } = kit();
      const lane = freshAddress();
      expect(await nextNonce(database.db, lane)).toBeUndefined();
      for (const nonce of [9, 10])
        await database.atomically((tx) => storeTransaction(tx, signed({ lane, nonce })));
      expect(await nextNonce(database.db, lane)).toBe(11);
    });

    test('one that was not stored whole took no nonce', async () => {
      const { database } = kit();
      const lane = freshAddress();
      const first = signed({ lane: freshAddress(), nonce: 0 });
      await database.atomically((tx) => storeTransaction(tx, first));
      // The second statement fails: these bytes are another transaction's.
      const copy = { ...signed({ lane, nonce: 0 }), hash: first.hash };
      await expect(database.atomically((tx) => storeTransaction(tx, copy))).rejects.toThrow();
      expect(await nextNonce(database.db, lane)).toBeUndefined();
    });

    test('go from stored to final, and back when the chain takes a block back', async () => {
      const { database } = kit();
      const lane = freshAddress();
      const [one, two] = [signed({ lane, nonce: 0 }), signed({ lane, nonce: 1 })];
      const states = async () => {
        const found = await findByHashes(database.db, [one.hash, two.hash]);
        return found
          .map(({ transaction }) => transaction)
          .sort((a, b) => a.nonce - b.nonce)
          .map(({ status, outcome }) => (outcome ? `${status} ${outcome}` : status));
      };
      const inBlock = (of: typeof one, blockNumber: number, outcome: 'done' | 'reverted') =>
        database.atomically((tx) =>
          markIncluded(tx, {
            id: of.id,
            hash: of.hash,
            blockNumber,
            blockHash: freshHash(),
            outcome,
            gasUsed: 21_000,
            gasPriceWei: '1000000000',
          }),
        );
      await database.atomically(async (tx) => {
        await storeTransaction(tx, two);
        await storeTransaction(tx, one);
      });
      expect((await unsettledTransactions(database.db, lane)).map(({ nonce }) => nonce)).toEqual([0, 1]);
      await markSent(database.db, [one.id]);
      expect(await states()).toEqual(['sent', 'stored']);
      await inBlock(one, 1_000_001, 'done');
      await inBlock(two, 1_000_002, 'reverted');
      // A late answer of the node changes nothing that a block has shown.
      await markSent(database.db, [one.id]);
      expect(await states()).toEqual(['included done', 'included reverted']);
      expect(await unsettledTransactions(database.db, lane)).toEqual([]);
      expect(await database.atomically((tx) => reopenFrom(tx, 1_000_002))).toEqual([two.id]);
      expect(await states()).toEqual(['included done', 'stored']);
      await inBlock(two, 1_000_003, 'done');
      expect((await includedUpTo(database.db, 1_000_002)).map(({ id }) => id)).toEqual([one.id]);
      await markFinal(database.db, [one.id]);
      // What is final stays so.
      expect(await database.atomically((tx) => reopenFrom(tx, 1_000_001))).toEqual([two.id]);
      expect(await states()).toEqual(['final done', 'stored']);
    });

    test('a replacement has the same nonce, is the one to send, and both hashes are known', async () => {
      const { database } = kit();
      const first = signed({ lane: freshAddress(), nonce: 3 });
      const { hash, raw } = signed({ lane: first.lane, nonce: 3 });
      await database.atomically(async (tx) => {
        await storeTransaction(tx, first);
        await storeReplacement(tx, {
          transactionId: first.id,
          kind: 'noop',
          hash,
          raw,
          createdAt: NOW_MS,
          maxFeeWei: 2n ** 71n,
          priorityFeeWei: 2n,
        });
      });
      expect(await unsettledTransactions(database.db, first.lane)).toEqual([
        {
          id: first.id,
          nonce: 3,
          kind: 'noop',
          hash,
          raw,
          maxFeeWei: 2n ** 71n,
          priorityFeeWei: 2n,
          refused: false,
        },
      ]);
      const found = await findByHashes(database.db, [first.hash, hash]);
      expect(found.map(({ transaction }) => transaction.id)).toEqual([first.id, first.id]);
      expect(await nextNonce(database.db, first.lane)).toBe(4);
    });

    test('whichever bytes a block had, the newest are the ones to send once it is taken back', async () => {
      const { database } = kit();
      const lane = freshAddress();
      const first = signed({ lane, nonce: 0 });
      const better = { ...signed({ lane, nonce: 0 }), maxFeeWei: 2n ** 71n };
      await database.atomically(async (tx) => {
        await storeTransaction(tx, first);
        await storeReplacement(tx, { ...better, transactionId: first.id, kind: 'payload' });
        const block = { blockNumber: 2_000_001, blockHash: freshHash(), gasUsed: 1, gasPriceWei: '1' };
        await markIncluded(tx, { id: first.id, hash: first.hash, ...block, outcome: 'done' });
      });
      expect(await database.atomically((tx) => reopenFrom(tx, 2_000_001))).toEqual([first.id]);
      const [open] = await unsettledTransactions(database.db, lane);
      // A better offer than the older bytes would be these very bytes again, which are stored already.
      expect(open).toMatchObject({ hash: better.hash, maxFeeWei: better.maxFeeWei });
    });

    test('hand back the bytes that were stored', async () => {
      const { database } = kit();
      const transaction = {
        ...signed({ lane: freshAddress(), nonce: 0 }),
        raw: `0x${'ab'.repeat(40_000)}` as const,
      };
      await database.atomically((tx) => storeTransaction(tx, transaction));
      const [open] = await unsettledTransactions(database.db, transaction.lane);
      expect(open).toMatchObject({ raw: transaction.raw, hash: transaction.hash, maxFeeWei: 2n ** 70n });
    });
  });

  describe('lanes', () => {
    const lease = ({ nowMs, ...of }: { address: Hex; owner: string; nowMs: number }) =>
      leaseLane(kit().database.db, { ...of, purpose: 'payout', now: atMs(nowMs), forMs: 1_000 });
    const holds = ({ nowMs, ...of }: { address: Hex; epoch: number; nowMs: number }) =>
      kit().database.atomically((tx) => holdsLane(tx, { ...of, now: atMs(nowMs) }));

    test('of many owners at once, one gets the lane', async () => {
      const { database, other } = kit();
      const address = freshAddress();
      const { values, errors } = await outcomes(
        Array.from({ length: 20 }, (_, place) =>
          leaseLane((place % 2 ? database : other).db, {
            address,
            purpose: 'payout',
            owner: `owner${place}`,
            now: atMs(NOW_MS),
            forMs: 1_000,
          }),
        ),
      );
      expect(errors).toEqual([]);
      expect(values.filter((epoch) => epoch !== undefined)).toEqual([1]);
    });

    test('an owner extends its lease under the same epoch', async () => {
      const address = freshAddress();
      expect(await lease({ address, owner: 'a', nowMs: NOW_MS })).toBe(1);
      expect(await lease({ address, owner: 'a', nowMs: NOW_MS + 900 })).toBe(1);
      expect(await lease({ address, owner: 'b', nowMs: NOW_MS + 1_899 })).toBeUndefined();
    });

    test.each([
      ['a millisecond before its end', 999, undefined],
      ['at its end', 1_000, 2],
      ['after its end', 1_001, 2],
    ])('another owner gets a lease %s: %s', async (_, afterMs, epoch) => {
      const address = freshAddress();
      await lease({ address, owner: 'a', nowMs: NOW_MS });
      expect(await lease({ address, owner: 'b', nowMs: NOW_MS + afterMs })).toBe(epoch);
    });

    test('a lease that ends later than any of its length can is not believed', async () => {
      const address = freshAddress();
      const old = (await lease({ address, owner: 'a', nowMs: NOW_MS + 86_400_000 })) ?? 0;
      expect(await lease({ address, owner: 'b', nowMs: NOW_MS })).toBe(2);
      expect(await holds({ address, epoch: old, nowMs: NOW_MS })).toBe(false);
      // At most a lease's length ahead: it may be a lease as it should be.
      await lease({ address, owner: 'b', nowMs: NOW_MS + 1_000 });
      expect(await lease({ address, owner: 'c', nowMs: NOW_MS + 1_000 })).toBeUndefined();
    });

    test("the database's clock is the same for all processes, in milliseconds, and runs on", async () => {
      const { database, other } = kit();
      const before = await readTime(database);
      const after = await readTime(other);
      expect([typeof before, Number.isInteger(before)]).toEqual(['number', true]);
      expect(after).toBeGreaterThanOrEqual(before);
      // Within a transaction as well.
      await database.atomically(async (tx) => {
        const ask = () => readTime({ db: tx, now: database.now });
        const first = await ask();
        await expect.poll(ask).toBeGreaterThan(first);
      });
    });

    test('the old owner is fenced out, also after it comes back', async () => {
      const address = freshAddress();
      const old = (await lease({ address, owner: 'a', nowMs: NOW_MS })) ?? 0;
      expect(await holds({ address, epoch: old, nowMs: NOW_MS + 999 })).toBe(true);
      expect(await holds({ address, epoch: old, nowMs: NOW_MS + 1_000 })).toBe(false);
      const fresh = (await lease({ address, owner: 'b', nowMs: NOW_MS + 1_000 })) ?? 0;
      expect(await holds({ address, epoch: old, nowMs: NOW_MS + 1_001 })).toBe(false);
      expect(await holds({ address, epoch: fresh, nowMs: NOW_MS + 1_001 })).toBe(true);
      expect(await lease({ address, owner: 'a', nowMs: NOW_MS + 1_500 })).toBeUndefined();
      expect(await lease({ address, owner: 'a', nowMs: NOW_MS + 2_000 })).toBe(3);
      expect(await holds({ address, epoch: old, nowMs: NOW_MS + 2_001 })).toBe(false);
    });

    test('a lease given back is free at once, and only its owner can give it back', async () => {
      const address = freshAddress();
      await lease({ address, owner: 'a', nowMs: NOW_MS });
      await releaseLane(kit().database.db, { address, owner: 'b' });
      expect(await lease({ address, owner: 'b', nowMs: NOW_MS + 1 })).toBeUndefined();
      await releaseLane(kit().database.db, { address, owner: 'a' });
      expect(await lease({ address, owner: 'b', nowMs: NOW_MS + 1 })).toBe(2);
    });

    test('a lane that was never leased has no holder', async () => {
      expect(await holds({ address: freshAddress(), epoch: 0, nowMs: NOW_MS })).toBe(false);
    });
  });
});
