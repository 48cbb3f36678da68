/** What the audit reads of mints and checkouts: what a key stands for, what is done, and what a person has to look at. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Queries } from '../../src/ledger/database/database.ts';
import { unsafeDatabaseSettings } from '../../src/ledger/database/durability.ts';
import {
  doneOperatorMints,
  doneSessionMints,
  expectedSales,
  isMintedByHand,
  oddCheckouts,
} from '../../src/ledger/payments/audited-mints.ts';
import { planMint, recordMint } from '../../src/ledger/payments/mints.ts';
import { checkoutSessions, mints, operatorMints } from '../../src/ledger/schema/payments.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const clear = async () => {
    for (const table of [checkoutSessions, mints, operatorMints]) await db().delete(table);
  };
  const pay = async (kind: 'wallet' | 'escrow', sessionId = freshKey('cs_test')) => {
    const [key, brandId, wallet] = [freshHash(), freshAddress(), freshAddress()];
    const paid = { usdCents: 500, rwtAmount: 5_000, paymentIntentId: freshKey('pi'), createdAt: NOW_MS };
    await kit().database.atomically((tx) => planMint(tx, { sessionId, key, kind, brandId, wallet, ...paid }));
    return { sessionId, key, brandId, wallet };
  };
  const byHand = async (kind: 'wallet' | 'escrow', reason = 'a test') => {
    const mint = { key: freshHash(), kind, recipient: freshAddress(), amount: 7 };
    await recordMint(db(), { ...mint, reason, createdAt: NOW_MS });
    return mint;
  };
  /** A transaction that a block holds, or has held without effect. */
  const carry = async (
    table: typeof mints | typeof operatorMints,
    key: Hex,
    outcome: 'done' | 'reverted' | null,
  ) => {
    const [id, hash] = [freshKey('transaction'), freshHash()];
    await kit().database.atomically(async (tx) => {
      await storeTransaction(tx, {
        id,
        lane: freshAddress(),
        nonce: 0,
        purpose: 'mint',
        epoch: 1,
        hash,
        raw: '0x02c0',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
        createdAt: NOW_MS,
      });
      if (outcome)
        await tx
          .update(transactions)
          .set({ outcome, blockNumber: 12 })
          .where(sql`${transactions.id} = ${id}`);
      await tx.update(table).set({ transactionId: id }).where(sql`${table.key} = ${key}`);
    });
    return hash;
  };

  test('a key stands for what its session or its operator asked for, to a wallet or into an escrow', async () => {
    await clear();
    const [wallet, escrow] = [await pay('wallet'), await pay('escrow')];
    const [hand, handEscrow] = [await byHand('wallet'), await byHand('escrow')];
    const keys = [wallet, escrow, hand, handEscrow].map(({ key }) => key);
    const found = await expectedSales(db(), [...keys, freshHash()]);
    expect(found.size).toBe(4);
    expect(keys.map((key) => found.get(key))).toEqual([
      {
        key: wallet.key,
        intoEscrow: false,
        recipient: wallet.wallet,
        amount: 5_000,
        sessionId: wallet.sessionId,
      },
      {
        key: escrow.key,
        intoEscrow: true,
        recipient: escrow.brandId,
        amount: 5_000,
        sessionId: escrow.sessionId,
      },
      { key: hand.key, intoEscrow: false, recipient: hand.recipient, amount: 7, sessionId: null },
      { key: handEscrow.key, intoEscrow: true, recipient: handEscrow.recipient, amount: 7, sessionId: null },
    ]);
  });

  test('done are mints whose transaction a block holds with effect, in pages by their keys', async () => {
    await clear();
    const paid = [await pay('wallet'), await pay('escrow'), await pay('wallet'), await pay('wallet')];
    paid.sort((a, b) => (a.key < b.key ? -1 : 1));
    const [one, two, reverted, open] = paid as [
      (typeof paid)[0],
      (typeof paid)[0],
      (typeof paid)[0],
      (typeof paid)[0],
    ];
    const hashes = [await carry(mints, one.key, 'done'), await carry(mints, two.key, 'done')];
    await carry(mints, reverted.key, 'reverted');
    await carry(mints, open.key, null);
    const all = await doneSessionMints(db(), { after: '', limit: 10 });
    expect(all).toMatchObject([
      { key: one.key, sessionId: one.sessionId, hash: hashes[0], blockNumber: 12 },
      { key: two.key, sessionId: two.sessionId, hash: hashes[1], blockNumber: 12 },
    ]);
    expect(await doneSessionMints(db(), { after: one.key, limit: 10 })).toEqual(all.slice(1));
    expect(await doneSessionMints(db(), { after: '', limit: 1 })).toEqual(all.slice(0, 1));
    const hands = [await byHand('wallet'), await byHand('escrow'), await byHand('wallet')];
    hands.sort((a, b) => (a.key < b.key ? -1 : 1));
    const [first, second, never] = hands as [(typeof hands)[0], (typeof hands)[0], (typeof hands)[0]];
    await carry(operatorMints, second.key, 'done');
    const hash = await carry(operatorMints, first.key, 'done');
    await carry(operatorMints, never.key, 'reverted');
    const done = await doneOperatorMints(db(), { after: '', limit: 10 });
    expect(done.map(({ key }) => key)).toEqual([first.key, second.key]);
    expect(done[0]).toMatchObject({ recipient: first.recipient, sessionId: null, hash, blockNumber: 12 });
    expect(await doneOperatorMints(db(), { after: first.key, limit: 10 })).toEqual(done.slice(1));
    expect(await doneOperatorMints(db(), { after: '', limit: 1 })).toEqual(done.slice(0, 1));
  });

  test('a person looks at payments without a mint, mints that were given up, money given back and disputes', async () => {
    await clear();
    const checkout = async (more: Partial<typeof checkoutSessions.$inferInsert>) => {
      const id = freshKey('checkout');
      await db()
        .insert(checkoutSessions)
        .values({
          id,
          brandId: freshAddress(),
          wallet: freshAddress(),
          amountCents: 500,
          currency: 'usd',
          rwtAmount: 5_000,
          mintTo: 'wallet',
          processorSessionId: freshKey('cs_test'),
          livemode: false,
          paymentStatus: 'unpaid',
          state: 'open',
          refundedCents: 0,
          createdAt: NOW_MS,
          expiresAt: NOW_MS,
          ...more,
        } as typeof checkoutSessions.$inferInsert);
      return id;
    };
    const fine = freshKey('cs_test');
    const failed = freshKey('cs_test');
    await pay('wallet', fine);
    const { key } = await pay('wallet', failed);
    await db().update(mints).set({ failure: 'no' }).where(sql`${mints.key} = ${key}`);
    await checkout({});
    await checkout({ state: 'paid', processorSessionId: fine });
    const odd = [
      await checkout({ state: 'paid' }),
      await checkout({ state: 'paid', processorSessionId: failed }),
      await checkout({ refundedCents: 1 }),
      await checkout({ disputedAt: NOW_MS }),
    ].sort();
    const all = await oddCheckouts(db(), { after: '', limit: 10 });
    expect(all.map(({ id }) => id)).toEqual(odd);
    expect(all.find(({ sessionId }) => sessionId === failed)).toMatchObject({
      key,
      failure: 'no',
      amountCents: 500,
      rwtAmount: 5_000,
      refundedCents: 0,
      disputedAt: null,
    });
    expect(await oddCheckouts(db(), { after: odd[0] ?? '', limit: 2 })).toEqual(all.slice(1, 3));
  });

  test('an operator has minted for a session when a reason names it, unless that mint was given up', async () => {
    await clear();
    const { key } = await byHand('wallet', 'lost: cs_test_1, asked by mail');
    expect(await isMintedByHand(db(), 'cs_test_1')).toBe(true);
    expect(await isMintedByHand(db(), 'cs_test_2')).toBe(false);
    await db().update(operatorMints).set({ failure: 'no' }).where(sql`${operatorMints.key} = ${key}`);
    expect(await isMintedByHand(db(), 'cs_test_1')).toBe(false);
  });

  test('settings under which an acknowledged commit can be lost are named', async () => {
    const { database } = kit();
    if (database.dialect === 'sqlite') return expect(await unsafeDatabaseSettings(database)).toEqual([]);
    const set = (tx: Queries, to: string) =>
      tx.select({ set: sql`set_config('synchronous_commit', ${to}, true)` }).from(sql`(select 1) as one`);
    await database.atomically(async (tx) => {
      const told = () => unsafeDatabaseSettings({ ...database, db: tx });
      await set(tx, 'off');
      expect(await told()).toContain('synchronous_commit=off');
      await set(tx, 'on');
      expect(await told()).not.toContain('synchronous_commit=off');
      for (const one of await told()) expect(['fsync=off', 'full_page_writes=off']).toContain(one);
    });
  });
});
