/** A redemption against a real ledger, with a chain that is as far as a test says. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { judgeRedemption } from '../../src/actions/perks/judge-redemption.ts';
import { createPerkRedeemer } from '../../src/actions/perks/redeem-perk.ts';
import { createAlarms } from '../../src/chain/alarms.ts';
import { redemptionKey } from '../../src/chain/contracts/calls/perk-calls.ts';
import { addPerk } from '../../src/ledger/perks/perks.ts';
import { giveUpRedemption } from '../../src/ledger/perks/redemption-queue.ts';
import { findRedemption, type RedemptionProgress } from '../../src/ledger/perks/redemptions.ts';
import { ensureWallets } from '../../src/ledger/wallets/wallets.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { Constraint, UnmetConstraint } from '../../src/rules/constraint.ts';
import { asking, collectsAnything } from '../kits/chain/consent.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';
import { scriptedNode } from './scripted-node.ts';

type Progress = Pick<RedemptionProgress, 'hash' | 'status' | 'outcome' | 'failure'>;
const hash = freshHash();
const done: Progress = { hash, status: 'included', outcome: 'done', failure: null };
const COST = 60;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
const node = scriptedNode();
beforeEach(() => {
  node.world.perk = { price: BigInt(COST), stock: 1_000n, active: true };
  node.world.balance = 1_000n;
});

let tokens = 0;
/** A perk of a brand of its own. */
async function somePerk(constraints: readonly Constraint[] = []) {
  const { brandId } = await someBrand(ledger);
  const id = randomUUID();
  await addPerk(ledger.database.db, {
    id,
    brandId,
    tokenId: ++tokens,
    name: 'Mug',
    description: '',
    category: 'physical',
    cost: COST,
    stock: -1,
    image: null,
    metadata: {},
    active: true,
    constraints,
    createdAt: START_MS,
  });
  return { brandId, perkId: id };
}
const someBuyer = () => {
  const userAddress = freshAddress();
  const asker = asking({ wallets: [userAddress] });
  return { userKey: userAddress, userAddress, asker, permit: undefined };
};
/** Known by an e-mail, whose wallet the ledger may know. */
const byEmail = (userKey = `${randomUUID()}@people.example`) => ({
  userKey,
  userAddress: undefined,
  permit: undefined,
  asker: asking({ email: userKey, wallets: [] }),
});

const judgeDeps = () => ({
  database: ledger.database,
  rpc: node.rpc,
  contracts: { token: freshAddress(), perks: freshAddress(), escrow: freshAddress() },
  clock: ledger.clock,
  ownAddresses: new Set<string>(),
  ownHosts: [],
  ownDomain: 'chat.example',
  collecting: collectsAnything,
  permitMarginMs: 60_000,
  readPermit: async () => ({ state: 'not_signed' as const }),
  checkConstraints: async (): Promise<UnmetConstraint[]> => [],
});

/** Of a chain that is this far with every redemption. What callers waited for is in `waited`. */
function redeemer(progress: Progress | undefined, waited: { id: string; timeoutMs: number }[] = []) {
  const nudges = { count: 0 };
  const redeem = createPerkRedeemer({
    ...judgeDeps(),
    random: ledger.random,
    crash: neverCrash,
    alarms: createAlarms({ now: ledger.clock.now, log: silentLog }),
    redemptions: {
      nudge: () => void nudges.count++,
      async waitFor(wait) {
        waited.push(wait);
        const found = await findRedemption(ledger.database.db, wait.id);
        return found && progress && { ...found, ...progress };
      },
    },
    answerTimeoutMs: 1_234,
  });
  return { redeem, nudges };
}

