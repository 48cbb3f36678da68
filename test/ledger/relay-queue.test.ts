/** Calls that wait for their lane, the wallets that pay for them, and what their payers' budgets count. */
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { takeNumbers } from '../../src/ledger/counters.ts';
import {
  budgetDay,
  giveBackGas,
  giveBackGasShare,
  takeGas,
  takeGasShare,
} from '../../src/ledger/relay/gas-budgets.ts';
import { chargeGas } from '../../src/ledger/relay/gas-charges.ts';
import {
  bindTopUp,
  ensureGasWallet,
  findGasWallet,
  lanesWithTopUps,
  nextTopUp,
  readyGasWallets,
  requestTopUp,
  setGasWalletReady,
} from '../../src/ledger/relay/gas-wallets.ts';
import {
  bindRelay,
  findRelayByHash,
  isRelayWaiting,
  lanesWithRelays,
  type NewRelay,
  nextRelays,
  readRelays,
  storeRelays,
} from '../../src/ledger/relay/queued-relays.ts';
import { gasBudgets, gasShares, relays } from '../../src/ledger/schema/relay.ts';
import { ownAccountsAmong } from '../../src/ledger/transactions/lanes.ts';
import { markFinal, markSent, storeReplacement } from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { NOW_MS, transactionsOf } from './transactions.ts';

const DAY = 19_675;
const GWEI = 1_000_000_000n;
const permit = { to: freshAddress(), data: '0x', gas: 50_000 } as const;

