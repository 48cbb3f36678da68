/** What becomes of rewards whose transactions end without effect: tried again, given up, and whose claims come back. */
import { eq, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { atMs, type Database, type Queries } from '../../src/ledger/database/database.ts';
import { readClaimCounters, takeClaims } from '../../src/ledger/rewards/claims.ts';
import { lockAvailableFunds, lockedFunds, openFunds } from '../../src/ledger/rewards/funds.ts';
import { bindRewards, findReward, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { settleRewards } from '../../src/ledger/rewards/settle-rewards.ts';
import { claimCounters } from '../../src/ledger/schema/rewards.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { holdsLane, leaseLane } from '../../src/ledger/transactions/lanes.ts';
import { settleLost } from '../../src/ledger/transactions/settle.ts';
import { markLost, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase, signal } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
/** The statements of this database that wait for a lock. */
const waiting = ({ db }: Database) =>
  db
    .select({ pid: sql<number>`pid` })
    .from(sql`pg_stat_activity`)
    .where(sql`datname = current_database() and wait_event_type = 'Lock'`);
let sequences = 0;

onEveryDatabase(({ kind, kit }) => {
  const database = () => kit().database;
  const queries = () => kit().database.db;
  /** A claim and its reward, as a decision writes them. */
  async function grant(of: { brandId: `0x${string}`; userKey: string; atMs: number; amount?: number }) {
    const { brandId, userKey, amount = 10 } = of;
    const [sequence, id] = [sequences++, freshKey('reward')];
    await database().atomically(async (tx) => {
      await openFunds(tx, brandId);
      await takeClaims(tx, [
        {
          brandId,
          eventType: 'survey',
          userKey,
          rewardId: id,
          amount,
          nowMs: of.atMs,
          claimsBelow: 100,
          lastAtMost: of.atMs,
        },
      ]);
      await recordRewards(tx, [
        {
          sequence,
          id,
          brandId,
          eventType: 'survey',
          userKey,
          amount,
          metadata: {},
          wallet: freshAddress(),
          walletCreated: false,
          createdAt: of.atMs,
        },
      ]);
    });
    return { sequence, id };
  }
  /** A stored transaction that carries these rewards. */
  async function carry(tx: Queries, carried: number[]) {
    const id = freshKey('transaction');
    await storeTransaction(tx, {
      id,
      lane: freshAddress(),
      nonce: 0,
      purpose: 'payout',
      epoch: 1,
      hash: freshHash(),
      raw: '0x02c0',
      maxFeeWei: 1n,
      priorityFeeWei: 1n,
      createdAt: NOW_MS,
    });
    await bindRewards(tx, { sequences: carried, transactionId: id });
    const [row] = await tx.select().from(transactions).where(eq(transactions.id, id));
    if (!row) throw new Error('a transaction that was stored is gone');
    return row;
  }
  /** The rewards' next transaction is reverted in a final block; its payload names `named`. */
  const revert = (carried: number[], named = carried) =>
    database().atomically(async (tx) => {
      const transaction = { ...(await carry(tx, carried)), outcome: 'reverted' as const };
      await settleRewards(tx, { transactions: [transaction], nowMs: NOW_MS, sequencesOf: () => named });
    });
  const rewardOf = async ({ id }: { id: string }) => (await findReward(queries(), id))?.reward;
  const counterOf = async (of: { brandId: `0x${string}`; userKey: string }) =>
    [...(await readClaimCounters(queries(), [{ ...of, eventType: 'survey' }])).values()][0];

  test('after three transactions without effect a reward is given up, and its claim comes back', async () => {
    const of = { brandId: freshAddress(), userKey: freshKey('user') };
    const reward = await grant({ ...of, atMs: NOW_MS });
    for (const failedTries of [1, 2]) {
      await revert([reward.sequence]);
      const waits = { failedTries, transactionId: null, failure: null, releasedAt: null };
      expect(await rewardOf(reward)).toMatchObject(waits);
      expect(await counterOf(of)).toMatchObject({ claims: 1, lastRewardId: reward.id });
    }
    await revert([reward.sequence]);
    expect(await rewardOf(reward)).toMatchObject({ failure: 'reverted', releasedAt: NOW_MS });
    expect(await counterOf(of)).toMatchObject({ claims: 0, lastAt: 0, lastRewardId: '' });
  });

  test('a reward whose payout is done stays as it is; nothing to settle changes nothing', async () => {
    const of = { brandId: freshAddress(), userKey: freshKey('user') };
    const reward = await grant({ ...of, atMs: NOW_MS });
    const { id } = await database().atomically(async (tx) => {
      const transaction = { ...(await carry(tx, [reward.sequence])), outcome: 'done' as const };
      await settleRewards(tx, {
        transactions: [transaction],
        nowMs: NOW_MS,
        sequencesOf: () => [reward.sequence],
      });
      await settleRewards(tx, { transactions: [], nowMs: NOW_MS, sequencesOf: () => [reward.sequence] });
      return transaction;
    });
    expect(await rewardOf(reward)).toMatchObject({ transactionId: id, failedTries: 0, failure: null });
    expect(await counterOf(of)).toMatchObject({ claims: 1, lastRewardId: reward.id });
  });

  test('a reward that another transaction carries by now is left to it', async () => {
    const of = { brandId: freshAddress(), userKey: freshKey('user') };
    const [ours, moved] = [await grant({ ...of, atMs: NOW_MS }), await grant({ ...of, atMs: NOW_MS + 1 })];
    const both = [ours.sequence, moved.sequence];
    await revert(both);
    await revert(both);
    const other = await database().atomically((tx) => carry(tx, [moved.sequence]));
    await revert([ours.sequence], both);
    expect(await rewardOf(ours)).toMatchObject({ failure: 'reverted' });
    expect(await rewardOf(moved)).toMatchObject({ failure: null, failedTries: 2, transactionId: other.id });
  });

  test("a claim that comes back leaves the user's own reward before it as the last one", async () => {
    const brandId = freshAddress();
    const [alice, bob] = [freshKey('user'), freshKey('user')];
    const first = await grant({ brandId, userKey: alice, atMs: NOW_MS, amount: 7 });
    await grant({ brandId, userKey: bob, atMs: NOW_MS + 1, amount: 8 });
    const failing = await grant({ brandId, userKey: alice, atMs: NOW_MS + 2, amount: 9 });
    const bobs = await grant({ brandId, userKey: bob, atMs: NOW_MS + 3, amount: 11 });
    for (let n = 0; n < 3; n++) await revert([failing.sequence]);
    const kept = { claims: 1, lastRewardId: first.id, lastAt: NOW_MS, lastAmount: 7 };
    expect(await counterOf({ brandId, userKey: alice })).toMatchObject(kept);
    expect(await counterOf({ brandId, userKey: bob })).toMatchObject({ claims: 2, lastRewardId: bobs.id });
  });

  test('a transaction that a block holds is not lost, whatever a foreign one did with its nonce', async () => {
    const of = { brandId: freshAddress(), userKey: freshKey('user') };
    const reward = await grant({ ...of, atMs: NOW_MS });
    const { id } = await database().atomically(async (tx) => {
      const row = await carry(tx, [reward.sequence]);
      await tx.update(transactions).set({ status: 'included' }).where(eq(transactions.id, row.id));
      return row;
    });
    const lost = { transactionId: id, nowMs: NOW_MS, settlements: {} };
    expect(await database().atomically((tx) => settleLost(tx, lost))).toBe(false);
    expect(await database().atomically((tx) => markLost(tx, id))).toBeUndefined();
    const [row] = await queries().select().from(transactions).where(eq(transactions.id, id));
    expect(row).toMatchObject({ status: 'included', outcome: null });
    expect(await rewardOf(reward)).toMatchObject({ transactionId: id, failedTries: 0 });
  });

  test('funds that no other transaction has locked are free', async () => {
    const brandId = freshAddress();
    await openFunds(queries(), brandId);
    expect(await database().atomically((tx) => lockedFunds(tx, [brandId]))).toEqual(new Set());
  });

  describe.skipIf(kind !== 'Postgres')('rows that stay locked until the commit', () => {
    /** Somebody waits for a lock in this database. */
    const somebodyWaits = () =>
      expect.poll(async () => (await waiting(kit().other)).length, { interval: 5 }).toBeGreaterThan(0);

    test('a lane cannot be leased to another owner while its owner is about to write', async () => {
      const address = freshAddress();
      const lease = (of: Database, owner: string, nowMs: number) =>
        leaseLane(of.db, { address, purpose: 'payout', owner, now: atMs(nowMs), forMs: 1_000 });
      const epoch = (await lease(database(), 'a', NOW_MS)) ?? 0;
      const [held, free] = [signal(), signal()];
      const writing = database().atomically(async (tx) => {
        expect(await holdsLane(tx, { address, epoch, now: atMs(NOW_MS + 999) })).toBe(true);
        held.give();
        await free.given;
      });
      await held.given;
      const taking = lease(kit().other, 'b', NOW_MS + 2_000);
      await somebodyWaits();
      free.give();
      await writing;
      expect(await taking).toBe(2);
    });

    test('of several brands, those are told whose funds somebody else has locked', async () => {
      const [taken, left] = [freshAddress(), freshAddress()];
      for (const brandId of [taken, left]) await openFunds(queries(), brandId);
      const [held, free] = [signal(), signal()];
      const deciding = kit().other.atomically(async (tx) => {
        await lockAvailableFunds(tx, [taken]);
        held.give();
        await free.given;
      });
      await held.given;
      const locked = () => database().atomically((tx) => lockedFunds(tx, [taken, left, freshAddress()]));
      expect(await locked()).toEqual(new Set([taken]));
      free.give();
      await deciding;
      expect(await locked()).toEqual(new Set());
    });

    test("a claim comes back under the brand's lock, so that a grant beside it cannot be overwritten", async () => {
      const of = { brandId: freshAddress(), userKey: freshKey('user') };
      const reward = await grant({ ...of, atMs: NOW_MS });
      await revert([reward.sequence]);
      await revert([reward.sequence]);
      const [held, free] = [signal(), signal()];
      const deciding = kit().other.atomically(async (tx) => {
        await lockAvailableFunds(tx, [of.brandId]);
        held.give();
        await free.given;
      });
      await held.given;
      const settling = revert([reward.sequence]);
      await somebodyWaits();
      // It has touched nothing of the claim yet.
      const untouched = await kit()
        .other.db.select({ claims: claimCounters.claims })
        .from(claimCounters)
        .where(eq(claimCounters.brandId, of.brandId))
        .for('update', { skipLocked: true });
      expect(untouched).toEqual([{ claims: 1 }]);
      free.give();
      await Promise.all([deciding, settling]);
      expect(await counterOf(of)).toMatchObject({ claims: 0 });
    });
  });
});
