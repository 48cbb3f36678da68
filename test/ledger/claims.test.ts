import { describe, expect, test } from 'vitest';
import { takeNumbers } from '../../src/ledger/counters.ts';
import {
  addClaimTotals,
  type Claim,
  claimKeyText,
  eventKeyText,
  readClaimCounters,
  readClaimTotals,
  takeClaims,
} from '../../src/ledger/rewards/claims.ts';
import { bookMovement, lockAvailableFunds, openFunds, promiseFunds } from '../../src/ledger/rewards/funds.ts';
import type { CounterName } from '../../src/ledger/schema/facts-and-counters.ts';
import { ensureWallets } from '../../src/ledger/wallets/wallets.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase, outcomes } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const newEvent = () => ({ brandId: freshAddress(), eventType: 'survey' });
const claim = (of: Partial<Claim> & Pick<Claim, 'brandId' | 'userKey'>): Claim => ({
  eventType: 'survey',
  rewardId: freshKey('reward'),
  amount: 10,
  nowMs: NOW_MS,
  claimsBelow: Number.MAX_SAFE_INTEGER,
  lastAtMost: NOW_MS,
  ...of,
});

onEveryDatabase(({ kit }) => {
  describe('claims', () => {
    test('of 50 at once, 3 are granted', async () => {
      const { database, other } = kit();
      const key = { brandId: freshAddress(), userKey: freshKey('user') };
      const { values, errors } = await outcomes(
        Array.from({ length: 50 }, (_, place) =>
          (place % 2 ? database : other).atomically((tx) =>
            takeClaims(tx, [claim({ ...key, claimsBelow: 3 })]),
          ),
        ),
      );
      expect(errors).toEqual([]);
      expect(values.filter((granted) => granted.length === 1)).toHaveLength(3);
      const counters = await readClaimCounters(database.db, [claim(key)]);
      expect(counters.get(claimKeyText(claim(key)))).toMatchObject({
        claims: 3,
        lastAt: NOW_MS,
        lastAmount: 10,
      });
    });

    test.each([
      ['a millisecond too early', 99, 0],
      ['to the millisecond', 100, 1],
      ['later', 101, 1],
    ])('a cooldown of 100 ms, %s', async (_, afterMs, granted) => {
      const { database } = kit();
      const key = { brandId: freshAddress(), userKey: freshKey('user') };
      const at = (nowMs: number) => claim({ ...key, nowMs, lastAtMost: nowMs - 100 });
      expect((await database.atomically((tx) => takeClaims(tx, [at(NOW_MS)]))).length).toBe(1);
      expect((await database.atomically((tx) => takeClaims(tx, [at(NOW_MS + afterMs)]))).length).toBe(
        granted,
      );
    });

    test('a refused claim changes nothing of the row, and its neighbours are granted', async () => {
      const { database } = kit();
      const brandId = freshAddress();
      const [full, free] = [freshKey('user'), freshKey('user')];
      const first = claim({ brandId, userKey: full, claimsBelow: 1 });
      await database.atomically((tx) => takeClaims(tx, [first]));
      const again = [
        claim({ brandId, userKey: full, claimsBelow: 1, nowMs: NOW_MS + 5, amount: 99 }),
        claim({ brandId, userKey: free, claimsBelow: 1, nowMs: NOW_MS + 5 }),
      ];
      const granted = await database.atomically((tx) => takeClaims(tx, again));
      expect(granted).toEqual([free]);
      const counters = await readClaimCounters(database.db, again);
      expect(counters.get(claimKeyText(first))).toMatchObject({
        claims: 1,
        lastAt: NOW_MS,
        lastRewardId: first.rewardId,
        lastAmount: 10,
      });
    });

    test('users, events and brands are counted apart', async () => {
      const { database } = kit();
      const [brandA, brandB] = [freshAddress(), freshAddress()];
      const keys = [
        claim({ brandId: brandA, userKey: 'a', claimsBelow: 1 }),
        claim({ brandId: brandA, userKey: 'b', claimsBelow: 1 }),
        claim({ brandId: brandB, userKey: 'a', claimsBelow: 1 }),
        claim({ brandId: brandA, userKey: 'a', claimsBelow: 1, eventType: 'other' }),
      ];
      expect((await database.atomically((tx) => takeClaims(tx, keys))).length).toBe(4);
      expect((await database.atomically((tx) => takeClaims(tx, keys))).length).toBe(0);
    });

    test('overlapping lists in any order wait for each other and never deadlock', async () => {
      const { database, other } = kit();
      const brandId = freshAddress();
      const users = Array.from({ length: 20 }, (_, place) => `user${place}`);
      const rounds = 20;
      const { errors } = await outcomes(
        Array.from({ length: rounds }, (_, round) => {
          const order = round % 2 ? users : [...users].reverse();
          const claims = order.map((userKey) => claim({ brandId, userKey }));
          return (round % 3 ? database : other).atomically((tx) => takeClaims(tx, claims));
        }),
      );
      expect(errors).toEqual([]);
      const counters = await readClaimCounters(
        database.db,
        users.map((userKey) => claim({ brandId, userKey })),
      );
      expect([...counters.values()].map(({ claims }) => claims)).toEqual(users.map(() => rounds));
    });
  });

  describe('totals of an event', () => {
    test('of 40 at once, 10 are counted', async () => {
      const { database, other } = kit();
      const event = newEvent();
      const { values, errors } = await outcomes(
        Array.from({ length: 40 }, (_, place) =>
          (place % 2 ? database : other).atomically((tx) =>
            addClaimTotals(tx, [{ ...event, claims: 1, maxTotalClaims: 10 }]),
          ),
        ),
      );
      expect(errors).toEqual([]);
      expect(values.filter(Boolean)).toHaveLength(10);
      expect((await readClaimTotals(database.db, [event])).get(eventKeyText(event))).toBe(10);
    });

    test.each([
      ['more than the limit at once', 4, 3, false],
      ['exactly the limit', 3, 3, true],
      ['without a limit', 3, Number.MAX_SAFE_INTEGER, true],
    ])('%s', async (_, claims, maxTotalClaims, counted) => {
      const event = newEvent();
      expect(await addClaimTotals(kit().database.db, [{ ...event, claims, maxTotalClaims }])).toBe(counted);
      expect((await readClaimTotals(kit().database.db, [event])).get(eventKeyText(event))).toBe(
        counted ? claims : undefined,
      );
    });

    test('of several events, one over its maximum: it is not counted, and the caller hears of it', async () => {
      const { db } = kit().database;
      const [full, free, open] = [newEvent(), newEvent(), { ...newEvent(), eventType: 'visit' }];
      const add = (claims: number) =>
        addClaimTotals(db, [
          { ...full, claims, maxTotalClaims: 3 },
          { ...free, claims, maxTotalClaims: 9 },
          { ...open, claims, maxTotalClaims: Number.MAX_SAFE_INTEGER },
        ]);
      expect([await add(2), await add(2)]).toEqual([true, false]);
      const totals = await readClaimTotals(db, [full, free, open]);
      expect([full, free, open].map((event) => totals.get(eventKeyText(event)))).toEqual([2, 4, 4]);
    });
  });

  describe('numbers', () => {
    test('taken at once are dense and never the same', async () => {
      const { database, other } = kit();
      const name = freshKey('numbers') as CounterName;
      const counts = Array.from({ length: 40 }, (_, place) => 1 + (place % 3));
      const { values, errors } = await outcomes(
        counts.map((count, place) =>
          (place % 2 ? database : other).atomically(async (tx) => ({
            first: await takeNumbers(tx, name, count),
            count,
          })),
        ),
      );
      expect(errors).toEqual([]);
      const taken = values.flatMap(({ first, count }) =>
        Array.from({ length: count }, (_, offset) => first + offset),
      );
      expect(taken.sort((a, b) => a - b)).toEqual(taken.map((_, place) => place));
    });

    test('of work that was taken back are handed out again', async () => {
      const { database } = kit();
      const name = freshKey('numbers') as CounterName;
      const lost = database.atomically(async (tx) => {
        await takeNumbers(tx, name, 5);
        throw new Error('taken back');
      });
      await expect(lost).rejects.toThrow('taken back');
      expect(await takeNumbers(database.db, name, 1)).toBe(0);
    });
  });

  describe('wallets', () => {
    const addressAt = (index: number) => `0x${(index + 2 ** 40).toString(16).padStart(40, '0')}` as const;

    test('500 that ask at once for one user get one wallet, made once', async () => {
      const { database, other } = kit();
      const userKey = freshKey('user');
      const { values, errors } = await outcomes(
        Array.from({ length: 500 }, (_, place) =>
          (place % 2 ? database : other).atomically((tx) =>
            ensureWallets(tx, { userKeys: [userKey], addressAt, nowMs: NOW_MS }),
          ),
        ),
      );
      expect(errors).toEqual([]);
      const wallets = values.map((found) => found.get(userKey));
      expect(new Set(wallets.map((wallet) => wallet?.address)).size).toBe(1);
      expect(wallets.filter((wallet) => wallet?.created)).toHaveLength(1);
    });

    test('users who come together, in any order, get addresses of their own', async () => {
      const { database, other } = kit();
      const users = Array.from({ length: 12 }, () => freshKey('user'));
      const { values, errors } = await outcomes(
        Array.from({ length: 12 }, (_, round) => {
          const userKeys = [...users.slice(round), ...users.slice(0, round)].slice(0, 8);
          return (round % 2 ? database : other).atomically((tx) =>
            ensureWallets(tx, { userKeys, addressAt, nowMs: NOW_MS }),
          );
        }),
      );
      expect(errors).toEqual([]);
      const seen = new Map<string, Set<string>>();
      for (const found of values)
        for (const [userKey, { address }] of found)
          seen.set(userKey, (seen.get(userKey) ?? new Set()).add(address));
      expect(seen.size).toBe(12);
      expect([...seen.values()].every((addresses) => addresses.size === 1)).toBe(true);
      expect(new Set([...seen.values()].flatMap((addresses) => [...addresses])).size).toBe(12);
    });
  });

  describe('funds', () => {
    const deposit = (brandId: `0x${string}`, amount: number) => ({
      id: freshKey('movement'),
      kind: 'deposit' as const,
      brandId,
      amount,
      transactionHash: freshHash(),
      logIndex: 0,
      blockNumber: 1,
      createdAt: NOW_MS,
    });
    const available = async (brandId: `0x${string}`) =>
      (await kit().database.atomically((tx) => lockAvailableFunds(tx, [brandId]))).get(brandId);

    test('are never promised twice: of 30 at once, what there is', async () => {
      const { database, other } = kit();
      const brandId = freshAddress();
      await database.atomically((tx) => bookMovement(tx, deposit(brandId, 100)));
      const { values, errors } = await outcomes(
        Array.from({ length: 30 }, (_, place) =>
          (place % 2 ? database : other).atomically((tx) => promiseFunds(tx, [{ brandId, amount: 9 }])),
        ),
      );
      expect(errors).toEqual([]);
      expect(values.filter(Boolean)).toHaveLength(11);
      expect(await available(brandId)).toBe(1);
    });

    test.each([
      ['nothing was deposited', 0, 1, false],
      ['one less than needed', 9, 10, false],
      ['exactly what is needed', 10, 10, true],
    ])('%s', async (_, deposited, amount, promised) => {
      const { database } = kit();
      const brandId = freshAddress();
      await openFunds(database.db, brandId);
      if (deposited > 0) await database.atomically((tx) => bookMovement(tx, deposit(brandId, deposited)));
      expect(await promiseFunds(database.db, [{ brandId, amount }])).toBe(promised);
      expect(await available(brandId)).toBe(promised ? deposited - amount : deposited);
    });

    test('of several brands, one has too little: the caller hears of it', async () => {
      const { database } = kit();
      const [rich, poor] = [freshAddress(), freshAddress()];
      await database.atomically((tx) => bookMovement(tx, deposit(rich, 100)));
      await database.atomically((tx) => bookMovement(tx, deposit(poor, 1)));
      const promise = (amount: number) =>
        promiseFunds(
          database.db,
          [rich, poor].map((brandId) => ({ brandId, amount })),
        );
      expect([await promise(1), await promise(2)]).toEqual([true, false]);
      expect([await available(rich), await available(poor)]).toEqual([97, 0]);
    });

    test('an unknown brand has none', async () => {
      const brandId = freshAddress();
      expect(await promiseFunds(kit().database.db, [{ brandId, amount: 1 }])).toBe(false);
      expect(await available(brandId)).toBeUndefined();
    });

    test('a movement counts once, however often and by whomever it is booked', async () => {
      const { database, other } = kit();
      const brandId = freshAddress();
      const movement = deposit(brandId, 50);
      const { values, errors } = await outcomes(
        [database, other, database, other].map((one) =>
          one.atomically((tx) => bookMovement(tx, { ...movement, id: freshKey('movement') })),
        ),
      );
      expect(errors).toEqual([]);
      expect(values.filter(Boolean)).toHaveLength(1);
      expect(await available(brandId)).toBe(50);
    });

    test('a withdrawal leaves less, and another log of the same transaction counts too', async () => {
      const { database } = kit();
      const brandId = freshAddress();
      const movement = deposit(brandId, 50);
      await database.atomically((tx) => bookMovement(tx, movement));
      const out = {
        ...movement,
        id: freshKey('movement'),
        kind: 'withdrawal' as const,
        amount: 20,
        logIndex: 1,
      };
      expect(await database.atomically((tx) => bookMovement(tx, out))).toBe(true);
      expect(await available(brandId)).toBe(30);
    });

    test('an account that is opened again keeps what it has', async () => {
      const { database } = kit();
      const brandId = freshAddress();
      await database.atomically((tx) => bookMovement(tx, deposit(brandId, 7)));
      await openFunds(database.db, brandId);
      expect(await available(brandId)).toBe(7);
    });
  });
});
