/** Admission of redemptions, as both databases do it: never beyond a wallet's RWT or a perk's stock, however many come at once. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { redemptionKey } from '../../src/chain/contracts/calls/perk-calls.ts';
import { addPerk } from '../../src/ledger/perks/perks.ts';
import {
  bindRedemption,
  giveUpRedemption,
  redemptionBacklog,
  settleRedemptionQueue,
  waitingRedemptions,
} from '../../src/ledger/perks/redemption-queue.ts';
import {
  admitRedemption,
  type ChainSupply,
  findRedemption,
  type RedemptionPlan,
  reservedOf,
  takenOf,
} from '../../src/ledger/perks/redemptions.ts';
import { markIncluded, reopenFrom, storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import { agreementOf } from '../kits/chain/consent.ts';
import { freshAddress, freshHash, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
let tokens = 5_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const planOf = (change: Partial<RedemptionPlan> = {}): RedemptionPlan => {
    const id = randomUUID();
    return {
      id,
      key: redemptionKey(id),
      brandId: freshAddress(),
      perkId: randomUUID(),
      tokenId: ++tokens,
      userKey: 'alice@example.com',
      userEmail: 'alice@example.com',
      wallet: freshAddress(),
      cost: 60,
      confirmationCode: randomUUID(),
      createdAt: NOW_MS,
      ...change,
    };
  };
  /** Two of the same perk. */
  async function somePerk() {
    const perk = { brandId: freshAddress(), perkId: randomUUID(), tokenId: ++tokens };
    const { perkId: id, ...of } = perk;
    await addPerk(db(), {
      ...of,
      id,
      name: 'Mug',
      description: '',
      category: 'physical',
      cost: 60,
      stock: 2,
      image: null,
      metadata: {},
      active: true,
      constraints: [],
      createdAt: NOW_MS,
    });
    return perk;
  }
  const admit = (plan: RedemptionPlan, chain: Partial<ChainSupply> = {}) =>
    kit().database.atomically((tx) =>
      admitRedemption(tx, {
        plan,
        agreement: agreementOf('token', plan.wallet),
        userKeys: [],
        chain: { block: 10, balance: 100n, stock: 2n, ...chain },
        now: kit().database.now,
      }),
    );
  let nonces = 0;
  /** A transaction that carries it. */
  async function carry({ key }: RedemptionPlan) {
    const id = randomUUID();
    await kit().database.atomically(async (tx) => {
      await storeTransaction(tx, {
        id,
        lane: freshAddress(),
        nonce: nonces++,
        purpose: 'redeem',
        epoch: 1,
        createdAt: NOW_MS,
        hash: freshHash(),
        raw: '0x01',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
      } as Parameters<typeof storeTransaction>[1]);
      if (!(await bindRedemption(tx, { key, transactionId: id }))) throw new Error('it is bound');
    });
    return {
      id,
      inBlock: (blockNumber: number, outcome: 'done' | 'reverted' = 'done') =>
        markIncluded(db(), {
          id,
          hash: freshHash(),
          blockNumber,
          blockHash: freshHash(),
          outcome,
          gasUsed: 1,
          gasPriceWei: '1',
          l1FeeWei: null,
        }),
    };
  }

  test('of twenty at once with money for one, one is admitted', async () => {
    const perk = await somePerk();
    const wallet = freshAddress();
    const plans = Array.from({ length: 20 }, () => planOf({ ...perk, wallet }));
    const answers = await Promise.all(plans.map((plan) => admit(plan, { stock: undefined })));
    expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(1);
    for (const answer of answers.filter((one) => one !== 'admitted'))
      expect(answer).toEqual({ refused: 'balance', reserved: 60n });
    expect(await reservedOf(db(), { wallet, block: 10 })).toBe(60n);
  });

  test('of twenty people at once, a stock of two has two', async () => {
    const perk = await somePerk();
    const answers = await Promise.all(Array.from({ length: 20 }, () => admit(planOf(perk))));
    expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(2);
    expect(await takenOf(db(), { tokenIds: [perk.tokenId], block: 10 })).toEqual(
      new Map([[perk.tokenId, 2]]),
    );
  });

  test('one that is there already counts as admitted, and is written once', async () => {
    const plan = planOf();
    expect(await admit(plan)).toBe('admitted');
    expect(await admit({ ...plan, confirmationCode: 'another' }, { balance: 0n })).toBe('admitted');
    expect((await findRedemption(db(), plan.id))?.redemption.confirmationCode).toBe(plan.confirmationCode);
  });

  test('what a block shows as taken is not counted twice, and comes back when the chain takes the block back', async () => {
    const plan = planOf({ wallet: freshAddress() });
    await admit(plan);
    const carried = await carry(plan);
    const reserved = (block: number) => reservedOf(db(), { wallet: plan.wallet, block });
    const taken = async (block: number) =>
      (await takenOf(db(), { tokenIds: [plan.tokenId], block })).get(plan.tokenId);
    expect([await reserved(10), await taken(10)]).toEqual([60n, 1]);
    await carried.inBlock(20_012);
    expect([await reserved(20_011), await taken(20_011)]).toEqual([60n, 1]);
    expect([await reserved(20_012), await taken(20_012)]).toEqual([0n, undefined]);
    await reopenFrom(db(), 20_012);
    expect([await reserved(20_012), await taken(20_012)]).toEqual([60n, 1]);
  });

  test('what is final counts for readers of the chain before its block, and for no others', async () => {
    const plan = planOf({ ...(await somePerk()), wallet: freshAddress() });
    await admit(plan);
    const carried = await carry(plan);
    await carried.inBlock(40_012);
    await settleRedemptionQueue(db(), { transactions: [{ id: carried.id, outcome: 'done' }], nowMs: NOW_MS });
    const next = planOf({ ...plan, id: randomUUID(), wallet: freshAddress() });
    const other = { ...next, key: redemptionKey(next.id), confirmationCode: randomUUID() };
    expect(await admit(other, { block: 40_011, stock: 1n })).toEqual({ refused: 'stock' });
    expect(await reservedOf(db(), { wallet: plan.wallet, block: 40_011 })).toBe(60n);
    expect(await reservedOf(db(), { wallet: plan.wallet, block: 40_012 })).toBe(0n);
    expect(await admit(other, { block: 40_012, stock: 1n })).toBe('admitted');
  });

  test('what was given up, was reverted or is final keeps nothing back', async () => {
    const wallet = freshAddress();
    const [givenUp, reverted, final] = [planOf({ wallet }), planOf({ wallet }), planOf({ wallet })];
    for (const plan of [givenUp, reverted, final]) await admit(plan, { balance: 1_000n });
    expect(await giveUpRedemption(db(), { key: givenUp.key, failure: 'PerkSoldOut' })).toBe(true);
    expect(await reservedOf(db(), { wallet, block: 10 })).toBe(120n);
    const [carried, done] = [await carry(reverted), await carry(final)];
    expect(await giveUpRedemption(db(), { key: reverted.key, failure: 'late' })).toBe(false);
    await carried.inBlock(30_000, 'reverted');
    expect(await reservedOf(db(), { wallet, block: 10 })).toBe(60n);
    await done.inBlock(30_000);
    await settleRedemptionQueue(db(), {
      transactions: [
        { id: carried.id, outcome: 'reverted' },
        { id: done.id, outcome: 'done' },
      ],
      nowMs: NOW_MS + 1,
    });
    expect(await reservedOf(db(), { wallet, block: 30_000 })).toBe(0n);
    expect(await findRedemption(db(), reverted.id)).toMatchObject({ failure: 'reverted' });
    expect(await findRedemption(db(), final.id)).toMatchObject({
      failure: null,
      redemption: { settledAt: NOW_MS + 1 },
    });
  });

  test('the oldest waits first, and one that is bound is bound once', async () => {
    for (const { key } of await waitingRedemptions(db(), { now: kit().database.now, limit: 100 }))
      await giveUpRedemption(db(), { key, failure: 'of another test' });
    const [late, early] = [planOf({ createdAt: NOW_MS + 5 }), planOf({ createdAt: NOW_MS + 4 })];
    for (const plan of [late, early]) await admit(plan);
    expect(
      (await waitingRedemptions(db(), { now: kit().database.now, limit: 10 })).map(({ id }) => id),
    ).toEqual([early.id, late.id]);
    expect(await redemptionBacklog(db())).toEqual({ waiting: 2, oldestAt: NOW_MS + 4 });
    await carry(early);
    await expect(carry(early)).rejects.toThrow('it is bound');
    expect(await redemptionBacklog(db())).toEqual({ waiting: 1, oldestAt: NOW_MS + 5 });
  });
});
