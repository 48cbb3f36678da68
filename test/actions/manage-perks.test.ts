/** What operators do with perks and see of redemptions: each change is kept, and queued for the contract, or refused. */
import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addPerk,
  changePerk,
  type ManagePerksDeps,
  type PerkChange,
  type PerkWish,
  showPerks,
} from '../../src/actions/perks/manage-perks.ts';
import { showRedemptions } from '../../src/actions/perks/manage-redemptions.ts';
import { bindTerms, giveUpTerms } from '../../src/ledger/perks/perk-terms.ts';
import { findPerk, addPerk as storePerk } from '../../src/ledger/perks/perks.ts';
import { perkTerms, redemptions } from '../../src/ledger/schema/engagement/perks.ts';
import {
  type TransactionOutcome,
  type TransactionStatus,
  transactions,
} from '../../src/ledger/schema/transactions.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import type { BrandId } from '../../src/rules/brands/brand.ts';
import type { Constraint } from '../../src/rules/constraint.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const MUG: PerkWish = {
  name: 'Mug',
  description: 'Enamel',
  category: 'physical',
  cost: 60,
  stock: 10,
  metadata: {},
  active: true,
  constraints: [],
};

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** As in production. `nudges` counts how often the contract has something to be told. */
function manager(of: Partial<ManagePerksDeps> = {}) {
  const nudges = { count: 0 };
  const deps: ManagePerksDeps = {
    ...ledger,
    reach: { to: 'public', ports: [], networks: [] },
    nudge: () => void nudges.count++,
    ...of,
  };
  const add = async (brand: string, wish: Partial<PerkWish> = {}) =>
    addPerk(deps, brand, { ...MUG, ...wish });
  return {
    nudges,
    add,
    async added(brand: string, wish: Partial<PerkWish> = {}) {
      const perk = await add(brand, wish);
      if ('refusal' in perk) throw new Error(JSON.stringify(perk.refusal));
      return perk;
    },
    change: (name: string, change: PerkChange) => changePerk(deps, name, change),
  };
}

const termsOf = (tokenId: number) =>
  ledger.database.db
    .select()
    .from(perkTerms)
    .where(eq(perkTerms.tokenId, tokenId))
    .orderBy(asc(perkTerms.position));
const refused = (setting: string, message: string) => ({
  refusal: { code: 'invalid_settings', problems: [{ setting, message }] },
});
/** A transaction that is this far. */
async function transactionAt(status: TransactionStatus, outcome: TransactionOutcome | null) {
  const [id, hash] = [freshKey('transaction'), freshHash()];
  await storeTransaction(ledger.database.db, {
    id,
    lane: freshAddress(),
    nonce: 0,
    purpose: 'redeem',
    epoch: 1,
    hash,
    raw: '0x02c0',
    maxFeeWei: 1n,
    priorityFeeWei: 1n,
    createdAt: START_MS,
  });
  const at = { status, outcome };
  await ledger.database.db.update(transactions).set(at).where(eq(transactions.id, id));
  return { id, hash };
}

