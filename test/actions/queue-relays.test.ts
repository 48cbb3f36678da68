/** Calls admitted to the relay's queue: the payer's budget, the user's share of it and the user's window, and what is given back. */
import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRelayQueue } from '../../src/actions/relay/queue-relays.ts';
import { budgetDay, DAY_MS } from '../../src/ledger/relay/gas-budgets.ts';
import { gasBudgets, gasShares, relays } from '../../src/ledger/schema/relay.ts';
import { freshAddress, freshKey } from '../kits/databases.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

const DAY = budgetDay(START_MS);
const WINDOW_MS = 60_000;
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const queueOf = (batchMax = 100) =>
  createRelayQueue({
    ...ledger,
    userLimit: { scope: 'relay user', limit: 2, windowMs: WINDOW_MS },
    batchMax,
    triesMax: 3,
  });
type Wish = Parameters<ReturnType<typeof queueOf>['queue']>[0];

function wish(change: Partial<Wish> = {}): Wish {
  return {
    ...{ id: freshKey('call'), lane: freshAddress(), payer: freshAddress(), userAddress: freshAddress() },
    ...{ recipient: freshAddress(), data: '0x01', valueWei: '0', gas: 50_000, permit: null },
    ...{ reservedGwei: 10, budgetDay: DAY, createdAt: START_MS, budgetGwei: 100, shareGwei: 50 },
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