describe('the answer', () => {
  const failed = (failure: string): Progress => ({
    hash: null,
    status: null,
    outcome: null,
    failure,
  });
  test.each<[string, Progress | undefined, object]>([
    ['nothing is known', undefined, { code: 'redemption_pending' }],
    [
      'nodes have it',
      { hash, status: 'sent', outcome: null, failure: null },
      { code: 'redemption_pending', redemptionId: expect.any(String) },
    ],
    [
      'it had no effect',
      { hash, status: 'included', outcome: 'reverted', failure: null },
      { code: 'redemption_failed', perk: 'Mug', redemptionId: expect.any(String), reason: 'reverted' },
    ],
    [
      'the chain said no, in words of its own',
      failed('Paused()'),
      { code: 'redemption_failed', perk: 'Mug', redemptionId: expect.any(String), reason: 'Paused()' },
    ],
    ['it was sold out on chain', failed('PerkSoldOut(1)'), { code: 'perk_sold_out', perk: 'Mug' }],
    ['it was ended on chain', failed('PerkNotActive(1)'), { code: 'perk_not_active', perk: 'Mug' }],
    [
      'its price rose on chain',
      failed('PriceAboveMaximum(61, 60)'),
      { code: 'perk_price_changing', perk: 'Mug' },
    ],
    [
      'a block has it, and somebody gave it up',
      { ...done, failure: 'PerkSoldOut(1)' },
      { code: 'perk_sold_out' },
    ],
  ])('when %s', async (_, progress, refusal) => {
    const { redeem } = redeemer(progress);
    expect(await redeem({ ...(await somePerk()), ...someBuyer() })).toMatchObject({ refusal });
  });

  test.each(['included', 'final'] as const)('when its block is %s', async (status) => {
    const waited: { id: string; timeoutMs: number }[] = [];
    const { redeem, nudges } = redeemer({ ...done, status }, waited);
    const buyer = someBuyer();
    const { userKey, userAddress } = buyer;
    const perk = await somePerk();
    expect(await redeem({ ...perk, ...buyer })).toEqual({
      redeemed: {
        perk: expect.objectContaining({ id: perk.perkId, name: 'Mug' }),
        redemption: expect.objectContaining({
          ...perk,
          userKey,
          userEmail: null,
          wallet: userAddress,
          cost: COST,
          createdAt: START_MS,
        }),
        transactionHash: hash,
      },
    });
    expect(waited).toEqual([{ id: expect.any(String), timeoutMs: 1_234 }]);
    expect(nudges.count).toBe(1);
  });
});

test('with money for two, the third of three at once is told what is left beside the others', async () => {
  node.world.balance = 130n;
  const { redeem } = redeemer(done);
  const wanted = { ...(await somePerk()), ...someBuyer() };
  const outcomes = await Promise.all([redeem(wanted), redeem(wanted), redeem(wanted)]);
  const refusals = outcomes.flatMap((one) => ('refusal' in one ? one.refusal : []));
  const missing = { perk: 'Mug', userBalance: 10, perkCost: COST };
  expect(refusals).toEqual([{ code: 'insufficient_balance', ...missing }]);
  // Both are on their way still: what they take is nobody's.
  expect(await redeem(wanted)).toEqual({ refusal: { code: 'insufficient_balance', ...missing } });
  expect(await judgeRedemption(judgeDeps(), wanted)).toMatchObject({ userBalance: 10 });
  // Less than what is under way will take.
  node.world.balance = 100n;
  expect(await redeem(wanted)).toMatchObject({ refusal: { userBalance: 0 } });
});

test('the last one of a stock is one user’s, of two who ask at once and of one who asks later', async () => {
  node.world.perk.stock = 1n;
  const { redeem } = redeemer(done);
  const perk = await somePerk();
  const outcomes = await Promise.all(
    [someBuyer(), someBuyer()].map((buyer) => redeem({ ...perk, ...buyer })),
  );
  const refusal = { code: 'perk_sold_out', perk: 'Mug' };
  expect(outcomes.flatMap((one) => ('refusal' in one ? one.refusal : []))).toEqual([refusal]);
  expect(await redeem({ ...perk, ...someBuyer() })).toEqual({ refusal });
  expect(await judgeRedemption(judgeDeps(), { ...perk, ...someBuyer() })).toMatchObject({ refusal });
});