describe('a perk is added', () => {
  test('with an id and the next token, kept, and queued for the contract', async () => {
    const { brandId, domain } = await someBrand(ledger);
    const { added, nudges } = manager();
    const perk = await added(domain, { tokenId: 500 });
    expect(perk).toEqual({
      ...MUG,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      brandId,
      tokenId: 500,
      image: null,
      createdAt: START_MS,
      terms: 'waiting',
      failure: null,
    });
    const { terms: _, failure: __, ...stored } = perk;
    expect(await findPerk(ledger.database.db, { brandId, perkId: perk.id })).toEqual(stored);
    expect(await termsOf(500)).toMatchObject([
      { kind: 'set', price: 60, active: true, stock: 10, position: 1, perkId: perk.id, createdAt: START_MS },
    ]);
    expect(nudges.count).toBe(1);
    expect((await added(brandId)).tokenId).toBe(501);
    const id = randomUUID();
    const image = 'https://brand.example/mug.png';
    expect(await added(brandId, { id, image })).toMatchObject({ id, image, tokenId: 502 });
  });

  test('only to a brand that exists, and with an id and a token that no other perk has', async () => {
    const { add, added, nudges } = manager();
    expect(await add('nobody.example')).toEqual({
      refusal: { code: 'brand_not_found', name: 'nobody.example' },
    });
    const { brandId } = await someBrand(ledger);
    const { id, tokenId } = await added(brandId);
    expect(await add(brandId, { id, tokenId: tokenId + 1 })).toEqual(
      refused('id', `is that of perk ${id}; give another one`),
    );
    expect(await add(brandId, { tokenId })).toEqual(
      refused('tokenId', `is that of perk ${id}; give another one`),
    );
    expect([(await termsOf(tokenId)).length, (await termsOf(tokenId + 1)).length]).toEqual([1, 0]);
    expect(nudges.count).toBe(1);
  });

  test('until the brand has 200', async () => {
    const { brandId } = await someBrand(ledger);
    const { add, added } = manager();
    const { terms: _, failure: __, ...first } = await added(brandId);
    for (let n = 1; n < 199; n += 1)
      await storePerk(ledger.database.db, { ...first, id: randomUUID(), tokenId: first.tokenId + n });
    expect(await added(brandId)).toMatchObject({ tokenId: first.tokenId + 199 });
    expect(await add(brandId)).toEqual(refused('brand', 'has 200 perks; it may have 200'));
    const other = await someBrand(ledger);
    expect(await added(other.brandId)).toMatchObject({ tokenId: first.tokenId + 200 });
  });

  test('where no lane is near too: another process tells the contract', async () => {
    const { brandId } = await someBrand(ledger);
    const { added } = manager({ nudge: undefined });
    expect(await added(brandId)).toMatchObject({ terms: 'waiting' });
  });
});

describe('a constraint that asks a server', () => {
  const asks = (url: string): Constraint => ({ type: 'external_api', url, ttlSeconds: 60 });
  const owns: Constraint = { type: 'has_perk', perkId: randomUUID() };

  test('is refused where the service would never ask it, when it is added and when it is changed', async () => {
    const { brandId } = await someBrand(ledger);
    const { add, added, change, nudges } = manager();
    const inner = [owns, asks('https://10.0.0.1/may')];
    const problem = refused(
      'constraints.1.url',
      'has an address that is not public: the service would never ask it',
    );
    expect(await add(brandId, { constraints: inner })).toEqual(problem);
    const good = [owns, asks('https://brand.example/may')];
    const perk = await added(brandId, { constraints: good });
    expect(perk.constraints).toEqual(good);
    expect(await change(perk.id, { constraints: inner, name: 'Cup' })).toEqual(problem);
    expect(await findPerk(ledger.database.db, { brandId, perkId: perk.id })).toMatchObject({
      name: 'Mug',
      constraints: good,
    });
    expect(nudges.count).toBe(1);
  });

  test("may be anywhere on a developer's own machine", async () => {
    const { brandId } = await someBrand(ledger);
    const constraints = [asks('http://127.0.0.1:3000/may')];
    expect(await manager({ reach: { to: 'any' } }).added(brandId, { constraints })).toMatchObject({
      constraints,
    });
  });
});

