/** What is queued for brands' endpoints of the rewards that a block has paid. */
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { expect, test } from 'vitest';
import { encodePayoutBatch } from '../../src/chain/contracts/payout-batch.ts';
import type { Announce } from '../../src/chain/follow/types.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import { announceRewards } from '../../src/chain/work/announce-rewards.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { bindRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../src/ledger/schema/webhooks.ts';
import { markIncluded, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases.ts';

const NOW_MS = 1_700_000_000_000;
const CREATED = NOW_MS / 1000;
let sequences = 700_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const addHook = (brandId: Hex) =>
    addEndpoint(db(), {
      ...{ id: freshKey('we'), brandId, url: 'https://shop.example/hook', types: [], isDefault: false },
      ...{ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', createdAt: NOW_MS },
    });

  /** A reward of each of these brands, paid by one transaction, as a block tells of it. */
  async function payout(
    brands: Hex[],
    of: {
      purpose?: 'payout' | 'relay';
      outcome?: 'done' | 'reverted';
      userEmail?: string | null;
    } = {},
  ) {
    const { purpose = 'payout', outcome = 'done', userEmail = 'guest@shop.example' } = of;
    const rewards = brands.map((brandId) => ({
      ...{ sequence: sequences++, id: freshKey('reward'), brandId, eventType: 'survey', userKey: 'guest' },
      ...{ userEmail, wallet: freshAddress(), walletCreated: true, amount: 3, metadata: {} },
      createdAt: NOW_MS,
    }));
    const data = encodePayoutBatch(
      rewards.map(({ sequence, brandId, wallet, amount }) => ({
        ...{ sequence: BigInt(sequence), brandId, to: wallet, amount: BigInt(amount) },
      })),
    );
    const raw = await localKeySigner(generatePrivateKey()).signTransaction({
      ...{ type: 'eip1559', chainId: 7, nonce: 0, to: freshAddress(), data, gas: 100_000n },
      ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    });
    const transaction = { id: freshKey('transaction'), hash: freshHash() };
    await kit().database.atomically(async (tx) => {
      await recordRewards(tx, rewards);
      await storeTransaction(tx, {
        ...{ ...transaction, lane: freshAddress(), nonce: 0, epoch: 1, purpose, createdAt: NOW_MS },
        ...{ raw, maxFeeWei: 1n, priorityFeeWei: 1n },
      });
      await bindRewards(tx, {
        ...{ sequences: rewards.map(({ sequence }) => sequence), transactionId: transaction.id },
      });
      await markIncluded(tx, {
        ...{ ...transaction, outcome, blockNumber: 3, blockHash: freshHash() },
        ...{ gasUsed: 1, gasPriceWei: '1' },
      });
    });
    return { rewards, booked: { ...transaction, purpose, outcome, failures: new Map(), raw } };
  }

  /** Books one block with these transactions: how many messages are due, and the events that are in the ledger now. */
  async function announce(...transactions: Parameters<Announce>[1]['transactions']) {
    const uuids = transactions.flatMap(() => [freshKey('a'), freshKey('b')]);
    const random = { uuid: () => uuids.shift() ?? freshKey('c') };
    const due = await kit().database.atomically((tx) =>
      announceRewards({ random, businessTime: () => atMs(NOW_MS) })(tx, { transactions, nowMs: NOW_MS }),
    );
    const events = await db().select().from(webhookEvents);
    return { due, subjects: events.map(({ subject }) => subject), events };
  }
  const clear = async () => {
    for (const table of [webhookDeliveries, webhookEvents, webhookEndpoints]) await db().delete(table);
  };

  test('a brand with an endpoint is told of each reward of its own, with what was paid, to whom, and by which transaction', async () => {
    await clear();
    const brandId = freshAddress();
    await addHook(brandId);
    const { rewards, booked } = await payout([brandId, freshAddress()]);
    const { due, events } = await announce(booked);
    const [told] = events;
    expect([due, events.length]).toEqual([1, 1]);
    expect(told).toMatchObject({
      ...{ brandId, type: 'reward.distributed', subject: rewards[0]?.id },
      ...{ transactionId: booked.id, createdAt: NOW_MS },
    });
    expect(told?.id).toMatch(/^evt_./);
    const [email, transactionHash] = ['guest@shop.example', booked.hash];
    expect(JSON.parse(told?.body ?? '')).toEqual({
      ...{ id: told?.id, type: 'reward.distributed', created: CREATED, event: 'rwt_distributed' },
      ...{ brandId, userId: 'guest', email, walletAddress: rewards[0]?.wallet, rwtAmount: 3 },
      ...{ transactionHash, timestamp: NOW_MS },
      data: { userEmail: email, amount: 3, eventType: 'survey', transactionHash, timestamp: NOW_MS },
    });
    // The same block again tells nobody twice.
    expect(await announce(booked)).toMatchObject({ due: 0, subjects: [rewards[0]?.id] });
  });

  test('a user without an e-mail address has an empty one', async () => {
    await clear();
    const brandId = freshAddress();
    await addHook(brandId);
    const { events } = await announce((await payout([brandId], { userEmail: null })).booked);
    expect(JSON.parse(events[0]?.body ?? '')).toMatchObject({ email: '', data: { userEmail: '' } });
  });

  test('of a payout without effect, or a transaction of another kind, nobody is told', async () => {
    await clear();
    const brandId = freshAddress();
    await addHook(brandId);
    const nothing = { due: 0, subjects: [] };
    expect(await announce()).toMatchObject(nothing);
    const reverted = await payout([brandId], { outcome: 'reverted' });
    expect(await announce(reverted.booked)).toMatchObject(nothing);
    const relay = await payout([brandId], { purpose: 'relay' });
    expect(await announce(relay.booked)).toMatchObject(nothing);
    const paid = await payout([brandId]);
    expect(await announce(reverted.booked, relay.booked, paid.booked)).toMatchObject({
      ...{ due: 1, subjects: [paid.rewards[0]?.id] },
    });
  });

  test('a ledger without an endpoint is asked no more than that', async () => {
    await clear();
    const { booked } = await payout([freshAddress()]);
    // Bytes that are no payout would be refused if they were read.
    expect(await announce({ ...booked, raw: '0x02c0' })).toMatchObject({ due: 0, subjects: [] });
  });
});
