/** What a brand may collect without the user, decided in the commit that admits a redemption, on both databases. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { redemptionKey } from '../../src/chain/contracts/calls/perk-calls.ts';
import { readGrant } from '../../src/ledger/perks/grants.ts';
import { giveUpRedemption } from '../../src/ledger/perks/redemption-queue.ts';
import { admitRedemption, type RedemptionPlan } from '../../src/ledger/perks/redemptions.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { markIncluded, reopenFrom, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { Consent } from '../../src/rules/perks/consent.ts';
import { agreementOf } from '../kits/chain/consent.ts';
import { freshAddress, freshHash, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
let numbers = 700_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;

  /** A reward in a block, or on its way there. */
  async function paid(
    of: { brandId: Hex; wallet: Hex; userKey?: string; amount: number },
    { block, outcome = 'done' }: { block?: number; outcome?: 'done' | 'reverted' } = { block: 50_000 },
  ) {
    const { brandId, wallet, userKey = wallet, amount } = of;
    const id = randomUUID();
    await kit().database.atomically((tx) =>
      storeTransaction(tx, {
        id,
        lane: freshAddress(),
        nonce: numbers++,
        purpose: 'payout',
        epoch: 1,
        createdAt: NOW_MS,
        hash: freshHash(),
        raw: '0x01',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
      } as Parameters<typeof storeTransaction>[1]),
    );
    await db().insert(rewards).values({
      sequence: numbers++,
      id: randomUUID(),
      brandId,
      eventType: 'signup',
      userKey,
      wallet,
      amount,
      walletCreated: false,
      metadata: {},
      createdAt: NOW_MS,
      transactionId: id,
      failedTries: 0,
    });
    if (block !== undefined)
      await markIncluded(db(), {
        id,
        hash: freshHash(),
        blockNumber: block,
        blockHash: freshHash(),
        outcome,
        gasUsed: 1,
        gasPriceWei: '1',
        l1FeeWei: null,
      });
  }
  const planOf = (change: Partial<RedemptionPlan>): RedemptionPlan => {
    const id = randomUUID();
    return {
      id,
      key: redemptionKey(id),
      brandId: freshAddress(),
      perkId: randomUUID(),
      tokenId: numbers++,
      userKey: 'u',
      userEmail: null,
      wallet: freshAddress(),
      cost: 60,
      confirmationCode: randomUUID(),
      createdAt: NOW_MS,
      ...change,
    };
  };
  const admit = (plan: RedemptionPlan, consent: Consent = 'grant', userKeys: string[] = [plan.wallet]) =>
    kit().database.atomically((tx) =>
      admitRedemption(tx, {
        plan,
        agreement: agreementOf(consent, plan.wallet),
        userKeys,
        chain: { block: 10, balance: 100_000n, stock: undefined },
        now: kit().database.now,
      }),
    );
  const refused = (collectable: number) => ({ refused: 'consent', collectable });

  test('of twenty at once, as many are admitted as the brand has paid for', async () => {
    const of = { brandId: freshAddress(), wallet: freshAddress() };
    await paid({ ...of, amount: 150 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => admit(planOf(of))));
    expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(2);
    for (const answer of answers.filter((one) => one !== 'admitted')) expect(answer).toEqual(refused(30));
  });

  test('only rewards of this brand count, to this wallet, that a block shows, under each of the user’s keys', async () => {
    const [brandId, wallet, userKey] = [freshAddress(), freshAddress(), `${randomUUID()}@people.example`];
    const of = { brandId, wallet };
    await paid({ ...of, userKey, amount: 7 });
    await paid({ ...of, amount: 20 });
    await paid({ ...of, brandId: freshAddress(), amount: 1_000 });
    await paid({ ...of, wallet: freshAddress(), userKey, amount: 1_000 });
    await paid({ ...of, amount: 1_000 }, {});
    await paid({ ...of, amount: 1_000 }, { block: 50_000, outcome: 'reverted' });
    expect(await readGrant(db(), { ...of, userKeys: [wallet, userKey] })).toEqual({
      paid: 27,
      collected: 0,
      spentElsewhere: 0,
    });
    expect(await admit(planOf({ ...of, cost: 28 }), 'grant', [wallet, userKey])).toEqual(refused(27));
    expect(await admit(planOf({ ...of, cost: 27 }), 'grant', [wallet, userKey])).toBe('admitted');
  });

  test('what the user spends elsewhere on their own word is taken off; what came to nothing comes back', async () => {
    const of = { brandId: freshAddress(), wallet: freshAddress() };
    await paid({ ...of, amount: 100 });
    const [token, ofOther] = [planOf({ ...of, brandId: freshAddress(), cost: 30 }), freshAddress()];
    await paid({ ...of, brandId: ofOther, amount: 50 });
    expect(await admit(token, 'token')).toBe('admitted');
    expect(await admit(planOf({ ...of, brandId: ofOther, cost: 20 }))).toBe('admitted');
    expect(await admit(planOf({ ...of, cost: 71 }))).toEqual(refused(70));
    await giveUpRedemption(db(), { key: token.key, failure: 'PerkSoldOut' });
    expect(await admit(planOf({ ...of, cost: 71 }))).toBe('admitted');
    expect(await admit(planOf({ ...of, cost: 30 }))).toEqual(refused(29));
  });

  test('a payout that the chain takes back pays nothing meanwhile', async () => {
    const of = { brandId: freshAddress(), wallet: freshAddress() };
    await paid({ ...of, amount: 100 }, { block: 90_000 });
    await reopenFrom(db(), 90_000);
    expect(await admit(planOf(of))).toEqual(refused(0));
  });

  test('a permit pays one redemption, and another once that has come to nothing', async () => {
    const wallet = freshAddress();
    const signed = { value: '60', deadlineSeconds: '9', v: 27, r: freshHash(), s: freshHash() };
    const permit = { id: `${freshHash()}${freshHash().slice(2)}` as Hex, signed };
    const plans = Array.from({ length: 6 }, () => planOf({ wallet, permit }));
    const answers = await Promise.all(plans.map((plan) => admit(plan, 'permit')));
    expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(1);
    for (const answer of answers.filter((one) => one !== 'admitted'))
      expect(answer).toEqual({ refused: 'permit' });
    const first = plans[answers.indexOf('admitted')];
    await giveUpRedemption(db(), { key: first?.key ?? '0x', failure: 'ERC20InsufficientAllowance' });
    expect(await admit(planOf({ wallet, permit }), 'permit')).toBe('admitted');
  });

  test('nothing is debited that was agreed to of another wallet', async () => {
    const plan = planOf({});
    const agreement = agreementOf('token', freshAddress());
    const chain = { block: 10, balance: 100n, stock: undefined };
    await expect(
      kit().database.atomically((tx) =>
        admitRedemption(tx, { plan, agreement, userKeys: [], chain, now: kit().database.now }),
      ),
    ).rejects.toThrow('nobody agreed');
  });
});
