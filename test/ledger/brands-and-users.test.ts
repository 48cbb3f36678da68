/** Brands with their domains, keys and rules, users with their wallets and identities: each of its own, at the bounds. */
import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  brandsOfDomains,
  deleteEventRule,
  findConfiguredBrand,
  listAllEventRules,
  listBrandKeys,
  readFunds,
} from '../../src/ledger/brands/brand-configuration.ts';
import {
  brandsOfHost,
  brandsProvenFor,
  domainsAbove,
  domainsInTheWay,
  linkProvenDomain,
  missProvenDomain,
  nestedDomain,
  provenDomains,
} from '../../src/ledger/brands/brand-domains.ts';
import { expireBrandKeys, findBrandKey, saveBrandKey } from '../../src/ledger/brands/brand-keys.ts';
import {
  addBrand,
  findBrand,
  listBrands,
  listEventRules,
  readBrandsAndTime,
  readEventRules,
  ruleKey,
  saveBrand,
  saveEventRule,
} from '../../src/ledger/brands/brands.ts';
import { atMs, type Queries } from '../../src/ledger/database/database.ts';
import { brandsThatKnow } from '../../src/ledger/relay/known-users.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { brandDomains } from '../../src/ledger/schema/brands.ts';
import { ensureIdentity, findIdentity, identitiesOf } from '../../src/ledger/wallets/identities.ts';
import {
  ensureWallets,
  findWalletAt,
  findWallets,
  newestDerivedWallet,
  notePregenerated,
  userKeysAt,
} from '../../src/ledger/wallets/wallets.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { brandRow, ruleRow } from './brands.ts';
import { NOW_MS } from './transactions.ts';

const DAY_MS = 86_400_000;