describe('a perk is changed', () => {
  test('by its id or its token; what is not named stays, and the contract hears of price, sale and stock alone', async () => {
    const { brandId } = await someBrand(ledger);
    const { added, change, nudges } = manager();
    const { id, tokenId, ...perk } = await added(brandId, { image: 'https://brand.example/a.png' });
    ledger.clock.advance(5);
    const now = ledger.clock.now();
    const renamed = { ...perk, id, tokenId, name: 'Cup', image: null, terms: 'waiting' };
    expect(await change(id.toUpperCase(), { name: 'Cup', image: null, cost: undefined })).toEqual(renamed);
    expect(await termsOf(tokenId)).toHaveLength(1);
    expect(await change(`${tokenId}`, { cost: 70, stock: 8 })).toEqual({ ...renamed, cost: 70, stock: 8 });
    expect(await findPerk(ledger.database.db, { brandId, perkId: id })).toMatchObject({
      name: 'Cup',
      image: null,
      cost: 70,
      stock: 8,
      createdAt: perk.createdAt,
    });
    expect(await termsOf(tokenId)).toMatchObject([
      { kind: 'set', position: 1 },
      { kind: 'terms', position: 2, price: 70, active: true, stock: 0, createdAt: now },
      { kind: 'stock', position: 3, stock: -2, createdAt: now },
    ]);
    expect(nudges.count).toBe(3);
  });

  test('only where it exists', async () => {
    const { change, nudges } = manager();
    for (const name of [randomUUID(), '987654', 'mug'])
      expect(await change(name, { cost: 1 })).toEqual({ refusal: { code: 'perk_not_found', name } });
    expect(nudges.count).toBe(0);
  });

  test('by how many more there are, of two at once by both', async () => {
    const { brandId } = await someBrand(ledger);
    const { added, change } = manager();
    const { id, tokenId } = await added(brandId);
    await Promise.all([change(id, { restock: 3 }), change(id, { restock: 4, cost: 61 })]);
    expect(await findPerk(ledger.database.db, { brandId, perkId: id })).toMatchObject({
      stock: 17,
      cost: 61,
    });
    const stocks = (await termsOf(tokenId)).filter(({ kind }) => kind === 'stock');
    expect(stocks.map(({ stock }) => stock).sort()).toEqual([3, 4]);
  });

  test('but not by more of what has no limit, or is counted in the same breath', async () => {
    const { brandId } = await someBrand(ledger);
    const { added, change } = manager();
    const limited = await added(brandId);
    const endless = await added(brandId, { stock: -1 });
    expect(await change(limited.id, { restock: 3, stock: 20 })).toEqual(
      refused('restock', 'adds to the stock, which is given too; leave one of them out'),
    );
    expect(await change(endless.id, { restock: 3 })).toEqual(
      refused('restock', 'adds to a stock, and this one is unlimited'),
    );
    const stocks = [limited, endless].map(({ id: perkId }) =>
      findPerk(ledger.database.db, { brandId, perkId }),
    );
    expect((await Promise.all(stocks)).map((perk) => perk?.stock)).toEqual([10, -1]);
    expect(await change(endless.id, { stock: 4 })).toMatchObject({ stock: 4 });
    expect(await change(limited.id, { cost: 5 })).toMatchObject({ stock: 10, cost: 5 });
  });
});

describe('perks are shown', () => {
  const show = (brand?: string) => showPerks(ledger, brand);

  test('of one brand, or of all, in the order of their tokens', async () => {
    const [{ brandId, domain }, other] = [await someBrand(ledger), await someBrand(ledger)];
    const { added } = manager();
    const [b, a] = [await added(brandId, { tokenId: 902 }), await added(brandId, { tokenId: 901 })];
    const c = await added(other.brandId, { tokenId: 903 });
    expect(await show(domain)).toEqual({ perks: [a, b] });
    const all = await show();
    const tokens = 'perks' in all ? all.perks.map(({ tokenId }) => tokenId) : [];
    expect(tokens).toEqual(expect.arrayContaining([901, 902, 903]));
    expect(tokens.indexOf(901)).toBeLessThan(tokens.indexOf(902));
    expect(await show(other.brandId)).toEqual({ perks: [c] });
    expect(await show('nobody.example')).toEqual({
      refusal: { code: 'brand_not_found', name: 'nobody.example' },
    });
  });

  test('with how far the contract has been told of the last change', async () => {
    const { brandId } = await someBrand(ledger);
    const { added, change } = manager();
    const { db } = ledger.database;
    const { id, tokenId } = await added(brandId);
    const shown = async () => {
      const answer = await show(brandId);
      return 'perks' in answer && answer.perks.map(({ terms, failure }) => [terms, failure]);
    };
    expect(await shown()).toEqual([['waiting', null]]);
    const carried = await transactionAt('sent', null);
    await bindTerms(db, { tokenId, position: 1, transactionId: carried.id });
    for (const [status, terms] of [
      ['stored', 'waiting'],
      ['sent', 'waiting'],
      ['included', 'on_chain'],
      ['final', 'on_chain'],
    ] as const) {
      await db.update(transactions).set({ status }).where(eq(transactions.id, carried.id));
      expect(await shown()).toEqual([[terms, null]]);
    }
    expect(await change(id, { cost: 61 })).toMatchObject({ terms: 'waiting', failure: null });
    await giveUpTerms(db, { tokenId, position: 2, failure: 'Paused()' });
    expect(await shown()).toEqual([['failed', 'Paused()']]);
    // Of one that came into the ledger with its chain, nothing has to be told.
    await storePerk(db, {
      ...MUG,
      id: randomUUID(),
      tokenId: 999,
      brandId,
      image: null,
      createdAt: START_MS,
    });
    expect(await shown()).toEqual([
      ['failed', 'Paused()'],
      ['on_chain', null],
    ]);
  });
});

