/** The contract against brands as production has them: what works with their keys, and what callers without them get. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFixture, packagedFixture } from '../../src/emulator/fixture/fixture.ts';
import { brandSpec, rowsOf } from '../../src/rules/brands/spec.ts';
import { startRelayKit } from '../kits/chain/wallet.ts';
import { databaseKinds, freshAddress, type TestDatabase } from '../kits/databases/databases.ts';
import { type Answer, someone } from '../kits/service/service.ts';
import { API, bearer } from './kit.ts';

const path = packagedFixture('production-like');
const fixture = await loadFixture([path]);
const [coffee, books] = fixture.brands.map(({ brand, apiKey = '' }) => ({
  brandId: brand.brandId,
  domain: brand.profile.domains[0] ?? '',
  apiKey,
}));
if (!coffee || !books) throw new Error('the fixture has two brands');

const said = ({ status, body }: Pick<Answer, 'status' | 'body'>) =>
  status === 200 ? body.rewardAmount : `${status} ${body.details?.reason ?? body.code}`;

test('the fixture believes no caller without a key, as far as a setting can say so, and limits everything', () => {
  for (const { brand, rules } of fixture.brands) {
    const settings: Record<string, unknown> = brand.profile;
    for (const [name, row] of rowsOf(brandSpec)) {
      const strictest =
        row.kind === 'choice' && row.of.find((one) => one === 'refuse' || one === 'credential');
      if (strictest && name !== 'clientEvents')
        expect([name, settings[name]]).toEqual([name, row.of.includes('refuse') ? 'refuse' : 'credential']);
    }
    for (const name of ['gasBudget', 'spendPerHour', 'spendPerDay'])
      expect(settings[name]).toBeGreaterThan(0);
    for (const { cooldownMs } of rules) expect(cooldownMs).toBeGreaterThan(0);
  }
});

describe.each(databaseKinds)('brands as production has them, on $kind', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startRelayKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startRelayKit({ databaseUrl: database.databaseUrl, seedFiles: [path] });
  });
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });
  const send = async (of: typeof coffee, fields: Record<string, unknown>, headers?: Record<string, string>) =>
    said(
      await kit.post(
        `${API}/manual-event`,
        { brandId: of.brandId, domain: of.domain, userEmail: someone(), ...fields },
        headers,
      ),
    );
  const own = bearer(coffee);

  test('events: with the key; once; again after the cooldown; never too often', async () => {
    const event = { userEmail: someone(), eventType: 'complete_survey' };
    expect(await send(coffee, event)).toBe('403 brand_key_required');
    expect(await send(coffee, event, bearer(books))).toBe('403 brand_key_required');
    expect(await send(coffee, event, own)).toBe(75);
    expect(await send(coffee, event, own)).toBe('409 duplicate');
    await kit.advance('61s');
    expect(await send(coffee, event, own)).toBe('429 cooldown');
    expect(await send(coffee, { ...event, metadata: { skip_cooldown: true } }, own)).toBe(75);
    await kit.advance('7d');
    expect(await send(coffee, event, own)).toBe('429 max_claims_reached');
  });

  test('pages: events without a key, from their own domain only, and nothing more on their word', async () => {
    const signup = { eventType: 'newsletter_signup' };
    expect(await send(books, signup)).toBe(10);
    expect(await send(books, signup, { origin: `https://www.${books.domain}` })).toBe(10);
    for (const domain of [coffee.domain, 'mall.example', 'lantern.mall.example.evil.example'])
      expect(await send(books, { ...signup, domain })).toBe('403 domain_not_authorized');
    expect(await send(books, signup, { origin: `https://${coffee.domain}` })).toBe(
      '403 domain_not_authorized',
    );
    expect(await send(books, { ...signup, domain: undefined })).toBe('403 domain_not_authorized');
    const byAddress = { userEmail: undefined, userIdentifier: freshAddress() };
    expect(await send(books, { ...signup, ...byAddress })).toBe('403 brand_key_required');
    expect(await send(books, { ...signup, ...byAddress }, bearer(books))).toBe(10);
    const order = { eventType: 'purchase', metadata: { order_total: 1e9 } };
    expect(await send(books, order)).toBe(5);
    expect(await send(books, order, bearer(books))).toBe(50);
    const review = { eventType: 'review_submission', userEmail: someone() };
    expect(await send(books, review)).toBe(20);
    await kit.advance('61s');
    expect(await send(books, { ...review, metadata: { skip_cooldown: true } })).toBe('429 cooldown');
    expect(await send(books, { ...review, metadata: { source: 'voice_claim' } })).toBe('429 cooldown');
  });

  test('bulk-events: each event by the key of its own brand', async () => {
    const item = (of: typeof coffee, eventType: string) => ({
      brandId: of.brandId,
      domain: of.domain,
      userEmail: someone(),
      eventType,
    });
    const events = [item(coffee, 'custom_table_booked'), item(books, 'newsletter_signup')];
    const bulk = async (headers?: Record<string, string>) => {
      const fresh = events.map((event) => ({ ...event, userEmail: someone() }));
      return (await kit.post(`${API}/bulk-events`, { events: fresh }, headers)).body.results.map(
        ({ status }: { status: unknown }) => status,
      );
    };
    expect(await bulk(own)).toEqual(['rewarded', 'rewarded']);
    expect(await bulk()).toEqual(['brand_key_required', 'rewarded']);
  });

  test('a crowd of anonymous events stops at the spend limit of the hour; the neighbour pays on', async () => {
    await kit.advance('1h');
    const crowd = Array.from({ length: 30 }, () => send(books, { eventType: 'newsletter_signup' }));
    const answers = await Promise.all(crowd);
    expect(answers.filter((answer) => answer === 10)).toHaveLength(20);
    expect(new Set(answers)).toEqual(new Set([10, '429 spend_limit']));
    expect(await send(coffee, { eventType: 'account_creation' }, own)).toBe(100);
    await kit.advance('1h');
    expect(await send(books, { eventType: 'newsletter_signup' })).toBe(10);
  });

  test('wallets before the first reward: with the key', async () => {
    const wish = (brand_id: string) => ({
      brand_id,
      oauth_provider: 'discord',
      oauth_username: 'dora',
      oauth_user_id: '80351110224678912',
    });
    const ask = (headers?: Record<string, string>) =>
      kit.post(`${API}/pregenerate-user`, wish(coffee.brandId), headers);
    expect((await ask()).status).toBe(401);
    const { status, body } = await ask(own);
    expect([status, body.wallet_address]).toEqual([200, expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)]);
  });

  test('calls without gas: for users with a token, from a page of the brand', async () => {
    // The clock was moved by more than a token lives.
    const alice = await kit.keyless(kit.users.alice.email);
    const origin = `https://${coffee.domain}`;
    const bought = await kit.relay(alice, kit.purchase(alice.address), { origin });
    expect([bought.status, bought.body.status]).toEqual([200, 'confirmed']);
    const anonymous = await kit.send(
      { userAddress: alice.address, ...kit.purchase(alice.address) },
      { origin },
    );
    expect([anonymous.status, anonymous.body.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});
