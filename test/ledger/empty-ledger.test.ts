/** What a ledger tells in which nothing has happened yet, and after the first of it. */
import { expect, test } from 'vitest';
import { atMs } from '../../src/ledger/database/database.ts';
import { mintBacklog } from '../../src/ledger/payments/mint-queue.ts';
import { planMint } from '../../src/ledger/payments/mints.ts';
import { wallets } from '../../src/ledger/schema/wallets.ts';
import { newestFollowed, waitingBacklog } from '../../src/ledger/transactions/backlog.ts';
import { newestDerivedWallet } from '../../src/ledger/wallets/wallets.ts';
import { webhookBacklog } from '../../src/ledger/webhooks/due-deliveries.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  test('nothing waits, and nothing has waited for any time', async () => {
    const nothing = { waiting: 0, oldestAt: undefined };
    expect(await waitingBacklog(db())).toEqual(nothing);
    expect(await mintBacklog(db())).toEqual(nothing);
    expect(await webhookBacklog(db(), atMs(NOW_MS))).toEqual({ waiting: 0, overdueMs: 0 });
    expect(await newestFollowed(db())).toBeUndefined();
  });

  test('one kind of mint that waits is the oldest of both', async () => {
    await planMint(db(), {
      sessionId: freshKey('cs_test'),
      key: freshHash(),
      kind: 'wallet',
      brandId: freshAddress(),
      wallet: freshAddress(),
      usdCents: 500,
      rwtAmount: 5_000,
      paymentIntentId: freshKey('pi'),
      createdAt: NOW_MS,
    });
    expect(await mintBacklog(db())).toEqual({ waiting: 1, oldestAt: NOW_MS });
  });

  test('a wallet that was not derived is none of those that were', async () => {
    expect(await newestDerivedWallet(db())).toBeUndefined();
    const wallet = (derivationIndex: number | null) => ({
      userKey: freshKey('user'),
      address: freshAddress(),
      derivationIndex,
      createdAt: NOW_MS,
    });
    await db().insert(wallets).values(wallet(null));
    expect(await newestDerivedWallet(db())).toBeUndefined();
    const derived = wallet(3);
    await db()
      .insert(wallets)
      .values([wallet(2), derived]);
    expect(await newestDerivedWallet(db())).toEqual({ index: 3, address: derived.address });
  });
});
