import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { isContention, isUniqueViolation, type Queries } from '../../src/ledger/database/database.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { counters, facts } from '../../src/ledger/schema/facts-and-counters.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { attempts } from '../../src/ledger/schema/transactions.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import {
  freshAddress,
  freshHash,
  freshKey,
  onEveryDatabase,
  outcomes,
  signal,
} from '../kits/databases/databases.ts';

const wallet = (userKey: string, derivationIndex: number | null = null) => ({
  userKey,
  address: freshAddress(),
  derivationIndex,
  createdAt: 1_700_000_000_000,
});
const read = (db: Queries, userKey: string) => db.select().from(wallets).where(eq(wallets.userKey, userKey));
/** What the work failed with. */
const reasonOf = (work: PromiseLike<unknown>) =>
  work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${textOf(error.cause)}` : '';
/** Work outside waits at most this long for work inside. */
const PAUSE_MS = 50;
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

onEveryDatabase(({ kind, kit }) => {
  describe('atomically', () => {
    test('commits everything and hands on the answer', async () => {
      const { database } = kit();
      const [a, b] = [freshKey('user'), freshKey('user')];
      const answer = await database.atomically(async (tx) => {
        await tx.insert(wallets).values(wallet(a));
        expect(await read(tx, a)).toHaveLength(1);
        await tx.insert(wallets).values(wallet(b));
        return 'done';
      });
      expect(answer).toBe('done');
      expect(await read(database.db, a)).toHaveLength(1);
      expect(await read(kit().other.db, b)).toHaveLength(1);
    });

    test.each([
      ['the work throws', async () => Promise.reject(new Error('no'))],
      [
        'a statement fails',
        async (tx: Queries, there: string) => void (await tx.insert(wallets).values(wallet(there))),
      ],
    ])('leaves nothing when %s', async (_, fail) => {
      const { database } = kit();
      const there = freshKey('user');
      await database.db.insert(wallets).values(wallet(there));
      const lost = freshKey('user');
      await expect(
        database.atomically(async (tx) => {
          await tx.insert(wallets).values(wallet(lost));
          await fail(tx, there);
        }),
      ).rejects.toThrow();
      expect(await read(database.db, lost)).toEqual([]);
      // The connection is fit for use again.
      expect(await database.atomically((tx) => read(tx, there))).toHaveLength(1);
    });

    test('shows nothing outside of what is taken back later', async () => {
      const { database } = kit();
      const userKey = freshKey('user');
      const written = signal();
      const outside = written.given.then(() => read(database.db, userKey));
      const work = database.atomically(async (tx) => {
        await tx.insert(wallets).values(wallet(userKey));
        written.give();
        await pause();
        throw new Error('taken back');
      });
      await expect(work).rejects.toThrow('taken back');
      expect(await outside).toEqual([]);
    });

    test('does not mix with single statements that come meanwhile', async () => {
      const { database } = kit();
      const [inside, beside] = [freshKey('user'), freshKey('user')];
      const begun = signal();
      const single = begun.given.then(async () => {
        await database.db.insert(wallets).values(wallet(beside));
      });
      const work = database.atomically(async (tx) => {
        await tx.insert(wallets).values(wallet(inside));
        begun.give();
        await pause();
        throw new Error('taken back');
      });
      await expect(work).rejects.toThrow('taken back');
      await single;
      expect(await read(database.db, inside)).toEqual([]);
      expect(await read(database.db, beside)).toHaveLength(1);
    });

    test('of single statements that come at once, one that fails takes none of the others with it', async () => {
      const { db } = kit().database;
      const there = freshKey('user');
      await db.insert(wallets).values(wallet(there));
      const users = [freshKey('user'), there, freshKey('user')];
      const writes = users.map((userKey) => db.insert(wallets).values(wallet(userKey)).execute());
      const { values, errors } = await outcomes<unknown>(writes);
      expect([values.length, errors.map(isUniqueViolation)]).toEqual([2, [true]]);
      for (const userKey of users) expect(await read(db, userKey)).toHaveLength(1);
    });

    test.each([
      ['a query', (db: Queries) => db.select().from(wallets)],
      ['a change', (db: Queries) => db.delete(wallets).where(eq(wallets.userKey, 'nobody'))],
    ])('refuses %s that goes around it', async (_, around) => {
      const { database } = kit();
      const error = await reasonOf(database.atomically(async () => void (await around(database.db))));
      expect(textOf(error)).toContain('inside atomically(), use the queries that it hands over');
      await around(database.db);
    });

    test('runs any number of times at once, and each counts', async () => {
      const { database, other } = kit();
      const name = freshKey('counter') as 'wallet_index';
      await database.db.insert(counters).values({ name, next: 0 });
      const { errors } = await outcomes(
        Array.from({ length: 40 }, (_, place) =>
          (place % 2 ? database : other).atomically(async (tx) => {
            await tx
              .update(counters)
              .set({ next: sql`${counters.next} + 1` })
              .where(eq(counters.name, name));
          }),
        ),
      );
      expect(errors).toEqual([]);
      expect(await database.db.select().from(counters).where(eq(counters.name, name))).toEqual([
        { name, next: 40 },
      ]);
    });
  });

  describe('values come back as they were written', () => {
    let sequence = 1_000_000;
    const reward = (of: { metadata?: unknown; walletCreated?: boolean }) => ({
      sequence: ++sequence,
      id: freshKey('reward'),
      brandId: freshAddress(),
      eventType: 'Ünï "çödé" \\ 漢字 🎉',
      userKey: 'u',
      wallet: freshAddress(),
      walletCreated: of.walletCreated ?? true,
      amount: 1,
      metadata: (of.metadata ?? {}) as Record<string, unknown>,
      createdAt: 0,
    });

    test.each([
      ['maps and lists', { a: [1, { b: null }], c: 'x', 'd e': {} }],
      ['an empty map', {}],
      ['an empty list', []],
      ['a list of lists', [[], [[1, 2], ['{}']]]],
      ['texts that look like something else', { a: '1', b: 'null', c: "O'Hara", d: '{"x":1}', e: '\\u0041' }],
      ['numbers', { a: 0.1, b: -1, c: Number.MAX_SAFE_INTEGER, d: 1e21, e: 1e-7 }],
      ['truth', { a: true, b: false }],
      ['line breaks, tabs and the end of ASCII', { a: 'x\r\ny\tz\u007f' }],
    ])('JSON: %s', async (_, metadata) => {
      const { database } = kit();
      const [alone, first, second] = [reward({ metadata }), reward({ metadata }), reward({ metadata })];
      await recordRewards(database.db, [alone]);
      await recordRewards(database.db, [first, second]);
      for (const row of [alone, first, second]) {
        const [back] = await database.db.select().from(rewards).where(eq(rewards.id, row.id));
        expect(back).toEqual(expect.objectContaining({ ...row, userEmail: null, transactionId: null }));
      }
    });

    test.each([
      ['a number', 5],
      ['a text that looks like a number', '005'],
      ['a text', 'x'],
      ['truth', true],
    ])('JSON that is only %s', async (_, value) => {
      const { database } = kit();
      const name = freshKey('fact');
      await database.db.insert(facts).values({ name, value });
      expect(await database.db.select().from(facts).where(eq(facts.name, name))).toEqual([{ name, value }]);
    });

    test.each([true, false])('truth: %s', async (walletCreated) => {
      const { database } = kit();
      const row = reward({ walletCreated });
      await recordRewards(database.db, [row, reward({ walletCreated: !walletCreated })]);
      const [back] = await database.db
        .select()
        .from(rewards)
        .where(and(eq(rewards.id, row.id), eq(rewards.walletCreated, walletCreated)));
      expect(back?.walletCreated).toBe(walletCreated);
      const [changed] = await database.db
        .update(rewards)
        .set({ walletCreated: !walletCreated })
        .where(eq(rewards.id, row.id))
        .returning();
      expect(changed?.walletCreated).toBe(!walletCreated);
    });

    test.each([0, -1, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1, -(2 ** 53 - 1)])(
      'whole numbers: %i',
      async (next) => {
        const { database } = kit();
        const name = freshKey('counter') as 'wallet_index';
        const [written] = await database.db.insert(counters).values({ name, next }).returning();
        expect(written).toEqual({ name, next });
        const two = [
          { name: `${name}a` as typeof name, next },
          { name: `${name}b` as typeof name, next: 1 },
        ];
        expect(await database.db.insert(counters).values(two).returning()).toEqual(two);
        const [added] = await database.db
          .update(counters)
          .set({ next: sql`${counters.next} + ${-next}` })
          .where(eq(counters.name, name))
          .returning();
        expect(added).toEqual({ name, next: 0 });
      },
    );

    test('wei, as a text of any length', async () => {
      const { database } = kit();
      const [id, hash] = [freshKey('transaction'), freshHash()];
      const fees = { maxFeeWei: 2n ** 256n - 1n, priorityFeeWei: 0n };
      await database.atomically((tx) =>
        storeTransaction(tx, {
          id,
          hash,
          ...fees,
          lane: freshAddress(),
          nonce: 0,
          purpose: 'payout',
          epoch: 1,
          raw: '0x02',
          createdAt: 0,
        }),
      );
      const [back] = await database.db.select().from(attempts).where(eq(attempts.hash, hash));
      expect(back).toMatchObject({ maxFeeWei: String(fees.maxFeeWei), priorityFeeWei: '0' });
    });
  });

  describe('what the database refuses', () => {
    test.each(['a primary key', 'a unique index'])('%s that is taken is told by its code', async (which) => {
      const { database } = kit();
      const [first, second] = [wallet(freshKey('user'), 7_000_000), wallet(freshKey('user'), 7_000_000)];
      const taken = which === 'a primary key' ? { ...first, derivationIndex: null } : second;
      if (which === 'a unique index') first.derivationIndex = taken.derivationIndex = 8_000_000;
      await database.db.insert(wallets).values(first);
      const error = await reasonOf(database.db.insert(wallets).values(taken));
      expect(isUniqueViolation(error)).toBe(true);
      expect(isContention(error)).toBe(false);
    });

    test.each([
      ['a null', () => ({ ...wallet(freshKey('user')), address: null as unknown as `0x${string}` })],
    ])('%s where there must be something is another error', async (_, row) => {
      const error = await reasonOf(kit().database.db.insert(wallets).values(row()));
      expect(error).toBeInstanceOf(Error);
      expect(isUniqueViolation(error)).toBe(false);
    });

    test('a reference to nothing', async () => {
      const orphan = {
        hash: freshHash(),
        transactionId: 'none',
        attempt: 0,
        kind: 'payload' as const,
        raw: '0x' as const,
        createdAt: 0,
      };
      await expect(
        kit()
          .database.db.insert(attempts)
          .values({ ...orphan, maxFeeWei: '1', priorityFeeWei: '1' }),
      ).rejects.toThrow();
    });

    test('many null values in a unique index are not the same value', async () => {
      const rows = [wallet(freshKey('user')), wallet(freshKey('user'))];
      await kit().database.db.insert(wallets).values(rows);
    });
  });

  test('an upsert with a condition changes the row or says that it did not', async () => {
    const { database } = kit();
    const name = freshKey('counter') as 'wallet_index';
    const bump = () =>
      database.db
        .insert(counters)
        .values({ name, next: 1 })
        .onConflictDoUpdate({
          target: counters.name,
          set: { next: sql`${counters.next} + excluded.next` },
          setWhere: lt(counters.next, 3),
        })
        .returning();
    const answers = [];
    for (let times = 0; times < 5; times++) answers.push((await bump()).map(({ next }) => next));
    expect(answers).toEqual([[1], [2], [3], [], []]);
  });

  test('a row lock is taken where there are any, and harmless where not', async () => {
    const { database } = kit();
    const userKey = freshKey('user');
    await database.db.insert(wallets).values(wallet(userKey));
    const locked = await database.atomically((tx) =>
      tx.select().from(wallets).where(eq(wallets.userKey, userKey)).for('update', { skipLocked: true }),
    );
    expect(locked).toHaveLength(1);
  });

  test('several rows of different shape: what is not given is null', async () => {
    const { database } = kit();
    const { derivationIndex: _, ...bare } = wallet(freshKey('user'));
    const rows = [bare, wallet(freshKey('user'), 9_000_000)];
    const back = await database.db.insert(wallets).values(rows).returning();
    expect(back.map(({ derivationIndex }) => derivationIndex)).toEqual([null, 9_000_000]);
  });

  test('a script that fails leaves nothing behind, and what comes after it works', async () => {
    const { database } = kit();
    await expect(
      database.script('create table left_behind (id integer); create table left_behind (id integer)'),
    ).rejects.toThrow();
    expect((await database.tables()).has('left_behind')).toBe(false);
    // On Postgres each of several connections may have been the one.
    for (let n = 0; n < 5; n++) await database.db.select().from(facts);
    await database.script('create table made_after (id integer)');
    expect((await database.tables()).has('made_after')).toBe(true);
    await database.script('drop table made_after');
  });

  test('tells its tables and their columns', async () => {
    const tables = await kit().database.tables();
    expect(tables.get('counters')).toEqual(['name', 'next']);
    expect(tables.has('migrations')).toBe(true);
  });

  test.runIf(kind === 'Postgres')('a deadlock is tried again, and both commits are made', async () => {
    const { database, other } = kit();
    const [a, b] = [freshKey('user'), freshKey('user')];
    await database.db.insert(wallets).values([wallet(a), wallet(b)]);
    const bothHold = [signal(), signal()] as const;
    const cross = (on: typeof database, mine: string, theirs: string, turn: 0 | 1) =>
      on.atomically(async (tx) => {
        const touch = (userKey: string) =>
          tx.update(wallets).set({ createdAt: 1 }).where(eq(wallets.userKey, userKey));
        await touch(mine);
        bothHold[turn].give();
        await bothHold[turn === 0 ? 1 : 0].given;
        await touch(theirs);
      });
    const { errors } = await outcomes([cross(database, a, b, 0), cross(other, b, a, 1)]);
    expect(errors).toEqual([]);
    const rows = await database.db
      .select()
      .from(wallets)
      .where(inArray(wallets.userKey, [a, b]));
    expect(rows.map(({ createdAt }) => createdAt)).toEqual([1, 1]);
  });
});

// On databases of their own: what waits for itself would hold up every other test.
onEveryDatabase(({ kit }) => {
  test('atomically refuses to begin within itself, instead of waiting for itself', async () => {
    const { database } = kit();
    const inner = database.atomically(() => database.atomically(async () => 'inner'));
    await expect(inner).rejects.toThrow();
  });
});
