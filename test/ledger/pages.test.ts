/** The pages in which the ledger is audited, the journal of the local chain, single facts, counters, and traces of requests. */
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  attemptsOf,
  auditedCounters,
  auditedRewards,
  auditedTransactions,
  everySender,
  everyTotal,
  firstNonceSince,
  fundsPage,
  lastSequence,
  movementsIn,
  nextSequence,
  rewardsBySequence,
  uncountedRewards,
} from '../../src/ledger/audit-pages.ts';
import { takeNumbers } from '../../src/ledger/counters.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { type JournalBlock, ledgerChainJournal } from '../../src/ledger/emulator/chain-journal.ts';
import { emulatorMigrations } from '../../src/ledger/emulator/migrations.ts';
import { ledgerAnswers, ledgerWrites, readFact, readLedgerOwner, writeFact } from '../../src/ledger/facts.ts';
import {
  createTraceDays,
  findRequestTraces,
  insertRequestTraces,
  listRequestTraces,
  pruneRequestTraces,
  type RequestTrace,
} from '../../src/ledger/request-traces.ts';
import { addClaimTotals, takeClaims } from '../../src/ledger/rewards/claims.ts';
import { bookMovement, openFunds } from '../../src/ledger/rewards/funds.ts';
import { bindRewards, markReleased, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { brands } from '../../src/ledger/schema/brands.ts';
import { facts } from '../../src/ledger/schema/facts-and-counters.ts';
import { requestTraces } from '../../src/ledger/schema/request-traces.ts';
import { markFinal, markSent, storeReplacement } from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { placedName, secureRandom } from '../../src/lib/ids.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { NOW_MS, transactionsOf } from './transactions.ts';

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const { atomically, store: storeOne, include } = transactionsOf(() => kit().database);

  describe('audited', () => {
    const brandId = freshAddress();
    const grant = (sequence: number, userKey: string, counted = true) =>
      atomically(async (tx) => {
        const id = freshKey('reward');
        const key = { brandId, eventType: 'survey', userKey };
        if (counted)
          await takeClaims(tx, [
            {
              ...key,
              rewardId: id,
              amount: 1,
              nowMs: NOW_MS,
              claimsBelow: 100,
              lastAtMost: NOW_MS,
            },
          ]);
        await recordRewards(tx, [
          {
            ...key,
            sequence,
            id,
            amount: 1,
            metadata: {},
            createdAt: NOW_MS,
            wallet: freshAddress(),
            walletCreated: true,
          },
        ]);
      });
    const store = (lane: Hex, nonce: number) => storeOne({ lane, nonce });
    const numbers = (rows: { sequence: number }[]) => rows.map(({ sequence }) => sequence);

    test('rewards come by their sequences, with their transactions and their counters', async () => {
      expect([await lastSequence(db()), await nextSequence(db())]).toEqual([undefined, 0]);
      expect(await atomically((tx) => takeNumbers(tx, 'reward_sequence', 3))).toBe(0);
      expect(await atomically((tx) => takeNumbers(tx, 'reward_sequence', 2))).toBe(3);
      expect(await nextSequence(db())).toBe(5);
      await grant(10, 'alice');
      await grant(12, 'alice');
      await grant(11, 'bob');
      await grant(20, 'carol', false);
      await grant(21, 'dave', false);
      await atomically((tx) => markReleased(tx, { sequence: 21, nowMs: NOW_MS }));
      const carrier = await store(freshAddress(), 0);
      await atomically((tx) => bindRewards(tx, { sequences: [11], transactionId: carrier.id }));
      expect(await lastSequence(db())).toBe(21);
      const page = await auditedRewards(db(), { from: 11, below: 20 });
      expect(page.map(({ sequence, status }) => [sequence, status])).toEqual([
        [11, 'stored'],
        [12, null],
      ]);
      expect(numbers(await uncountedRewards(db(), { from: 10, below: 22 }))).toEqual([20]);
      expect(numbers(await uncountedRewards(db(), { from: 10, below: 20 }))).toEqual([]);
      expect(numbers(await uncountedRewards(db(), { from: 21, below: 30 }))).toEqual([]);
      const bySequence = async (of: number[]) => numbers(await rewardsBySequence(db(), of)).sort();
      expect(await bySequence([])).toEqual([]);
      // Near each other: all between them. Far apart: these alone.
      expect(await bySequence([12, 10])).toEqual([10, 11, 12]);
      expect(await bySequence([21, 10])).toEqual([10, 21]);
      expect(
        await bySequence([10, 12, 21, ...Array.from({ length: 600 }, (_, n) => 10_000 + 3 * n)]),
      ).toEqual([10, 12, 21]);
    });

    test('counters come in the order of their keys, each with how many of its rewards still count', async () => {
      const place = { brandId, eventType: 'survey', userKey: 'alice' };
      const page = (after?: typeof place, limit = 10) => auditedCounters(db(), { after, limit });
      const told = async (...of: Parameters<typeof page>) =>
        (await page(...of)).map(({ userKey, claims, rewards }) => [userKey, claims, rewards]);
      expect(await told()).toEqual([
        ['alice', 2, 2],
        ['bob', 1, 1],
      ]);
      expect(await told(undefined, 1)).toEqual([['alice', 2, 2]]);
      expect(await told(place)).toEqual([['bob', 1, 1]]);
      expect(await told({ ...place, userKey: 'bob' })).toEqual([]);
      await atomically((tx) => markReleased(tx, { sequence: 12, nowMs: NOW_MS }));
      expect(await told(undefined, 1)).toEqual([['alice', 2, 1]]);
      for (const eventType of ['visit', 'survey'])
        await atomically((tx) => addClaimTotals(tx, [{ brandId, eventType, claims: 2, maxTotalClaims: 5 }]));
      expect((await everyTotal(db())).map(({ eventType, claims }) => [eventType, claims])).toEqual([
        ['survey', 2],
        ['visit', 2],
      ]);
    });

    test('funds and movements come in their order, from and to', async () => {
      const ids = [freshAddress(), freshAddress(), freshAddress()];
      for (const id of [...ids].reverse()) await openFunds(db(), id);
      const page = async (after: string, limit: number) =>
        (await fundsPage(db(), { after, limit })).map((row) => row.brandId);
      expect(await page(ids[0] ?? '', 2)).toEqual(ids.slice(1));
      expect(await page(ids[0] ?? '', 1)).toEqual(ids.slice(1, 2));
      for (const blockNumber of [10, 11, 12, 13])
        await atomically((tx) =>
          bookMovement(tx, {
            id: freshKey('log'),
            kind: 'deposit',
            brandId,
            amount: 1,
            blockNumber,
            transactionHash: freshHash(),
            logIndex: 0,
            createdAt: NOW_MS,
          }),
        );
      const found = await movementsIn(db(), { from: 11, to: 12 });
      expect(found.map(({ blockNumber }) => blockNumber).sort()).toEqual([11, 12]);
    });

    test('transactions of a lane come by their nonces, from the first that may still change', async () => {
      const lane = freshAddress();
      const other = await store(freshAddress(), 0);
      const all = [await store(lane, 0), await store(lane, 1), await store(lane, 2)];
      const first = (block: number) => firstNonceSince(db(), { lane, block });
      expect(await first(100)).toBe(0);
      await markSent(db(), [all[0]?.id ?? '']);
      expect(await first(100)).toBe(0);
      for (const [place, of] of all.entries()) await include(of, { blockNumber: 5 + place });
      expect(await first(100)).toBe(0);
      await atomically((tx) => markFinal(tx, [all[0]?.id ?? '', all[1]?.id ?? '']));
      expect([await first(100), await first(7), await first(6), await first(5)]).toEqual([2, 2, 1, 0]);
      await atomically((tx) => markFinal(tx, [all[2]?.id ?? '']));
      expect([await first(8), await first(7)]).toEqual([undefined, 2]);
      const page = await auditedTransactions(db(), { lane, fromNonce: 1, limit: 10 });
      expect(page.map(({ nonce }) => nonce)).toEqual([1, 2]);
      expect(await auditedTransactions(db(), { lane, fromNonce: 0, limit: 1 })).toHaveLength(1);
      const again = freshHash();
      const replaced = await store(lane, 3);
      await atomically((tx) =>
        storeReplacement(tx, {
          transactionId: replaced.id,
          kind: 'payload',
          hash: again,
          raw: again,
          maxFeeWei: 2n,
          priorityFeeWei: 2n,
          createdAt: NOW_MS,
        }),
      );
      const found = await attemptsOf(db(), [replaced.id, other.id].sort());
      expect(found.filter((one) => one.transactionId === replaced.id).map(({ hash }) => hash)).toEqual([
        replaced.hash,
        again,
      ]);
      expect(found).toHaveLength(3);
      expect((await everySender(db())).map((row) => row.lane)).toEqual(expect.arrayContaining([lane]));
    });
  });

  test('the journal is replaced from a block on, read in its order, and cut', async () => {
    await migrate(kit().database, emulatorMigrations);
    const journal = ledgerChainJournal(kit().database);
    const block = (firstNumber: number, number = firstNumber): JournalBlock => ({
      firstNumber,
      number,
      hash: freshHash(),
      parentHash: freshHash(),
      timestampSeconds: number,
      intervalSeconds: 0,
      baseFeeWei: '1',
      rawTransactions: [],
    });
    const read = async (afterBlock: number, limit = 10) =>
      (await journal.read({ afterBlock, limit })).map(({ firstNumber, number }) => [firstNumber, number]);
    expect(await journal.lastBlock()).toBe(-1);
    await journal.append([]);
    await journal.append([block(0), block(1), block(2, 5)]);
    await journal.append([block(6)]);
    expect([await read(-1), await read(0, 1), await read(5)]).toEqual([
      [
        [0, 0],
        [1, 1],
        [2, 5],
        [6, 6],
      ],
      [[1, 1]],
      [[6, 6]],
    ]);
    expect(await journal.lastBlock()).toBe(6);
    await journal.append([block(5)]);
    expect(await read(-1)).toEqual([
      [0, 0],
      [1, 1],
      [5, 5],
    ]);
    await journal.truncateAfter(1);
    expect([await read(-1), await journal.lastBlock()]).toEqual([
      [
        [0, 0],
        [1, 1],
      ],
      1,
    ]);
    await journal.truncateAfter(-1);
    expect(await journal.lastBlock()).toBe(-1);
  });

  test('facts are kept under their names; the clock and the chain say whose ledger it is', async () => {
    const owner = () => readLedgerOwner(kit().database);
    await db().delete(facts);
    await db().delete(brands);
    expect(await owner()).toEqual({ owner: 'nobody' });
    await db()
      .insert(brands)
      .values({
        brandId: freshAddress(),
        name: 'Demo',
        automation: true,
        verificationSecret: 'x',
        createdAt: 1,
        profile: {} as never,
      });
    expect(await owner()).toEqual({ owner: 'production' });
    const contracts = {
      token: freshAddress(),
      escrow: freshAddress(),
      perks: freshAddress(),
      pointsSale: freshAddress(),
    };
    const chain = { chainId: 7, genesisHash: freshHash(), deploymentBlock: 1, contracts };
    await writeFact(db(), 'chain', chain);
    expect(await owner()).toEqual({ owner: 'production', chainId: 7 });
    expect(await readFact(db(), 'chain')).toEqual(chain);
    expect(await readFact(db(), 'clock')).toBeUndefined();
    await writeFact(db(), 'clock', { offsetMs: 1, frozenAtMs: null });
    await writeFact(db(), 'clock', { offsetMs: 2, frozenAtMs: 5 });
    expect(await readFact(db(), 'clock')).toEqual({ offsetMs: 2, frozenAtMs: 5 });
    expect(await owner()).toEqual({ owner: 'emulator', chainId: 7 });
    expect([await ledgerAnswers(db()), await ledgerWrites(db(), 9)]).toEqual([true, true]);
    expect(await readFact(db(), 'probe')).toEqual({ atMs: 9 });
    await db().delete(facts);
  });

  describe('traces of requests', () => {
    const trace = (name: string, at: number, change: Partial<RequestTrace> = {}): RequestTrace => ({
      id: `req_${name}7`,
      at,
      method: 'POST',
      path: '/events',
      status: 200,
      userHash: null,
      detail: {},
      ...change,
    });
    const all = [
      trace('a1', 1),
      trace('a2', 2, { status: 404, path: '/wallets/x' }),
      trace('b1', 2, { status: 499, method: 'GET' }),
      trace('b2', 3, { status: 500, userHash: 'user' }),
      trace('c1', 4, { status: 400, userHash: 'user' }),
    ];
    const ids = (found: RequestTrace[]) => found.map(({ id }) => id.slice(4, 6));
    const list = async (filter: Partial<Parameters<typeof listRequestTraces>[1]> = {}) =>
      ids(await listRequestTraces(db(), { status: '', limit: 10, ...filter }));

    test('are listed newest first, by what they are asked for', async () => {
      await createTraceDays(kit().database, 10).makeRoom(all);
      await insertRequestTraces(db(), []);
      await insertRequestTraces(db(), all);
      await insertRequestTraces(db(), all.slice(0, 1));
      expect(await list()).toEqual(['c1', 'b2', 'b1', 'a2', 'a1']);
      expect(await list({ limit: 2 })).toEqual(['c1', 'b2']);
      expect(await list({ status: '4xx' })).toEqual(['c1', 'b1', 'a2']);
      expect(await list({ status: '404' })).toEqual(['a2']);
      expect(await list({ status: '499' })).toEqual(['b1']);
      expect(await list({ method: 'get' })).toEqual(['b1']);
      expect(await list({ userHash: 'user' })).toEqual(['c1', 'b2']);
      expect(await list({ userHash: 'user', status: '5xx' })).toEqual(['b2']);
      expect(await list({ path: 'wallets' })).toEqual(['a2']);
      expect(await list({ path: 'e', limit: 2 })).toEqual(['c1', 'b2']);
      expect(await list({ after: 'req_a27' })).toEqual(['c1', 'b2', 'b1']);
      expect(await list({ after: 'req_b17' })).toEqual(['c1', 'b2']);
      expect(await list({ after: 'req_unknown' })).toHaveLength(5);
    });

    test('are found by an id or its beginning', async () => {
      const find = async (name: string, limit = 10) => ids(await findRequestTraces(db(), name, limit));
      expect(await find('latest')).toEqual(['c1']);
      expect(await find('req_a')).toEqual(['a2', 'a1']);
      expect(await find('a', 1)).toEqual(['a2']);
      expect(await find('b2')).toEqual(['b2']);
      for (const name of ['f', 'x', '', 'req_', 'b2%', 'xreq_b2']) expect(await find(name)).toEqual([]);
    });

    test('of a user are found whatever moment they are of', async () => {
      const random = secureRandom({ now: () => 0 });
      const moments = [0, 250, 1_048_575, 1_750_000_000_123];
      const own = moments.map((at, place) => ({
        ...trace('', at, { userHash: 'long ago' }),
        id: `req_${placedName(random, { nowMs: at, count: 20 - place })}`,
      }));
      await createTraceDays(kit().database, 10).makeRoom(own);
      await insertRequestTraces(db(), own);
      const found = await listRequestTraces(db(), { status: '', limit: 10, userHash: 'long ago' });
      expect(found.map(({ at }) => at)).toEqual([...moments].reverse());
      await db().delete(requestTraces).where(eq(requestTraces.userHash, 'long ago'));
    });

    test('are forgotten so many at a time', async () => {
      const prune = (beforeMs: number, limit: number) => pruneRequestTraces(db(), { beforeMs, limit });
      expect(await prune(1, 10)).toBe(0);
      expect(await prune(3, 2)).toBe(2);
      expect(await prune(3, 2)).toBe(1);
      expect(await prune(3, 2)).toBe(0);
      expect(await list()).toEqual(['c1', 'b2']);
    });
  });
});
