/** Brands from their making to their keys, as the control API and the command line manage them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rotateKey, verifyBrandKey } from '../../src/actions/brands/brand-keys.ts';
import { changeBrand, changeRule, createBrand, removeRule } from '../../src/actions/brands/manage-brands.ts';
import { domainProblems, findNamed, lookingAgain } from '../../src/actions/brands/named-brand.ts';
import { overviewBrands, showBrand } from '../../src/actions/brands/show-brands.ts';
import { dnsRecord, domainToken, verifyDns } from '../../src/actions/brands/verify-dns.ts';
import { fundBrand } from '../../src/actions/payments/mint-by-hand.ts';
import { saleMintData } from '../../src/chain/contracts/sale-mint.ts';
import { settings } from '../../src/compose/config.ts';
import { saveBrandKey } from '../../src/ledger/brands/brand-keys.ts';
import type { Queries } from '../../src/ledger/database/database.ts';
import { writeFact } from '../../src/ledger/facts.ts';
import { ensureGasWallet, setGasWalletReady } from '../../src/ledger/relay/gas-wallets.ts';
import { brandKeys } from '../../src/ledger/schema/brands.ts';
import { operatorMints } from '../../src/ledger/schema/payments.ts';
import { freshAddress, freshHash } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const HOUR = 3_600_000;
const invalid = (...problems: [setting: string, message: string][]) => ({
  refusal: {
    code: 'invalid_settings',
    problems: problems.map(([setting, message]) => ({ setting, message })),
  },
});
const notFound = (name: string) => ({ refusal: { code: 'brand_not_found', name } });

describe('a brand is made', () => {
  test('with its settings, its first key, and nothing in its escrow', async () => {
    const brandId = freshAddress();
    const settings = { brandId, name: 'Shop', domains: 'new.example', spendPerDay: 5 };
    const made = await createBrand(ledger, settings);
    if ('refusal' in made) throw new Error('refused');
    expect(made).toEqual({
      brandId,
      name: 'Shop',
      automation: true,
      createdAtMs: ledger.clock.now(),
      profile: expect.objectContaining({ domains: ['new.example'], spendPerDay: 5, clientAmounts: 'allow' }),
      provenDomains: [],
      deposited: 0,
      promised: 0,
      rules: [],
      gasWallet: null,
      spending: [{ span: 'day', limit: 5, spent: 0, endsAtMs: ledger.clock.now() + 24 * 3_600_000 }],
      othersExpireAtMs: null,
      keyId: expect.stringMatching(/^test_\w{12}$/),
      apiKey: expect.stringMatching(/^rk_test_\w{12}_\w{40}$/),
      keys: [{ keyId: made.keyId, createdAtMs: ledger.clock.now(), expiresAtMs: null }],
    });
    expect(await createBrand(ledger, settings)).toEqual({ refusal: { code: 'brand_exists', brandId } });
    const other = await createBrand(
      { ...ledger, defaultsFor: 'production' },
      { ...settings, brandId: freshAddress(), domains: 'careful.example' },
    );
    expect(other).toMatchObject({ profile: { clientAmounts: 'credential' } });
  });

  test('with a secret of 32 bytes for its DNS records', async () => {
    const { brandId } = await someBrand(ledger);
    const stored = await findNamed(ledger.database.db, brandId);
    expect(stored?.verificationSecret).toMatch(/^[\w-]{43}$/);
  });

  test('not with settings that are wrong, and not with a domain that another brand has', async () => {
    const { brandId: owner, domain } = await someBrand(ledger);
    const wanted = { brandId: freshAddress(), name: 'Late' };
    expect(await createBrand(ledger, wanted)).toEqual(invalid(['domains', 'is missing']));
    const belongs = `belongs to brand ${owner}`;
    const cases: [string, string][] = [
      [domain, `${domain} ${belongs}`],
      [`eu.${domain}`, `eu.${domain} is below ${domain}, which ${belongs}`],
    ];
    for (const [domains, message] of cases)
      expect(await createBrand(ledger, { ...wanted, domains })).toEqual(invalid(['domains', message]));
    const { brandId: below, domain: parent } = await someBrand(ledger, { domains: 'eu.far.example' });
    expect(parent).toBeDefined();
    expect(await createBrand(ledger, { ...wanted, domains: 'far.example' })).toEqual(
      invalid(['domains', `far.example is above eu.far.example, which belongs to brand ${below}`]),
    );
    expect(await findNamed(ledger.database.db, wanted.brandId)).toBeUndefined();
  });

  test('with a name of this machine only where that is allowed', async () => {
    const here = {
      brandId: freshAddress(),
      profile: { domains: ['localhost', 'own.example', '127.0.0.1'] },
    } as never;
    const problems = (loopbackDomains: boolean) =>
      domainProblems({ loopbackDomains }, ledger.database.db, here);
    const message = 'is a name of every machine; only a brand of an emulator can have it';
    expect(await problems(false)).toEqual([
      { setting: 'domains', message: `localhost ${message}` },
      { setting: 'domains', message: `127.0.0.1 ${message}` },
    ]);
    expect(await problems(true)).toEqual([]);
  });
});

describe('a brand is found', () => {
  test('by its id in any case and by its domain in any form', async () => {
    const { brandId, domain } = await someBrand(ledger);
    const upper = `0x${brandId.slice(2).toUpperCase()}`;
    for (const name of [brandId, upper, domain, domain.toUpperCase(), `https://${domain}/shop`])
      expect([name, (await findNamed(ledger.database.db, name))?.brandId]).toEqual([name, brandId]);
    for (const name of [freshAddress(), 'nobody.example', `eu.${domain}`, 'co.uk', '']) {
      expect(await findNamed(ledger.database.db, name)).toBeUndefined();
      expect(await showBrand(ledger, name)).toEqual(notFound(name));
    }
  });

  test('with its rules, keys, funds, proven domains and gas wallet', async () => {
    const { brandId, domain } = await someBrand(ledger, { deposit: 70 });
    await changeRule(ledger, { name: brandId, eventType: 'visit' }, { reward: 5 });
    const address = freshAddress();
    const gasWallet = { payer: brandId, addressAt: () => address, nowMs: START_MS };
    await ledger.database.atomically((tx) => ensureGasWallet(tx, gasWallet));
    expect(await showBrand(ledger, domain)).toMatchObject({
      brandId,
      deposited: 70,
      promised: 0,
      gasWallet: { address, ready: false },
      rules: [{ eventType: 'visit', rewardAmount: 5 }],
    });
    await setGasWalletReady(ledger.database.db, brandId, true);
    expect(await showBrand(ledger, domain)).toMatchObject({ gasWallet: { address, ready: true } });
    expect((await overviewBrands(ledger)).find((one) => one.brandId === brandId)).toMatchObject({
      deposited: 70,
      name: `Brand ${brandId}`,
      automation: true,
      createdAtMs: START_MS,
    });
  });

  test('not in a ledger that has none', async () => {
    const empty = await openLedger();
    expect(await overviewBrands(empty)).toEqual([]);
    await empty.close();
  });
});

describe('a brand is changed', () => {
  test('in what is given, or not at all', async () => {
    const { brandId, domain } = await someBrand(ledger, { spendPerDay: 9 });
    const { domain: taken, brandId: owner } = await someBrand(ledger);
    const changed = await changeBrand(ledger, domain, {
      automation: 'off',
      domains: `${domain},more.${domain}`,
    });
    expect(changed).toMatchObject({
      automation: false,
      profile: { spendPerDay: 9, domains: [domain, `more.${domain}`] },
    });
    expect(await showBrand(ledger, `more.${domain}`)).toMatchObject({ brandId, automation: false });
    expect(await changeBrand(ledger, brandId, { automation: 'x' })).toEqual(
      invalid(['automation', 'must be on or off, not "x"']),
    );
    expect(await changeBrand(ledger, brandId, { domains: taken, automation: 'on' })).toEqual(
      invalid(['domains', `${taken} belongs to brand ${owner}`]),
    );
    expect(await showBrand(ledger, brandId)).toMatchObject({
      automation: false,
      profile: { domains: [domain, `more.${domain}`] },
    });
    expect(await changeBrand(ledger, 'nobody.example', {})).toEqual(notFound('nobody.example'));
  });

  test('once more when another write came first, and never after another error', async () => {
    const { brandId } = await someBrand(ledger);
    let tries = 0;
    const key = { keyId: 'test_twice', brandId, digest: '', createdAt: 0, expiresAt: null };
    await saveBrandKey(ledger.database.db, key);
    const clash = async (tx: Queries) => {
      tries += 1;
      if (tries === 1) await tx.insert(brandKeys).values(key);
      return tries;
    };
    expect(await lookingAgain(ledger, clash)).toBe(2);
    const broken = () => {
      tries += 1;
      return Promise.reject(new Error('broken'));
    };
    await expect(lookingAgain(ledger, broken)).rejects.toThrow('broken');
    expect(tries).toBe(3);
  });
});

describe('a rule', () => {
  test('is added at the end, changed in its place, and removed', async () => {
    const { brandId } = await someBrand(ledger);
    const change = (eventType: string, settings: object) =>
      changeRule(ledger, { name: brandId, eventType }, settings as Record<string, unknown>);
    const rules = async () => {
      const shown = await showBrand(ledger, brandId);
      return 'rules' in shown ? shown.rules.map((rule) => `${rule.eventType} ${rule.rewardAmount}`) : [];
    };
    expect(await change('b', { reward: 1 })).toMatchObject({ brandId, eventType: 'b', rewardAmount: 1 });
    await change('a', { reward: 2 });
    await change('b', { reward: 3 });
    await change('c', { reward: 4 });
    expect(await rules()).toEqual(['b 3', 'a 2', 'c 4']);
    expect(await change('d', {})).toEqual(invalid(['reward', 'is missing: the event has no rule yet']));
    const of = { name: brandId, eventType: 'a' };
    expect(await removeRule(ledger, of)).toEqual({ removed: 'a' });
    expect(await removeRule(ledger, of)).toEqual({
      refusal: { code: 'rule_not_found', eventType: 'a', brandId },
    });
    expect(await rules()).toEqual(['b 3', 'c 4']);
    const nobody = { name: 'nobody.example', eventType: 'a' };
    expect(await removeRule(ledger, nobody)).toEqual(notFound('nobody.example'));
    expect(await changeRule(ledger, nobody, { reward: 1 })).toEqual(notFound('nobody.example'));
  });
});

describe('a key', () => {
  const owner = (authorization: string | undefined) => verifyBrandKey(ledger, authorization);

  test('opens its own brand, in the header as RFC 6750 has it', async () => {
    const { brandId, apiKey } = await someBrand(ledger);
    for (const header of [`Bearer ${apiKey}`, `bearer  ${apiKey}`]) expect(await owner(header)).toBe(brandId);
    const wrong = `${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`;
    const { keyId: unknown } = { keyId: apiKey.replace('rk_test_', 'rk_other_') };
    const headers = [
      undefined,
      '',
      apiKey,
      `Basic ${apiKey}`,
      `Bearer ${wrong}`,
      `Bearer ${unknown}`,
      'Bearer x',
    ];
    for (const header of [...headers, `Bearer ${apiKey} x`, `x Bearer ${apiKey}`, `Bearer${apiKey}`])
      expect([header, await owner(header)]).toEqual([header, undefined]);
  });

  test('is followed by another, and opens until the overlap ends', async () => {
    const { brandId, apiKey, keyId } = await someBrand(ledger);
    const nowMs = ledger.clock.now();
    const next = await rotateKey(ledger, brandId, { overlapMs: HOUR });
    if ('refusal' in next) throw new Error('refused');
    expect(next).toMatchObject({ othersExpireAtMs: nowMs + HOUR });
    expect(next.keyId).not.toBe(keyId);
    const shown = await showBrand(ledger, brandId);
    expect('keys' in shown && new Map(shown.keys.map((key) => [key.keyId, key.expiresAtMs]))).toEqual(
      new Map([
        [keyId, nowMs + HOUR],
        [next.keyId, null],
      ]),
    );
    ledger.clock.advance(HOUR - 1);
    expect(await owner(`Bearer ${apiKey}`)).toBe(brandId);
    ledger.clock.advance(1);
    expect(await owner(`Bearer ${apiKey}`)).toBeUndefined();
    expect(await owner(`Bearer ${next.apiKey}`)).toBe(brandId);
  });

  test('without overlap leaves no other; an unknown brand has none', async () => {
    const { brandId, apiKey } = await someBrand(ledger);
    expect(await rotateKey(ledger, brandId, { overlapMs: 0 })).toMatchObject({ othersExpireAtMs: null });
    expect(await owner(`Bearer ${apiKey}`)).toBeUndefined();
    expect(await rotateKey(ledger, 'nobody.example', { overlapMs: 0 })).toEqual(notFound('nobody.example'));
  });
});

describe('a DNS record', () => {
  const records = new Map<string, string[]>();
  const dns = { txtRecords: async (name: string) => records.get(name) ?? [] };
  const verify = (domain: string) => verifyDns({ ...ledger, dns, settings: settings.provenDomains }, domain);
  async function recordOf(brandId: string, domain: string) {
    const record = await dnsRecord(ledger, brandId, domain);
    if ('refusal' in record) throw new Error('refused');
    return record;
  }

  test('is named for the domain and the brand', async () => {
    const { brandId } = await someBrand(ledger);
    const secret = (await findNamed(ledger.database.db, brandId))?.verificationSecret ?? '';
    expect(await dnsRecord(ledger, brandId, 'HTTPS://Linked.example/x')).toEqual({
      name: '_rewards.linked.example',
      value: `brand_id=${brandId};api_key=${domainToken(secret, 'linked.example')}`,
    });
    expect(domainToken(secret, 'linked.example')).toMatch(/^[\w-]{32}$/);
    expect(domainToken(secret, 'a.example')).not.toBe(domainToken(secret, 'b.example'));
    expect(await dnsRecord(ledger, brandId, 'co.uk')).toEqual(
      invalid(['domain', 'must be a domain of its own (no public suffix)']),
    );
    expect(await dnsRecord(ledger, 'nobody.example', 'a.example')).toEqual(notFound('nobody.example'));
  });

  test('links its domain, and a missing one unlinks it after four misses over a day', async () => {
    const { brandId } = await someBrand(ledger);
    const domain = 'proven.example';
    const { name, value } = await recordOf(brandId, domain);
    const asked = { domain, name, nested: undefined };
    const configured = async (dnsConfigured: boolean) =>
      expect(await verify(domain)).toEqual({
        ...asked,
        dnsConfigured,
        brandId: dnsConfigured ? brandId : undefined,
      });
    const provenDomains = async () => {
      const shown = await showBrand(ledger, brandId);
      return 'provenDomains' in shown ? shown.provenDomains : undefined;
    };
    await configured(false);
    records.set(name, ['v=spf1', `${value}x`, value.slice(0, -1), value.replace(brandId, freshAddress())]);
    await configured(false);
    expect(await provenDomains()).toEqual([]);
    records.set(name, ['other', value]);
    await configured(true);
    expect(await provenDomains()).toEqual([domain]);
    // Configured as well it is told of once, as that.
    const { profile } = (await findNamed(ledger.database.db, brandId)) ?? {};
    await changeBrand(ledger, brandId, { domains: [...(profile?.domains ?? []), domain] });
    expect(await provenDomains()).toEqual([]);
    await changeBrand(ledger, brandId, { domains: profile?.domains ?? [] });
    records.delete(name);
    for (let misses = 1; misses <= 3; misses++) {
      await configured(false);
      await configured(false);
      expect(await provenDomains()).toEqual([domain]);
      ledger.clock.advance(8 * HOUR - 1);
      await configured(false);
      expect(await provenDomains()).toEqual([domain]);
      ledger.clock.advance(1);
    }
    await configured(false);
    expect(await provenDomains()).toEqual([]);
  });

  test('of a configured domain is no second one; that of another brand, nested, links nothing', async () => {
    const { brandId, domain } = await someBrand(ledger);
    const own = await recordOf(brandId, domain);
    records.set(own.name, [own.value]);
    expect(await verify(domain)).toMatchObject({ dnsConfigured: true, brandId });
    expect(await showBrand(ledger, brandId)).toMatchObject({ provenDomains: [] });
    const { brandId: other } = await someBrand(ledger);
    const below = await recordOf(other, `eu.${domain}`);
    records.set(below.name, [below.value]);
    expect(await verify(`eu.${domain}`)).toEqual({
      domain: `eu.${domain}`,
      dnsConfigured: false,
      brandId: undefined,
      nested: domain,
      name: below.name,
    });
    expect(await showBrand(ledger, other)).toMatchObject({ provenDomains: [] });
  });
});

describe('RWT for a brand', () => {
  const wish = { amount: 50, reason: 'launch' };
  const mints = () => ledger.database.db.select().from(operatorMints);

  test('waits for a chain; then it is sent, or told how to send it, and recorded in both cases', async () => {
    const { brandId, domain } = await someBrand(ledger);
    expect(await fundBrand(ledger, domain, wish)).toEqual(
      invalid(['amount', 'the ledger belongs to no chain yet: start the service once, then mint']),
    );
    expect(await mints()).toEqual([]);
    const pointsSale = freshAddress();
    const contracts = { token: freshAddress(), escrow: freshAddress(), perks: freshAddress(), pointsSale };
    const chain = { chainId: 42, genesisHash: freshHash(), deploymentBlock: 0, contracts };
    await writeFact(ledger.database.db, 'chain', chain);
    const told = await fundBrand(ledger, domain, wish);
    if ('refusal' in told) throw new Error('refused');
    const { key } = told;
    expect(told).toEqual({
      key,
      brandId,
      ...wish,
      state: 'waiting',
      transaction: {
        chainId: 42,
        to: pointsSale,
        data: saleMintData({ kind: 'escrow', key, recipient: brandId, amount: 50 }),
      },
    });
    const createdAt = ledger.clock.now();
    expect(await mints()).toMatchObject([{ key, recipient: brandId, ...wish, kind: 'escrow', createdAt }]);

    const asked: string[] = [];
    const shown = { status: 'included', outcome: 'done', failure: null, blockNumber: 1 } as const;
    const minted = { hash: freshHash(), ...shown };
    const lane = {
      nudge: () => void asked.push('nudge'),
      waitForOperator: async (wait: { key: `0x${string}` }) => ({ ...minted, key: wait.key }),
    };
    const done = await fundBrand({ ...ledger, mints: lane }, domain, wish);
    expect(done).toMatchObject({ brandId, ...wish, state: 'deposited', transaction: null });
    expect(asked).toEqual(['nudge']);
    expect(await mints()).toHaveLength(2);
  });

  test('that was minted past the sale is recorded once, by its transaction', async () => {
    const { brandId } = await someBrand(ledger);
    const transaction = `0x${'AB'.repeat(32)}` as const;
    const key = transaction.toLowerCase();
    expect(await fundBrand(ledger, brandId, { ...wish, transaction })).toEqual({
      key,
      brandId,
      ...wish,
      state: 'recorded',
      transaction: null,
    });
    expect(await mints()).toContainEqual(
      expect.objectContaining({ key, recipient: brandId, kind: 'direct' }),
    );
    expect(await fundBrand(ledger, brandId, { ...wish, transaction })).toEqual(
      invalid(['transaction', `${key} is recorded already`]),
    );
    expect(await fundBrand(ledger, 'nobody.example', wish)).toEqual(notFound('nobody.example'));
  });
});