describe('redemptions are shown', () => {
  const show = (brand: string | undefined, limit = 10) => showRedemptions(ledger, { brand, limit });
  let redeemed = 0;
  /** Later than those before it. */
  async function redemption(brandId: BrandId, of: Partial<typeof redemptions.$inferInsert> = {}) {
    const row = {
      id: randomUUID(),
      key: freshHash(),
      brandId,
      perkId: randomUUID(),
      tokenId: 1,
      cost: 60,
      userKey: 'x@people.example',
      wallet: freshAddress(),
      confirmationCode: freshKey('CODE'),
      createdAt: START_MS + ++redeemed,
      ...of,
    };
    await ledger.database.db.insert(redemptions).values(row);
    return row.id;
  }

  test('of one brand, or of all, the newest first, and no more than are asked for', async () => {
    const [{ brandId, domain }, other] = [await someBrand(ledger), await someBrand(ledger)];
    const { id: perkId } = await manager().added(brandId);
    const [first, second] = [await redemption(brandId, { perkId }), await redemption(brandId)];
    const third = await redemption(other.brandId);
    const ids = async (...of: Parameters<typeof show>) => {
      const shown = await show(...of);
      return 'redemptions' in shown && shown.redemptions.map((one) => one.redemption.id);
    };
    expect(await ids(domain)).toEqual([second, first]);
    expect(await ids(brandId, 1)).toEqual([second]);
    expect(await ids(undefined, 3)).toEqual([third, second, first]);
    expect(await show(brandId)).toMatchObject({ redemptions: [{ perkName: null }, { perkName: 'Mug' }] });
    for (const nobody of ['nobody.example', freshAddress()])
      expect(await show(nobody)).toEqual({ refusal: { code: 'brand_not_found', name: nobody } });
  });

  test.each<[string, string, TransactionStatus | undefined, TransactionOutcome | null, object]>([
    ['that no transaction carries', 'pending', undefined, null, {}],
    ['that is on its way', 'pending', 'sent', null, {}],
    ['that a block has', 'valid', 'included', 'done', {}],
    ['that is final', 'valid', 'final', 'done', {}],
    ['whose code was used', 'used', 'final', 'done', { usedAt: START_MS }],
    ['that a block shows without effect', 'failed', 'included', 'reverted', {}],
    ['whose nonce was used for nothing', 'failed', 'final', 'noop', {}],
    ['that was given up', 'failed', undefined, null, { failure: 'PerkSoldOut(1)' }],
    ['that was used, and came to nothing after all', 'failed', 'final', 'reverted', { usedAt: START_MS }],
  ])('one %s is %s', async (_, state, status, outcome, of) => {
    const { brandId } = await someBrand(ledger);
    const carried = status && (await transactionAt(status, outcome));
    await redemption(brandId, { ...of, transactionId: carried?.id ?? null });
    expect(await show(brandId)).toMatchObject({
      redemptions: [{ state, transactionHash: carried?.hash ?? null }],
    });
  });
});