const wish = (change: Partial<NewRelay> = {}): NewRelay => ({
  id: freshKey('relay'),
  lane: freshAddress(),
  payer: freshAddress(),
  userAddress: freshAddress(),
  recipient: freshAddress(),
  data: '0x',
  valueWei: '0',
  gas: 100_000,
  permit: null,
  reservedGwei: 1_000,
  budgetDay: DAY,
  createdAt: NOW_MS,
  ...change,
});

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const { atomically, store: storeOne, include } = transactionsOf(() => kit().database);
  const store = (lane: Hex, nonce = 0) => storeOne({ lane, nonce, purpose: 'relay' });
  const queue = async (...wishes: NewRelay[]) => {
    await atomically((tx) => storeRelays(tx, wishes));
    const ids = wishes.map(({ id }) => id);
    const rows = await db().select().from(relays);
    return ids.map((id) => {
      const row = rows.find((one) => one.id === id);
      if (!row) throw new Error('a call that was queued is gone');
      return row;
    });
  };
  const bind = (of: { position: number }, part: 'permit' | 'call', { id }: { id: string }) =>
    atomically((tx) => bindRelay(tx, { position: of.position, part, transactionId: id }));

  describe('queued calls', () => {
    test('leave their lane in their order, each once; a permit alone does not end the wait', async () => {
      const [lane, other] = [freshAddress(), freshAddress()];
      const [foreign, first, second] = await queue(
        wish({ lane: other }),
        wish({ lane, permit }),
        wish({ lane }),
      );
      if (!first || !second || !foreign) throw new Error('three were queued');
      expect(second.position).toBe(first.position + 1);
      expect([first.chargedGwei, first.transactionId, first.permitTransactionId]).toEqual([
        1_000,
        null,
        null,
      ]);
      const next = async () => (await atomically((tx) => nextRelays(tx, lane, 1)))[0]?.id;
      expect(await next()).toBe(first.id);
      await bind(first, 'permit', await store(lane, 0));
      expect(await next()).toBe(first.id);
      expect(await lanesWithRelays(db())).toEqual(expect.arrayContaining([lane, other]));
      expect(await isRelayWaiting(db(), lane)).toBe(true);
      await bind(first, 'call', await store(lane, 1));
      expect(await next()).toBe(second.id);
      await bind(second, 'call', await store(lane, 2));
      expect(await next()).toBeUndefined();
      expect(await lanesWithRelays(db())).not.toContain(lane);
      expect(await isRelayWaiting(db(), lane)).toBe(false);
      expect(await lanesWithRelays(db())).toContain(other);
      const [kept] = await db().select().from(relays).where(eq(relays.id, foreign.id));
      expect(kept).toEqual(foreign);
      await atomically((tx) => storeRelays(tx, []));
      // The name of the counter is kept in ledgers: under another one, places would begin anew.
      expect(await atomically((tx) => takeNumbers(tx, 'relay_position', 1))).toBe(second.position + 1);
    });

    test('are found by their ids and by every hash of the transaction that carries them', async () => {
      const lane = freshAddress();
      const [waits, sent] = await queue(wish({ lane }), wish({ lane, permit }));
      if (!waits || !sent) throw new Error('two were queued');
      const [permits, calls] = [await store(lane, 0), await store(lane, 1)];
      await bind(sent, 'permit', permits);
      await bind(sent, 'call', calls);
      const better = freshHash();
      await atomically((tx) =>
        storeReplacement(tx, {
          transactionId: calls.id,
          kind: 'payload',
          hash: better,
          raw: '0x02c1',
          maxFeeWei: 2n,
          priorityFeeWei: 2n,
          createdAt: NOW_MS,
        }),
      );
      const read = await readRelays(db(), [waits.id, sent.id, 'unknown']);
      expect(read).toHaveLength(2);
      expect(read).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ id: waits.id, hash: null, status: null }),
          expect.objectContaining({ id: sent.id, hash: better, status: 'stored', lane }),
        ]),
      );
      expect(await readRelays(db(), [])).toEqual([]);
      for (const hash of [calls.hash, better])
        expect(await findRelayByHash(db(), hash)).toMatchObject({ id: sent.id, hash: better });
      expect(await findRelayByHash(db(), permits.hash)).toBeUndefined();
      expect(await findRelayByHash(db(), freshHash())).toBeUndefined();
    });
  });

  describe('budgets', () => {
    const spent = async (payer: Hex, day = DAY) =>
      (await db().select().from(gasBudgets).where(eq(gasBudgets.payer, payer))).find((row) => row.day === day)
        ?.spentGwei;
    const shareOf = async (userAddress: Hex) =>
      (await db().select().from(gasShares).where(eq(gasShares.userAddress, userAddress)))[0]?.spentGwei;
    const take = (payer: Hex, gwei: number, day = DAY) =>
      atomically((tx) => takeGas(tx, { payer, day, gwei, limitGwei: 100 }));

    test('are taken up to the limit of the day, and given back to that payer and day alone', async () => {
      const [payer, other] = [freshAddress(), freshAddress()];
      expect(await take(payer, 101)).toBe(false);
      expect(await take(payer, 60)).toBe(true);
      expect(await take(payer, 41)).toBe(false);
      expect(await take(payer, 40)).toBe(true);
      expect(await take(payer, 100, DAY + 1)).toBe(true);
      expect(await take(other, 100)).toBe(true);
      await atomically((tx) => giveBackGas(tx, { payer, day: DAY, gwei: 30 }));
      expect([await spent(payer), await spent(payer, DAY + 1), await spent(other)]).toEqual([70, 100, 100]);
    });

    test("a user's share admits one call whatever it costs, then no more than the share", async () => {
      const payer = freshAddress();
      const [alice, bob] = [freshAddress(), freshAddress()];
      const share = (userAddress: Hex, gwei: number, day = DAY) =>
        atomically((tx) => takeGasShare(tx, { payer, day, userAddress, gwei, limitGwei: 50 }));
      expect(await share(alice, 80)).toBe(true);
      expect(await share(alice, 1)).toBe(false);
      expect(await share(bob, 30)).toBe(true);
      expect(await share(bob, 21)).toBe(false);
      expect(await share(bob, 20)).toBe(true);
      const giveBack = (userAddress: Hex, gwei: number, of: Hex = payer, day = DAY) =>
        atomically((tx) => giveBackGasShare(tx, { payer: of, day, userAddress, gwei }));
      await giveBack(alice, 80, freshAddress());
      await giveBack(alice, 80, payer, DAY + 1);
      expect(await shareOf(alice)).toBe(80);
      await giveBack(alice, 80);
      expect([await shareOf(alice), await shareOf(bob)]).toEqual([0, 50]);
      expect(await share(alice, 90)).toBe(true);
    });

    test('are of days since 1970', () => {
      const dayMs = 86_400_000;
      expect([0, dayMs - 1, dayMs, NOW_MS].map(budgetDay)).toEqual([0, 0, 1, DAY]);
    });

    test('count what a block says of a call and its permit, and the worst case again once it is gone', async () => {
      const lane = freshAddress();
      const call = wish({ lane, permit, reservedGwei: 1_500 });
      const { payer, userAddress } = call;
      await atomically(async (tx) => {
        await takeGas(tx, { payer, day: DAY, gwei: 1_500, limitGwei: 10_000 });
        await takeGasShare(tx, { payer, day: DAY, userAddress, gwei: 1_500, limitGwei: 10_000 });
      });
      const [row] = await queue(call);
      if (!row) throw new Error('one was queued');
      const [permits, calls] = [await store(lane, 0), await store(lane, 1)];
      await bind(row, 'permit', permits);
      await bind(row, 'call', calls);
      const charged = async () => {
        await atomically((tx) => chargeGas(tx, [calls.id]));
        const [now] = await db().select().from(relays).where(eq(relays.position, row.position));
        const counted = [now?.chargedGwei, await spent(payer as Hex), await shareOf(userAddress)];
        expect(new Set(counted).size).toBe(1);
        return counted[0];
      };
      expect(await charged()).toBe(1_500);
      // On their way they may still cost as much.
      await markSent(db(), [permits.id, calls.id]);
      expect(await charged()).toBe(1_500);
      // The permit's third of the worst case is replaced by 10 gwei and a wei, rounded up.
      await include(permits, { gasUsed: 1, gasPriceWei: 10n * GWEI + 1n });
      expect(await charged()).toBe(1_011);
      await include(calls, { gasUsed: 2, gasPriceWei: 10n * GWEI, l1FeeWei: 5n * GWEI });
      expect(await charged()).toBe(36);
      await atomically((tx) => markFinal(tx, [permits.id, calls.id]));
      expect(await charged()).toBe(36);
      await atomically((tx) => chargeGas(tx, []));
    });

    test('the calls of one commit are added up by payer, day and user', async () => {
      const [payer, alice, bob] = [freshAddress(), freshAddress(), freshAddress()];
      const wishes = [
        wish({ payer, userAddress: bob }),
        wish({ payer, userAddress: alice }),
        wish({ payer, userAddress: bob }),
        wish({ payer, userAddress: bob, budgetDay: DAY + 1 }),
      ];
      for (const { budgetDay: day, userAddress } of wishes)
        await atomically(async (tx) => {
          await takeGas(tx, { payer, day, gwei: 1_000, limitGwei: 10_000 });
          await takeGasShare(tx, { payer, day, userAddress, gwei: 1_000, limitGwei: 10_000 });
        });
      const rows = await queue(...wishes);
      const ids: string[] = [];
      for (const row of rows) {
        const carrier = await store(row.lane);
        await bind(row, 'call', carrier);
        await include(carrier, { gasUsed: 100, gasPriceWei: GWEI });
        ids.push(carrier.id);
      }
      // One that was settled before its charge was kept is left alone.
      const [old] = await queue(wish({ payer, userAddress: alice }));
      const carrier = await store(freshAddress());
      await bind(old ?? { position: -1 }, 'call', carrier);
      await include(carrier, { gasUsed: 100, gasPriceWei: GWEI });
      await db()
        .update(relays)
        .set({ chargedGwei: null })
        .where(eq(relays.id, old?.id ?? ''));
      await atomically((tx) => chargeGas(tx, [...ids, carrier.id]));
      expect([await spent(payer), await spent(payer, DAY + 1)]).toEqual([300, 100]);
      expect(await shareOf(alice)).toBe(100);
      const bobs = await db().select().from(gasShares).where(eq(gasShares.userAddress, bob));
      expect(bobs.map(({ day, spentGwei }) => [day - DAY, spentGwei]).sort()).toEqual([
        [0, 200],
        [1, 100],
      ]);
    });
  });

  describe('gas wallets', () => {
    const ensure = (payer: Hex | 'service') =>
      atomically((tx) =>
        ensureGasWallet(tx, {
          payer,
          addressAt: (index) => `0x${(0xfee000 + (index ?? -1)).toString(16).padStart(40, '0')}`,
          nowMs: NOW_MS,
        }),
      );

    test('each payer has one, from a key of its own, and it pays once it is ready', async () => {
      const [one, two] = [freshAddress(), freshAddress()];
      const first = await ensure(one);
      expect(first).toMatchObject({ payer: one, ready: false });
      expect(await ensure(one)).toEqual(first);
      const second = await ensure(two);
      expect(second.keyIndex).toBe((first.keyIndex ?? Number.NaN) + 1);
      expect(second.address).not.toBe(first.address);
      expect((await ensure('service')).keyIndex).toBeNull();
      const ready = async (payers: Hex[]) =>
        new Set((await readyGasWallets(db(), payers)).map(({ payer }) => payer));
      expect(await ready([one, two])).toEqual(new Set());
      await setGasWalletReady(db(), two, true);
      expect(await ready([one, two])).toEqual(new Set([two]));
      expect(await ready([one])).toEqual(new Set());
      await setGasWalletReady(db(), one, true);
      expect(await ready([two, one])).toEqual(new Set([one, two]));
      await setGasWalletReady(db(), two, false);
      expect(await ready([two, one])).toEqual(new Set([one]));
      expect(await findGasWallet(db(), freshAddress())).toBeUndefined();
      const own = await ownAccountsAmong(db(), [first.address, freshAddress()]);
      expect([...own]).toEqual([first.address]);
      expect((await ownAccountsAmong(db(), [])).size).toBe(0);
    });

    test('a wallet waits for one top-up at a time, and a lane sends the oldest first', async () => {
      const [lane, wallet, other] = [freshAddress(), freshAddress(), freshAddress()];
      const request = (of: Hex, nowMs: number, from = lane) =>
        atomically((tx) =>
          requestTopUp(tx, { id: `${of} ${nowMs}`, lane: from, wallet: of, amountWei: 2n ** 70n, nowMs }),
        );
      const next = (of = lane) => atomically((tx) => nextTopUp(tx, of));
      expect(await request(other, NOW_MS + 1)).toBe(true);
      expect(await request(wallet, NOW_MS)).toBe(true);
      expect(await request(wallet, NOW_MS + 2)).toBe(false);
      const elsewhere = freshAddress();
      expect(await request(freshAddress(), NOW_MS - 1, elsewhere)).toBe(true);
      const first = await next();
      expect(first).toMatchObject({ wallet, amountWei: String(2n ** 70n) });
      const carrier = await store(lane);
      await atomically((tx) => bindTopUp(tx, first?.id ?? '', carrier.id));
      expect(await next()).toMatchObject({ wallet: other });
      // On its way is not arrived.
      expect(await request(wallet, NOW_MS + 3)).toBe(false);
      await include(carrier, { gasUsed: 1, gasPriceWei: 1n });
      expect(await request(wallet, NOW_MS + 4)).toBe(true);
      expect(await lanesWithTopUps(db())).toEqual(expect.arrayContaining([lane, elsewhere]));
      const left = await next(elsewhere);
      await atomically((tx) => bindTopUp(tx, left?.id ?? '', carrier.id));
      expect(await next(elsewhere)).toBeUndefined();
      expect(await lanesWithTopUps(db())).not.toContain(elsewhere);
    });
  });
});