test('constraints are asked about the wallet, and about the user where a name is known', async () => {
  const constraints: Constraint[] = [{ type: 'chat_level', platform: 'discord', level: 5 }];
  const perk = await somePerk(constraints);
  const asked: unknown[] = [];
  const missing = [{ type: 'chat_level', reason: 'chat_level_too_low', message: 'yours is 0' }] as const;
  const checkConstraints = async (purchase: { buyer: unknown }) => {
    asked.push(purchase.buyer);
    return [...missing];
  };
  const deps = { ...judgeDeps(), checkConstraints };
  const refusal = { code: 'constraints_not_met', missing };
  const byAddress = someBuyer();
  expect(await judgeRedemption(deps, { ...perk, ...byAddress })).toMatchObject({ refusal });
  const userKey = `${randomUUID()}@people.example`;
  const wallets = await ledger.database.atomically((tx) =>
    ensureWallets(tx, { userKeys: [userKey], addressAt: ledger.addressAt, nowMs: START_MS }),
  );
  expect(await judgeRedemption(deps, { ...perk, ...byEmail(userKey) })).toMatchObject({
    refusal,
  });
  const address = wallets.get(userKey)?.address.toLowerCase();
  expect(asked).toEqual([{ address: byAddress.userAddress }, { address, userKey }]);
});

test('a user without a known wallet has nothing to spend; for a perk that is free they lack the wallet', async () => {
  const { redeem } = redeemer(done);
  const wanted = { ...(await somePerk()), ...byEmail() };
  expect(await redeem(wanted)).toMatchObject({ refusal: { code: 'insufficient_balance', userBalance: 0 } });
  node.world.perk.price = 0n;
  expect(await redeem(wanted)).toEqual({ refusal: { code: 'wallet_missing', perk: 'Mug' } });
});

describe('under an idempotency key', () => {
  const effectOf = (id: string, mayExist: boolean) => {
    const renewed = `${id}-again`;
    return { id, mayExist, renewed, renew: async () => renewed };
  };
  const idsOf = async (ids: string[]) => {
    const found = await Promise.all(ids.map((id) => findRedemption(ledger.database.db, id)));
    return found.map((one) => one !== undefined);
  };

  test('what is under way is found again, even by who has no money left for another', async () => {
    const effect = effectOf(randomUUID(), false);
    const wanted = { ...(await somePerk()), ...someBuyer() };
    node.world.balance = 60n;
    expect(await redeemer(undefined).redeem(wanted, effect)).toMatchObject({
      refusal: { code: 'redemption_pending', redemptionId: effect.id },
    });
    const again = await redeemer(done).redeem(wanted, { ...effect, mayExist: true });
    expect(again).toMatchObject({ redeemed: { redemption: { id: effect.id }, transactionHash: hash } });
    expect(await idsOf([effect.id, effect.renewed])).toEqual([true, false]);
  });

  test('what came to nothing is made anew, under another id', async () => {
    const effect = effectOf(randomUUID(), false);
    const wanted = { ...(await somePerk()), ...someBuyer() };
    await redeemer(undefined).redeem(wanted, effect);
    await giveUpRedemption(ledger.database.db, {
      key: redemptionKey(effect.id),
      failure: 'PerkSoldOut(1)',
    });
    const again = await redeemer(done).redeem(wanted, { ...effect, mayExist: true });
    expect(again).toMatchObject({ redeemed: { redemption: { id: effect.renewed } } });
    expect(await idsOf([effect.id, effect.renewed])).toEqual([true, true]);
  });

  test('what never came to be is made under the first id', async () => {
    const effect = effectOf(randomUUID(), true);
    const outcome = await redeemer(done).redeem({ ...(await somePerk()), ...someBuyer() }, effect);
    expect(outcome).toMatchObject({ redeemed: { redemption: { id: effect.id } } });
  });
});
