/** What users with a token, and nothing else, try with other people's gas. */
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { brandDomains } from '../../../src/ledger/schema/brands.ts';
import { gasMaxOf } from '../../../src/rules/relay-policy.ts';
import { databaseKinds } from '../../kits/databases.ts';
import { type RelayKit, startRelayKit } from '../../kits/wallet.ts';
import { readLedger } from '../../reliability/processes/ledger-reader.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 30_000);

/**
 * A wallet with code that burns the gas of the call it is told of: it loops while more than 20,480 gas are left, then
 * answers as an ERC-1155 receiver must.
 */
const BURNER = '0x5b5a6150001060005763f23a6e6160e01b60005260206000f3';
const ORIGIN = { origin: 'https://demo.example' };

describe.each(databaseKinds)("other people's gas (on $kind)", ({ open }) => {
  const start = async (change: Parameters<typeof startRelayKit>[0] = {}) => {
    const database = await open();
    stops.push(database.stop);
    const kit = await startRelayKit({ databaseUrl: database.databaseUrl, ...change });
    stops.push(kit.stop);
    const ledger = readLedger({ dataDir: kit.ready.dataDir, databaseUrl: database.databaseUrl });
    stops.push(ledger.close);
    return { kit: { ...kit, databaseUrl: database.databaseUrl }, ledger };
  };
  const walletOf = async (kit: RelayKit): Promise<string> =>
    (await kit.request(`${kit.ready.urls.control}/brands/${kit.brand.brandId}`)).body.gasWallet.address;
  const reward = async (kit: RelayKit, userEmail: string) =>
    expect((await kit.event({ userEmail })).status).toBe(200);

  test('a made-up Origin spends no gas of that brand; of a brand that rewarded the user it does', async () => {
    const { kit, ledger } = await start();
    const { alice, bob } = kit.users;
    const payer = kit.brand.brandId;
    const brandWallet = await walletOf(kit);
    await reward(kit, alice.email);
    const known = await kit.relay(alice, await kit.transfer(alice, bob.address, 5n), ORIGIN);
    expect([known.status, known.body.from]).toEqual([200, brandWallet]);
    const spent = await ledger.gas({ payer });
    expect(spent).toBeGreaterThan(0);

    const stranger = await kit.relay(bob, await kit.transfer(bob, alice.address), ORIGIN);
    expect(stranger.status).toBe(200);
    expect(stranger.body.from).not.toBe(brandWallet);
    expect(await ledger.gas({ payer })).toBe(spent);
    expect(await ledger.gas({ payer: 'service' })).toBeGreaterThan(0);
    // A brand that does not know the page pays for nobody there either.
    const elsewhere = { origin: 'http://localhost' };
    expect((await kit.relay(alice, await kit.transfer(alice, bob.address), elsewhere)).body.from).not.toBe(
      brandWallet,
    );
  }, 60_000);

  test('a page below domains of two brands: the brand of the nearest domain pays, where it knows the user', async () => {
    const { kit, ledger } = await start();
    const { alice, bob } = kit.users;
    await reward(kit, alice.email);
    const origin = { origin: 'https://www.near.demo.example' };
    const pay = async () =>
      (await kit.relay(alice, await kit.transfer(alice, bob.address, 1n), origin)).status;
    expect(await pay()).toBe(200);
    const spent = await ledger.gas({ payer: kit.brand.brandId });
    expect(spent).toBeGreaterThan(0);
    // As ledgers have it from before such domains were refused.
    const url = kit.databaseUrl;
    const behind = url ? openPostgres(url) : openSqlite(join(kit.ready.dataDir, 'ledger.sqlite'));
    const brandId = `0x${'7'.repeat(40)}` as const;
    await behind.db.insert(brandDomains).values({ brandId, domain: 'near.demo.example', source: 'dns' });
    await behind.close();
    expect(await pay()).toBe(200);
    expect(await ledger.gas({ payer: kit.brand.brandId })).toBe(spent);
    expect(await ledger.gas({ payer: 'service' })).toBeGreaterThan(0);
  }, 60_000);

  test("a user whose wallet the brand asked for with its key is known to it; anybody's word is not", async () => {
    const { kit } = await start();
    const { alice, bob } = kit.users;
    const { brandId, apiKey } = kit.brand;
    await reward(kit, alice.email);
    expect((await kit.relay(alice, await kit.transfer(alice, bob.address, 9n))).status).toBe(200);
    const asked = { brand_id: brandId, email: bob.email };
    const path = `${kit.ready.urls.register}/rewards-api/pregenerate-user`;
    const payerOf = async () =>
      (await kit.relay(bob, await kit.transfer(bob, alice.address), ORIGIN)).body.from;
    expect((await kit.post(path, asked)).status).toBe(200);
    expect(await payerOf()).not.toBe(await walletOf(kit));
    expect((await kit.post(path, asked, { authorization: `Bearer ${apiKey}` })).status).toBe(200);
    expect(await payerOf()).toBe(await walletOf(kit));
  }, 60_000);

  test('calls that offer 1,000,000 gas do not lock others out of the budget', async () => {
    // Of 20 million gas at the kit's prices; a call takes less than 0.1.
    const { kit } = await start({ relay: { budgetGwei: 20_000_000 } });
    const { alice, bob } = kit.users;
    const greedy = () => kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 1_000_000 });
    const statuses = (await Promise.all(Array.from({ length: 30 }, greedy))).map(({ status }) => status);
    // Each reserves what it needs, and not more than the user's twentieth in all.
    expect(statuses).toContain(200);
    const refused = await greedy();
    if (refused.status !== 200) expect(refused.body.details.reason).toBe('gas_share');
    expect((await kit.relay(bob, kit.purchase(bob.address))).status).toBe(200);
    const { gas } = await kit.chain.getTransaction({
      hash: (await kit.relay(bob, { ...kit.purchase(bob.address), gasLimit: 1_000_000 })).body
        .transactionHash,
    });
    expect(gas).toBeLessThan(100_000n);
  }, 60_000);

  test("a user's share of the budget: at least one call, then 5 % of it", async () => {
    const { kit, ledger } = await start({ relay: { budgetGwei: 2_000_000 } });
    const { alice, bob } = kit.users;
    const buy = () => kit.relay(alice, kit.purchase(alice.address));
    expect((await buy()).status).toBe(200);
    const answers = [await buy(), await buy(), await buy()];
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body.code, refused?.body.details.reason]).toEqual([
      429,
      'GAS_BUDGET_EXCEEDED',
      'gas_share',
    ]);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const payer = kit.brand.brandId;
    const spent = await ledger.gas({ payer });
    expect(await ledger.gas({ payer, userAddress: alice.address })).toBe(spent);
    expect((await kit.relay(bob, kit.purchase(bob.address))).status).toBe(200);
    await kit.advance('25h');
    expect((await buy()).status).toBe(200);
  }, 60_000);

  test('a wallet with code that burns all gas it gets: not paid for, however much it offers', async () => {
    const { kit } = await start();
    const { alice } = kit.users;
    await kit.chain.request({ method: 'anvil_setCode', params: [alice.address, BURNER] } as never);
    const gasMax = gasMaxOf('perks', 'purchaseFor(address,uint256,uint256)');
    for (const gasLimit of [undefined, 1_000_000, gasMax]) {
      const { status, body } = await kit.relay(alice, { ...kit.purchase(alice.address), gasLimit });
      expect([status, body.code, body.details.reason]).toEqual([
        403,
        'VALIDATION_FAILED',
        'needs_too_much_gas',
      ]);
      expect(body.details.gasMax).toBe(gasMax);
    }
    const { body } = await kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 150_000 });
    expect(Number(body.gasUsed ?? 0)).toBeLessThanOrEqual(150_000);
  }, 60_000);

  test('transfers of nothing and to oneself are not paid for', async () => {
    const { kit } = await start();
    const { alice, bob } = kit.users;
    await reward(kit, alice.email);
    const nothing = await kit.relay(alice, await kit.transfer(alice, bob.address, 0n));
    expect([nothing.status, nothing.body.details.reason, nothing.body.details.because]).toEqual([
      403,
      'moves_nothing',
      'zero_amount',
    ]);
    const inCircles = await kit.relay(alice, await kit.transfer(alice, alice.address, 5n));
    expect([inCircles.status, inCircles.body.details.reason, inCircles.body.details.because]).toEqual([
      403,
      'moves_nothing',
      'to_self',
    ]);
  }, 60_000);
});
