/** What is paid once and for all: one of many processes takes it, and a reward that failed for good gives it back. */

import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { takeClaims } from '../../src/ledger/rewards/claims.ts';
import { openFunds } from '../../src/ledger/rewards/funds.ts';
import {
  type OnceClaim,
  onceKeyText,
  readOnceClaims,
  takeOnceClaims,
} from '../../src/ledger/rewards/once-claims.ts';
import { bindRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { settleRewards } from '../../src/ledger/rewards/settle-rewards.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
let sequences = 0;

onEveryDatabase(({ kit }) => {
  const database = () => kit().database;
  const claimOf = (change: Partial<OnceClaim> = {}): OnceClaim => ({
    brandId: freshAddress(),
    eventType: 'purchase',
    userKey: freshKey('user'),
    field: 'order_id',
    value: 'A 1',
    rewardId: freshKey('reward'),
    amount: 10,
    claimedAt: NOW_MS,
    ...change,
  });
  const take = (...claims: OnceClaim[]) => database().atomically((tx) => takeOnceClaims(tx, claims));
  const holderOf = async (claim: OnceClaim) =>
    (await readOnceClaims(database().db, [claim])).get(onceKeyText(claim))?.rewardId;

  test('of many that take the same at once, one gets it', async () => {
    const claim = claimOf();
    const wishes = Array.from({ length: 20 }, () => ({ ...claim, rewardId: freshKey('reward') }));
    const taken = await Promise.all(wishes.map((wish) => take(wish)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await holderOf(claim)).toBe(wishes[taken.indexOf(true)]?.rewardId);
  });

  test('another value, field, event, user or brand is another thing', async () => {
    const claim = claimOf();
    expect(await take(claim)).toBe(true);
    for (const change of [
      ...[{ value: 'A 2' }, { value: 'a 1' }, { field: 'invoice' }, { eventType: 'refund' }],
      ...[{ userKey: freshKey('user') }, { brandId: freshAddress() }],
    ])
      expect(await take({ ...claim, ...change })).toBe(true);
    expect(await take({ ...claim, rewardId: 'other' }, claimOf())).toBe(false);
    expect(await readOnceClaims(database().db, [])).toEqual(new Map());
  });

  test('a reward that is given up gives it back, and no other one of the user', async () => {
    const [given, kept] = [claimOf(), claimOf()];
    const { brandId, eventType, userKey, rewardId: id } = given;
    const other = { ...given, value: 'A 2', rewardId: kept.rewardId };
    const sequence = sequences++;
    await database().atomically(async (tx) => {
      await openFunds(tx, brandId);
      await takeClaims(tx, [
        {
          brandId,
          eventType,
          userKey,
          rewardId: id,
          amount: 10,
          nowMs: NOW_MS,
          claimsBelow: 100,
          lastAtMost: NOW_MS,
        },
      ]);
      await takeOnceClaims(tx, [given, other]);
      await recordRewards(tx, [
        {
          sequence,
          id,
          brandId,
          eventType,
          userKey,
          amount: 10,
          metadata: {},
          wallet: freshAddress(),
          walletCreated: false,
          createdAt: NOW_MS,
        },
      ]);
    });
    for (let tries = 0; tries < 3; tries++) {
      expect(await holderOf(given)).toBe(id);
      await database().atomically(async (tx) => {
        const transactionId = freshKey('transaction');
        await storeTransaction(tx, {
          id: transactionId,
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
        await bindRewards(tx, { sequences: [sequence], transactionId });
        const [row] = await tx.select().from(transactions).where(eq(transactions.id, transactionId));
        if (!row) throw new Error('a transaction that was stored is gone');
        const reverted = { ...row, outcome: 'reverted' as const };
        await settleRewards(tx, {
          transactions: [reverted],
          nowMs: NOW_MS,
          sequencesOf: () => [sequence],
        });
      });
    }
    expect(await holderOf(given)).toBeUndefined();
    expect(await holderOf(other)).toBe(kept.rewardId);
    expect(await take(given)).toBe(true);
  });
});
