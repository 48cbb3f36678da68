/** Calls admitted to the relay's queue: the payer's budget, the user's share of it and the user's window, and what is given back. */
import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRelayQueue } from '../../src/actions/relay/queue-relays.ts';
import { isLockTimeout } from '../../src/ledger/database/database.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { budgetDay, DAY_MS } from '../../src/ledger/relay/gas-budgets.ts';
import { gasBudgets, gasShares, relays } from '../../src/ledger/schema/relay.ts';
import {
  freshAddress,
  freshKey,
  lockedRow,
  postgresMissing,
  startPostgres,
} from '../kits/databases/databases.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

const TRIES_MAX = 3;

const DAY = budgetDay(START_MS);
const WINDOW_MS = 60_000;
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const queueOf = (change: Partial<Parameters<typeof createRelayQueue>[0]> = {}) =>
  createRelayQueue({
    ...ledger,
    userLimit: { scope: 'relay user', limit: 2, windowMs: WINDOW_MS },
    batchMax: 100,
    triesMax: TRIES_MAX,
    ...change,
  });
type Wish = Parameters<ReturnType<typeof queueOf>['queue']>[0];

function wish(change: Partial<Wish> = {}): Wish {
  return {
    id: freshKey('call'),
    lane: freshAddress(),
    payer: freshAddress(),
    userAddress: freshAddress(),
    recipient: freshAddress(),
    data: '0x01',
    valueWei: '0',
    gas: 50_000,
    permit: null,
    reservedGwei: 10,
    budgetDay: DAY,
    createdAt: START_MS,
    budgetGwei: 100,
    shareGwei: 50,
    ...change,
  };
}

async function spentOf({ payer, userAddress }: Wish) {
  const { db } = ledger.database;
  const [budget] = await db.select().from(gasBudgets).where(eq(gasBudgets.payer, payer));
  const shares = await db.select().from(gasShares).where(eq(gasShares.payer, payer));
  const share = shares.find((one) => one.userAddress === userAddress);
  return [budget?.spentGwei ?? 0, share?.spentGwei ?? 0];
}
const queuedOf = async ({ lane }: Wish) => {
  const { db } = ledger.database;
  const rows = await db.select().from(relays).where(eq(relays.lane, lane)).orderBy(asc(relays.position));
  return rows.map(({ id }) => id);
};

test('a call within everything is queued as it is, and its worst case is taken', async () => {
  const one = wish({ permit: { to: freshAddress(), data: '0x02', gas: 7 } });
  expect(await queueOf().queue(one)).toEqual({
    queued: true,
    window: { limit: 2, remaining: 1, resetAtMs: START_MS + WINDOW_MS },
  });
  expect(await spentOf(one)).toEqual([10, 10]);
  const { budgetGwei: _, shareGwei: __, ...kept } = one;
  const [row] = await ledger.database.db.select().from(relays).where(eq(relays.id, one.id));
  expect(row).toMatchObject({ ...kept, chargedGwei: 10, transactionId: null });
});

describe('a call is refused', () => {
  const overBudget = (of: 'payer' | 'user') => ({
    queued: false,
    reason: 'gas_budget',
    of,
    resetAtMs: (DAY + 1) * DAY_MS,
  });

  test("above the payer's budget, to the gwei, and takes nothing", async () => {
    const { queue } = queueOf();
    const first = wish({ reservedGwei: 50 });
    const of = { payer: first.payer, reservedGwei: 50 };
    expect(await queue(first)).toMatchObject({ queued: true });
    const second = wish({ ...of, reservedGwei: 51, shareGwei: 100 });
    expect(await queue(second)).toEqual(overBudget('payer'));
    expect(await spentOf(second)).toEqual([50, 0]);
    expect(await queue(wish(of))).toMatchObject({ queued: true });
    expect(await queuedOf(second)).toEqual([]);
  });

  test("above the user's share of it, and gives the payer's back", async () => {
    const { queue } = queueOf();
    const one = wish({ reservedGwei: 50 });
    await queue(one);
    const more = wish({ ...one, id: freshKey('call'), reservedGwei: 1 });
    expect(await queue(more)).toEqual(overBudget('user'));
    expect(await spentOf(more)).toEqual([50, 50]);
    expect(await queue(wish({ ...one, id: freshKey('call'), budgetDay: DAY + 1 }))).toMatchObject({
      queued: true,
    });
  });

  test("above the user's window, and gives both back", async () => {
    const { queue } = queueOf();
    const one = wish();
    const again = () => wish({ ...one, id: freshKey('call') });
    await queue(one);
    expect(await queue(again())).toMatchObject({ queued: true, window: { remaining: 0 } });
    const refused = again();
    const window = { limit: 2, remaining: 0, resetAtMs: START_MS + WINDOW_MS };
    expect(await queue(refused)).toEqual({ queued: false, reason: 'rate_limit', window });
    expect(await spentOf(refused)).toEqual([20, 20]);
    expect(await queuedOf(refused)).toHaveLength(2);
  });
});