onEveryDatabase(({ kit }) => {
  const db = () => kit().database.db;
  const atomically = <T>(work: (tx: Queries) => Promise<T>) => kit().database.atomically(work);
  const add = async (change: Parameters<typeof brandRow>[0]) => {
    const row = brandRow(change);
    await addBrand(db(), row);
    return row.brandId;
  };
  const domain = () => `${freshKey('shop')}.example`;

  test('of more hosts than a statement takes, each domain is found once', async () => {
    const [first, last] = [domain(), domain()];
    const brandId = await add({ domains: [first, last] });
    const hosts = [first, ...Array.from({ length: 20_000 }, (_, place) => `host-${place}`), last];
    const found = await domainsAbove(db(), hosts);
    expect(found).toEqual([
      { brandId, domain: first },
      { brandId, domain: last },
    ]);
  });

  describe('brands', () => {
    test('are overwritten, but for their secret and their age; their funds stay', async () => {
      const [own, next] = [domain(), domain()];
      const brandId = await add({ domains: [own] });
      const other = await add({ domains: [domain()], createdAt: NOW_MS - 1 });
      await saveBrand(db(), {
        ...brandRow({ brandId, domains: [next], name: 'Other', createdAt: 1 }),
        verificationSecret: 'x',
      });
      const kept = { name: 'Other', verificationSecret: 'secret', createdAt: NOW_MS };
      expect(await findConfiguredBrand(db(), brandId)).toMatchObject(kept);
      expect(await findConfiguredBrand(db(), freshAddress())).toBeUndefined();
      expect(await brandsOfDomains(db(), [own, next])).toEqual([[next, brandId]]);
      expect([...(await readFunds(db(), [brandId]))]).toEqual([[brandId, { deposited: 0, promised: 0 }]]);
      expect((await findBrand(db(), other))?.name).toBe('Demo');
      const listed = (await listBrands(db())).map((one) => one.brandId);
      expect(listed.indexOf(other)).toBeLessThan(listed.indexOf(brandId));
      await saveBrand(db(), brandRow({ brandId, domains: [] }));
      expect(await brandsOfDomains(db(), [next])).toEqual([]);
    });

    test('come with their proven domains and the time at which they were read', async () => {
      const [configured, proven] = [domain(), domain()];
      const brandId = await add({ domains: [configured] });
      await linkProvenDomain(db(), { brandId, domain: proven });
      const read = await readBrandsAndTime(db(), { brandIds: [brandId], now: atMs(NOW_MS + 5) });
      expect(read.nowMs).toBe(NOW_MS + 5);
      expect(read.brands.get(brandId)?.profile.domains).toEqual([configured, proven]);
      expect((await findConfiguredBrand(db(), brandId))?.profile.domains).toEqual([configured]);
      const unproven = await add({ domains: [domain()] });
      expect((await findBrand(db(), unproven))?.profile.domains).toHaveLength(1);
      const none = await readBrandsAndTime(db(), { brandIds: [freshAddress()], now: atMs(NOW_MS) });
      expect([none.brands.size, none.nowMs]).toEqual([0, undefined]);
    });

    test('their rules are listed in their order, active ones alone where they pay, and deleted one by one', async () => {
      const [brandId, other] = [freshAddress(), freshAddress()];
      const save = (of: Hex, eventType: string, position: number, active = true, rewardAmount = 5) =>
        saveEventRule(db(), ruleRow({ brandId: of, eventType, position, active, rewardAmount }));
      await save(brandId, 'survey', 2);
      await save(brandId, 'visit', 1);
      await save(brandId, 'login', 0, false);
      await save(other, 'survey', 0);
      await save(brandId, 'survey', 2, true, 9);
      const types = (rules: { eventType: string }[]) => rules.map(({ eventType }) => eventType);
      expect(types(await listEventRules(db(), brandId))).toEqual(['visit', 'survey']);
      expect(types(await listAllEventRules(db(), brandId))).toEqual(['login', 'visit', 'survey']);
      const wanted = { brandIds: [brandId], eventTypes: ['survey', 'login'] };
      const read = await readEventRules(db(), wanted);
      expect([...read.keys()].sort()).toEqual(
        ['login', 'survey'].map((eventType) => ruleKey({ brandId, eventType })),
      );
      expect(read.get(ruleKey({ brandId, eventType: 'survey' }))?.rewardAmount).toBe(9);
      expect(await deleteEventRule(db(), { brandId, eventType: 'survey' })).toBe(true);
      expect(await deleteEventRule(db(), { brandId, eventType: 'survey' })).toBe(false);
      expect(types(await listEventRules(db(), brandId))).toEqual(['visit']);
      expect(types(await listEventRules(db(), other))).toEqual(['survey']);
    });
  });

  describe('domains', () => {
    test('a host belongs to the brand of the nearest domain at or above it', async () => {
      const root = domain();
      const above = await add({ domains: [root] });
      const below = await add({});
      await db()
        .insert(brandDomains)
        .values({ domain: `a.${root}`, brandId: below, source: 'configured' });
      expect(await brandsOfHost(db(), root)).toEqual([above]);
      expect(await brandsOfHost(db(), `b.${root}`)).toEqual([above]);
      expect(await brandsOfHost(db(), `x.a.${root}`)).toEqual([below]);
      expect(await brandsOfHost(db(), `x${root}`)).toEqual([]);
      await linkProvenDomain(db(), { brandId: above, domain: `a.${root}` });
      expect((await brandsOfHost(db(), `a.${root}`)).sort()).toEqual([above, below].sort());
    });

    test('of others that are the same, above or below stand in the way, the very same first', async () => {
      const root = domain();
      const owner = await add({ domains: [root] });
      const linked = await add({});
      await db()
        .insert(brandDomains)
        .values({ domain: `a.${root}`, brandId: linked, source: 'dns' });
      const wants = (domains: string[], brandId = freshAddress()) =>
        domainsInTheWay(db(), { brandId, domains });
      expect(await wants([root])).toEqual([{ domain: root, other: root, owner }]);
      expect(await wants([`a.${root}`])).toEqual([
        { domain: `a.${root}`, other: `a.${root}`, owner: linked },
      ]);
      expect(await wants([`b.${root}`, domain()])).toEqual([{ domain: `b.${root}`, other: root, owner }]);
      expect(await wants([root.replace('.', '-')])).toEqual([]);
      // What a brand has it keeps, though another has one below.
      expect(await wants([root], owner)).toEqual([]);
      expect(await wants([`a.${root}`], linked)).toEqual([]);
      expect(await wants([`c.${root}`], owner)).toEqual([]);
      // What it does not have is in another's way, whatever else it has.
      expect(await wants([`d.${root}`], linked)).toEqual([{ domain: `d.${root}`, other: root, owner }]);
      // In an older ledger two have the very same one.
      await db().insert(brandDomains).values({ domain: root, brandId: linked, source: 'dns' });
      expect(await wants([root], owner)).toEqual([{ domain: root, other: root, owner: linked }]);
    });

    test('DNS links no domain above or below that of another brand', async () => {
      const root = domain();
      const owner = await add({ domains: [`shop.${root}`] });
      const brandId = freshAddress();
      const nested = (of: string, by = brandId) => nestedDomain(db(), { brandId: by, domain: of });
      expect(await nested(root)).toBe(`shop.${root}`);
      expect(await nested(`a.shop.${root}`)).toBe(`shop.${root}`);
      expect(await nested(`shop.${root}`)).toBeUndefined();
      expect(await nested(`other.${root}`)).toBeUndefined();
      expect(await nested(root, owner)).toBeUndefined();
      const above = await add({ domains: [root] });
      expect([await nested(`shop.${root}`), await nested(root, above)]).toEqual([root, undefined]);
      await db().delete(brandDomains).where(eq(brandDomains.brandId, above));
      await db().insert(brandDomains).values({ brandId, domain: root, source: 'dns' });
      expect(await nested(root)).toBeUndefined();
    });

    test('proven ones are told by brand, and unlinked after so many misses, which count once in their time', async () => {
      const [one, two] = [domain(), domain()];
      const brandId = await add({ domains: [domain()] });
      const other = await add({});
      for (const link of [
        { brandId, domain: one },
        { brandId, domain: two },
        { brandId: other, domain: one },
      ])
        await linkProvenDomain(db(), link);
      const proven = async () => (await provenDomains(db(), [brandId, other])).get(brandId)?.sort();
      expect(await proven()).toEqual([one, two].sort());
      expect((await brandsProvenFor(db(), one)).sort()).toEqual([brandId, other].sort());
      const miss = (nowMs: number) =>
        missProvenDomain(
          db(),
          { brandId, domain: one },
          { nowMs: NOW_MS + nowMs, everyMs: DAY_MS, missesMax: 2 },
        );
      await miss(0);
      await miss(DAY_MS - 1);
      expect(await proven()).toEqual([one, two].sort());
      // The record was found again: earlier misses no longer count.
      await linkProvenDomain(db(), { brandId, domain: one });
      await miss(DAY_MS);
      await miss(DAY_MS + 1);
      expect(await proven()).toEqual([one, two].sort());
      await miss(2 * DAY_MS);
      expect(await proven()).toEqual([two]);
      expect(await brandsProvenFor(db(), one)).toEqual([other]);
    });

    test('a configured domain is never missed, nor proven', async () => {
      const own = domain();
      const brandId = await add({ domains: [own] });
      const times = { nowMs: NOW_MS, everyMs: 0, missesMax: 1 };
      await missProvenDomain(db(), { brandId, domain: own }, times);
      await linkProvenDomain(db(), { brandId, domain: own });
      expect(await brandsOfDomains(db(), [own])).toEqual([[own, brandId]]);
      expect(await brandsProvenFor(db(), own)).toEqual([]);
    });
  });

  test('keys are good until they expire; rotating shortens none that ends earlier, and no other brand’s', async () => {
    const [brandId, other] = [freshAddress(), freshAddress()];
    const save = async (of: Hex, expiresAt: number | null, createdAt: number) => {
      const key = { keyId: freshKey('key'), brandId: of, digest: 'digest', createdAt, expiresAt };
      await saveBrandKey(db(), key);
      return key.keyId;
    };
    const young = await save(brandId, null, 2);
    const [early, late] = [await save(brandId, NOW_MS, 1), await save(brandId, NOW_MS + 20, 3)];
    const others = await save(other, null, 1);
    const good = async (keyId: string, nowMs: number) =>
      (await findBrandKey(db(), { keyId, nowMs })) !== undefined;
    expect([await good(early, NOW_MS - 1), await good(early, NOW_MS)]).toEqual([true, false]);
    expect(await good(young, NOW_MS * 2)).toBe(true);
    expect(await good('unknown', 0)).toBe(false);
    expect((await listBrandKeys(db(), brandId)).map(({ keyId }) => keyId)).toEqual([early, young, late]);
    await expireBrandKeys(db(), { brandId, atMs: NOW_MS + 10 });
    const ends = (await listBrandKeys(db(), brandId)).map(({ expiresAt }) => expiresAt);
    expect(ends).toEqual([NOW_MS, NOW_MS + 10, NOW_MS + 10]);
    expect(await good(others, NOW_MS * 2)).toBe(true);
    await saveBrandKey(db(), { keyId: late, brandId, digest: 'new', createdAt: 3, expiresAt: null });
    expect(await findBrandKey(db(), { keyId: late, nowMs: NOW_MS })).toMatchObject({ digest: 'new' });
  });

  describe('users', () => {
    const addressAt = (index: number): Hex => `0x${(0xabc0000 + index).toString(16).padStart(40, '0')}`;
    const ensure = (...userKeys: string[]) =>
      atomically((tx) => ensureWallets(tx, { userKeys, addressAt, nowMs: NOW_MS }));

    test('get one wallet each, which is found by user and by address', async () => {
      const [alice, bob] = [freshKey('user'), freshKey('user')];
      const first = (await ensure(alice)).get(alice);
      if (!first) throw new Error('a wallet that was ensured is gone');
      expect(first).toMatchObject({ created: true, address: addressAt(first.derivationIndex ?? -1) });
      const both = await ensure(bob, alice);
      expect([both.get(alice)?.created, both.get(bob)?.created]).toEqual([false, true]);
      expect(both.get(alice)?.address).toBe(first.address);
      expect(await newestDerivedWallet(db())).toEqual({
        index: both.get(bob)?.derivationIndex,
        address: both.get(bob)?.address,
      });
      expect((await findWallets(db(), [alice, 'unknown'])).size).toBe(1);
      expect((await findWallets(db(), [])).size).toBe(0);
      expect((await findWalletAt(db(), first.address))?.userKey).toBe(alice);
      expect(await findWalletAt(db(), freshAddress())).toBeUndefined();
      expect(await userKeysAt(db(), [first.address, freshAddress()])).toEqual([alice]);
      expect(await userKeysAt(db(), [])).toEqual([]);
    });

    test('an identity is written once, and a user’s are told oldest first', async () => {
      const userKey = freshKey('user');
      const identity = (provider: string, createdAt: number, providerUserId = freshKey('id')) => ({
        provider,
        providerUserId,
        userKey,
        idpUserId: 'uuid',
        username: null,
        createdAt,
      });
      const [discord, email, slack] = [identity('discord', 2), identity('email', 1), identity('slack', 1)];
      for (const one of [discord, slack, email]) await atomically((tx) => ensureIdentity(tx, one));
      const again = { ...discord, userKey: freshKey('user') };
      expect(await atomically((tx) => ensureIdentity(tx, again))).toEqual(discord);
      expect((await identitiesOf(db(), userKey)).map(({ provider }) => provider)).toEqual([
        'email',
        'slack',
        'discord',
      ]);
      const { provider, providerUserId } = discord;
      expect(await findIdentity(db(), { provider, providerUserId } as typeof discord)).toEqual(discord);
      const elsewhere = { provider: 'slack', providerUserId } as typeof discord;
      expect(await findIdentity(db(), elsewhere)).toBeUndefined();
    });

    test('a brand knows whom it rewarded, or whose wallet it asked for, under any of their names', async () => {
      const [rewarded, asked, stranger] = [freshAddress(), freshAddress(), freshAddress()];
      const [alice, bob] = [`${freshKey('alice')}@example.org`, freshKey('bob')];
      const wallet = (await ensure(bob)).get(bob)?.address ?? freshAddress();
      await atomically((tx) =>
        recordRewards(tx, [
          {
            sequence: 1,
            id: freshKey('reward'),
            brandId: rewarded,
            eventType: 'survey',
            userKey: alice,
            wallet,
            walletCreated: true,
            amount: 1,
            metadata: {},
            createdAt: NOW_MS,
          },
        ]),
      );
      for (let times = 0; times < 2; times++) await notePregenerated(db(), { brandId: asked, userKey: bob });
      const all = [stranger, asked, rewarded];
      const know = (user: { email?: string; addresses?: Hex[] }, of = all) =>
        brandsThatKnow(db(), of, { email: user.email, addresses: user.addresses ?? [] });
      expect(await know({ email: alice })).toEqual([rewarded]);
      expect(await know({ addresses: [wallet] })).toEqual([asked]);
      expect(await know({ email: alice, addresses: [wallet] })).toEqual([asked, rewarded]);
      expect(await know({ email: alice, addresses: [wallet] }, [stranger])).toEqual([]);
      expect(await know({ email: 'nobody@example.org' })).toEqual([]);
      expect(await know({ email: alice }, [])).toEqual([]);
    });
  });
});
