/** Which rewards of a payout the leaderboards count, and when. */
import { eq } from 'drizzle-orm';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { expect, test } from 'vitest';
import { encodePayoutBatch, sequencesInPayout } from '../../src/chain/contracts/payout-batch.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import { paidCounts } from '../../src/chain/work/count-paid-rewards.ts';
import { boardAt } from '../../src/ledger/engagement/boards.ts';
import { countEarlierPayouts } from '../../src/ledger/engagement/count-rewards.ts';
import { firstOf, usersOn } from '../../src/ledger/engagement/ranks.ts';
import { bindRewards, failRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { markIncluded, reopenFrom, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases.ts';

const NOW_MS = Date.UTC(2026, 10, 18, 12);
let sequences = 500_000;
let blocks = 50_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  /** A transaction that a block holds, with a reward of 10 RWT for each of these users. */
  async function payout(brandId: Hex, users: string[], outcome: 'done' | 'reverted' = 'done') {
    const rewards = users.map((userKey) => ({
      ...{ sequence: sequences++, id: freshKey('reward'), brandId, eventType: 'survey', userKey },
      ...{ userEmail: null, wallet: freshAddress(), walletCreated: true, amount: 10, metadata: {} },
      ...{ createdAt: NOW_MS, platform: userKey === 'dora' ? 'discord' : null },
    }));
    const data = encodePayoutBatch(
      rewards.map(({ sequence, wallet, amount }) => ({
        ...{ sequence: BigInt(sequence), brandId, to: wallet, amount: BigInt(amount) },
      })),
    );
    const raw = await localKeySigner(generatePrivateKey()).signTransaction({
      ...{ type: 'eip1559', chainId: 7, nonce: 0, to: freshAddress(), data, gas: 100_000n },
      ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    });
    const transaction = { id: freshKey('transaction'), hash: freshHash(), purpose: 'payout' as const };
    const blockNumber = blocks++;
    const included = {
      ...{ ...transaction, outcome, blockNumber, blockHash: freshHash(), gasUsed: 1, gasPriceWei: '1' },
    };
    await kit().database.atomically(async (tx) => {
      await recordRewards(tx, rewards);
      await storeTransaction(tx, {
        ...{ ...transaction, lane: freshAddress(), nonce: 0, epoch: 1, createdAt: NOW_MS },
        ...{ raw, maxFeeWei: 1n, priorityFeeWei: 1n },
      });
      await bindRewards(tx, {
        ...{ sequences: rewards.map(({ sequence }) => sequence), transactionId: transaction.id },
      });
      await markIncluded(tx, included);
    });
    return {
      rewards,
      included,
      booked: { ...transaction, outcome, failures: new Map<string, string>(), raw },
    };
  }
  type Booked = Awaited<ReturnType<typeof payout>>['booked'];
  const count = async (...booked: Booked[]) => {
    for (const piece of paidCounts.pieces(booked))
      await kit().database.atomically((tx) => paidCounts.count(tx, piece));
  };
  const standing = async (brandId: Hex, platform = '') => {
    const board = await boardAt(db(), { brandId, period: 'week', platform, atMs: NOW_MS });
    if (!board) return [];
    const first = await firstOf(db(), { boardId: board.id, metric: 'rwt_earned', limit: 10 });
    expect(await usersOn(db(), { boardId: board.id, metric: 'claims' })).toBe(first.length);
    return first.map(({ userKey, score }) => `${userKey} ${score}`);
  };

  test('a payout that is booked again counts once, and on the boards of its platforms', async () => {
    const brandId = freshAddress();
    const { booked } = await payout(brandId, ['alice', 'dora', 'alice']);
    await count(booked);
    await count(booked);
    expect(await standing(brandId)).toEqual(['alice 20', 'dora 10']);
    expect(await standing(brandId, 'discord')).toEqual(['dora 10']);
  });

  test('what the escrow skipped, and a payout that was reverted, count nothing', async () => {
    const brandId = freshAddress();
    const skipped = await payout(brandId, ['alice', 'bob']);
    const [first] = skipped.rewards;
    await failRewards(db(), { sequences: [first?.sequence ?? 0], failure: 'insufficient_balance' });
    const reverted = await payout(brandId, ['carol'], 'reverted');
    await count(skipped.booked, reverted.booked);
    expect(await standing(brandId)).toEqual(['bob 10']);
  });

  test('a block that the chain takes back takes its rewards off the boards, until they are paid again', async () => {
    const brandId = freshAddress();
    const before = await payout(brandId, ['alice']);
    const { booked, included } = await payout(brandId, ['alice', 'bob']);
    await count(before.booked, booked);
    expect(await standing(brandId)).toEqual(['alice 20', 'bob 10']);
    await kit().database.atomically(async (tx) => {
      const reopened = await reopenFrom(tx, included.blockNumber);
      await paidCounts.takeBack(tx, reopened);
      await paidCounts.takeBack(tx, reopened);
    });
    expect(await standing(brandId)).toEqual(['alice 10']);
    await markIncluded(db(), { ...included, blockNumber: blocks++ });
    await count(booked);
    expect(await standing(brandId)).toEqual(['alice 20', 'bob 10']);
  });

  test('a payout whose block is gone before it was counted counts nothing', async () => {
    const brandId = freshAddress();
    const { booked, included } = await payout(brandId, ['alice']);
    await kit().database.atomically((tx) => reopenFrom(tx, included.blockNumber));
    await count(booked);
    expect(await standing(brandId)).toEqual([]);
  });

  test('a block is counted in pieces of whole payouts, and nothing but payouts that paid', async () => {
    const users = (number: number) => Array.from({ length: number }, (_, place) => `user${place}`);
    const sizes = [100, 28, 1, 200, 5];
    const paying = [];
    for (const size of sizes) paying.push((await payout(freshAddress(), users(size))).booked);
    const reverted = (await payout(freshAddress(), ['carol'], 'reverted')).booked;
    const pieces = paidCounts.pieces([reverted, ...paying]);
    const [first, second, third, fourth, fifth] = paying;
    expect(pieces).toEqual([[first, second], [third], [fourth], [fifth]]);
  });

  test('payouts from before there were leaderboards are counted later, once', async () => {
    const brandId = freshAddress();
    const { booked } = await payout(brandId, ['alice', 'bob']);
    await db().update(transactions).set({ status: 'final' }).where(eq(transactions.id, booked.id));
    const earlier = () =>
      kit().database.atomically((tx) =>
        countEarlierPayouts(tx, { limit: 100, sequencesOf: sequencesInPayout }),
      );
    await earlier();
    expect(await standing(brandId)).toEqual(['bob 10', 'alice 10']);
    expect(await earlier()).toBe(0);
    await count(booked);
    expect(await standing(brandId)).toEqual(['bob 10', 'alice 10']);
  });
});