test('calls that come together are admitted by payer and user, and queued in the order in which they came', async () => {
  const { queue, idle } = queueOf();
  const lane = freshAddress();
  const [high, low] = [`0x${'f'.repeat(40)}`, `0x${'0'.repeat(39)}f`] as const;
  // Of one payer with room for two; users in order: the low one's come first.
  const of = { lane, payer: freshAddress(), reservedGwei: 40, shareGwei: 100 };
  const wishes = [
    wish({ ...of, userAddress: high }),
    wish({ ...of, userAddress: low }),
    wish({ ...of, userAddress: low }),
  ];
  const other = wish({ lane });
  const answers = [...wishes, other].map((one) => queue(one));
  await idle();
  expect((await Promise.all(answers)).map(({ queued }) => queued)).toEqual([false, true, true, true]);
  expect(await queuedOf(other)).toEqual([wishes[1]?.id, wishes[2]?.id, other.id]);
  expect(await spentOf(wishes[0] as Wish)).toEqual([80, 0]);
});

/** A database whose commits meet what `fails` says, after their work. */
function failing(fails: (tries: number) => unknown) {
  const world = { tries: 0 };
  const database: TestLedger['database'] = {
    ...ledger.database,
    atomically: (work) =>
      ledger.database.atomically(async (tx) => {
        const made = await work(tx);
        world.tries += 1;
        const error = fails(world.tries);
        if (error) throw error;
        return made;
      }),
  };
  return { world, database };
}
const busy = Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });

test('a commit that another writer was in the way of is tried again, three times in all', async () => {
  const { world, database } = failing((tries) => tries < TRIES_MAX && busy);
  const one = wish();
  expect(await queueOf({ database }).queue(one)).toMatchObject({ queued: true });
  expect(world.tries).toBe(3);
  expect(await spentOf(one)).toEqual([10, 10]);
  const never = failing(() => busy);
  await expect(queueOf(never).queue(wish())).rejects.toBe(busy);
  expect(never.world.tries).toBe(3);
});

test.each([
  ['any error', new Error('a fault')],
  ['a row that is no call’s', Object.assign(new Error('taken'), { code: 'SQLITE_CONSTRAINT_UNIQUE' })],
])('a commit is not tried again after %s', async (_, error) => {
  const { world, database } = failing(() => error);
  await expect(queueOf({ database }).queue(wish())).rejects.toBe(error);
  expect(world.tries).toBe(1);
});

test('a payer who waits alone for a locked row is not tried again after any other error', async () => {
  const locked = Object.assign(new Error('locked'), { code: '55P03' });
  const fault = new Error('a fault');
  // In the round with the others, then twice alone.
  const { world, database } = failing((tries) => (tries < 3 ? locked : fault));
  await expect(queueOf({ database }).queue(wish())).rejects.toBe(fault);
  expect(world.tries).toBe(3);
});

test('a call that is queued already is told so and takes nothing more; the others of its round are admitted', async () => {
  const { queue } = queueOf();
  const first = wish();
  await queue(first);
  const other = wish({ lane: first.lane });
  const window = { limit: 2, remaining: 1, resetAtMs: START_MS + WINDOW_MS };
  expect(await Promise.all([queue({ ...first }), queue(other)])).toMatchObject([
    { queued: true, window },
    { queued: true, window },
  ]);
  expect(await spentOf(first)).toEqual([10, 10]);
  expect(await spentOf(other)).toEqual([10, 10]);
  expect(await queuedOf(first)).toEqual([first.id, other.id]);
});

test.skipIf(postgresMissing() !== undefined)(
  'on Postgres, a payer whose row stays locked waits alone, and no other payer for it',
  async () => {
    const postgres = await startPostgres({ migrated: true });
    const database = openPostgres(postgres.url);
    try {
      let waitedInVain = 0;
      const counting: typeof database = {
        ...database,
        atomically: (work) =>
          database.atomically(work).catch((error) => {
            if (isLockTimeout(error)) waitedInVain += 1;
            throw error;
          }),
      };
      // However long the lock is held: it tries on.
      const { queue, idle } = queueOf({ database: counting, triesMax: 1_000 });
      const payer = freshAddress();
      const of = () => wish({ payer, budgetGwei: 1_000 });
      expect(await queue(of())).toMatchObject({ queued: true });
      const unlock = await lockedRow(postgres.url, 'gas_budgets', { payer });
      const order: string[] = [];
      const told = async (who: string, one: Wish) => {
        await queue(one);
        order.push(who);
      };
      const first = told('locked', of());
      const beside = told('beside', wish());
      // It came in the locked one's round: from there each payer goes on alone.
      await beside;
      const second = told('locked', of());
      await told('free', wish());
      expect(order).toEqual(['beside', 'free']);
      // Once in the round with the others, and then by itself.
      await expect.poll(() => waitedInVain).toBeGreaterThan(2);
      await unlock();
      await Promise.all([first, second]);
      await idle();
      expect(order).toEqual(['beside', 'free', 'locked', 'locked']);
    } finally {
      await database.close();
      await postgres.stop();
    }
  },
  60_000,
);
