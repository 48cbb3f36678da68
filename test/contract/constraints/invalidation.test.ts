/** contract: POST /constraint-updater/invalidate-external-api, and invalidation by transfers of RWT. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { API_KEY, OTHER_KEY, perk, startConstraintsKit } from './kit.ts';

describe.each(databaseKinds)('invalidation of kept results (on $kind)', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startConstraintsKit(database);
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });
  beforeEach(async () => {
    await kit.advance('2h');
    kit.asked();
  });

  const invalidate = (body: unknown, key: string | undefined = API_KEY) =>
    kit.post(
      '/constraint-updater/invalidate-external-api',
      body,
      key ? { authorization: `Bearer ${key}` } : {},
    );
  const bought = async (...of: [keyof typeof kit.users, bigint][]) => {
    for (const [name, token] of of) expect((await kit.buy(kit.users[name], token)).status).toBe(200);
  };
  const all: [keyof typeof kit.users, bigint][] = [
    ['alice', perk.asks],
    ['alice', perk.asksLonger],
    ['bob', perk.asks],
    ['carol', perk.asks],
  ];

  test('of a URL: the count is right, and the next check asks again', async () => {
    await bought(...all);
    expect(kit.asked()).toBe(4);
    const { status, body } = await invalidate({ api_url: kit.url });
    expect([status, body]).toEqual([
      200,
      { success: true, message: 'Invalidated 4 results', invalidated_count: 4 },
    ]);
    await bought(...all);
    expect(kit.asked()).toBe(4);
  });

  test('of a user, of a perk, and of both', async () => {
    await bought(...all);
    const { alice } = kit.users;
    const count = async (of: Record<string, unknown>) =>
      (await invalidate({ api_url: kit.url, ...of })).body.invalidated_count;
    expect(await count({ user_address: alice.address, collection_id: Number(perk.asksLonger) })).toBe(1);
    expect(await count({ user_address: alice.account.address })).toBe(1);
    expect(await count({ collection_id: String(perk.asks) })).toBe(2);
    expect(await count({})).toBe(0);
    kit.asked();
    await bought(['alice', perk.asks]);
    expect(kit.asked()).toBe(1);
  });

  test('however the URL is spelled; another URL has results of its own', async () => {
    await bought(['alice', perk.asks], ['alice', perk.elsewhere]);
    const spelled = kit.url.replace('http://', 'HTTP://').replace('/eligible', '/a/../eligible');
    expect((await invalidate({ api_url: spelled })).body.invalidated_count).toBe(1);
    expect((await invalidate({ api_url: `${kit.url}/elsewhere` })).body.invalidated_count).toBe(1);
  });

  test('an expired result does not count', async () => {
    await bought(['alice', perk.asks], ['alice', perk.asksLonger]);
    await kit.advance('61s');
    expect((await invalidate({ api_url: kit.url })).body.invalidated_count).toBe(1);
  });

  test("another brand's key invalidates nothing of this brand's", async () => {
    await bought(['alice', perk.asks]);
    expect((await invalidate({ api_url: kit.url }, OTHER_KEY)).body.invalidated_count).toBe(0);
    kit.asked();
    await bought(['alice', perk.asks]);
    expect(kit.asked()).toBe(0);
  });

  test('an answer that was under way serves those who wait and is not kept', async () => {
    let release = () => {};
    kit.says.hold = new Promise((resolve) => {
      release = resolve;
    });
    const waiting = kit.buy(kit.users.alice, perk.asksLonger);
    await expect.poll(() => kit.brandServer.received.length).toBe(1);
    expect((await invalidate({ api_url: kit.url })).body.invalidated_count).toBe(0);
    // Who asks after the invalidation does not get the answer to a question from before it.
    const after = kit.buy(kit.users.alice, perk.asksLonger);
    await expect.poll(() => kit.brandServer.received.length).toBe(2);
    release();
    kit.says.hold = Promise.resolve();
    expect([(await waiting).status, (await after).status]).toEqual([200, 200]);
    expect(kit.asked()).toBe(2);
    await bought(['alice', perk.asksLonger]);
    expect(kit.asked()).toBe(0);
  });

  test.each<[string, string | undefined]>([
    ['without a key', ''],
    ['with a key that is none', 'abc'],
    ['with a key of nobody', `${API_KEY}9`],
  ])('%s: 401', async (_, key) => {
    const { status, body, headers } = await invalidate({ api_url: kit.url }, key);
    expect([status, body.success, body.error]).toEqual([401, false, 'Unauthorized']);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each<[unknown, string]>([
    [{}, 'Missing required field: api_url'],
    [{ api_url: null }, 'Missing required field: api_url'],
    [{ api_url: '', user_address: '0x1' }, 'Missing required field: api_url'],
    [{ api_url: 'elsewhere' }, 'Invalid request'],
    [{ api_url: 7 }, 'Invalid request'],
    [{ api_url: 'https://user:secret@api.example/' }, 'Invalid request'],
    [{ api_url: `https://api.example/${'x'.repeat(1_024)}` }, 'Invalid request'],
    [{ api_url: 'https://api.example/', user_address: 'alice' }, 'Invalid request'],
    [{ api_url: 'https://api.example/', collection_id: -1 }, 'Invalid request'],
    [{ api_url: 'https://api.example/', collection_id: 1.5 }, 'Invalid request'],
    [{ api_url: 'https://api.example/', collection_id: 'x' }, 'Invalid request'],
    [[], 'Invalid request'],
  ])('%j: 400', async (sent, error) => {
    const { status, body } = await invalidate(sent);
    expect([status, body.success, body.error]).toEqual([400, false, error]);
    expect(body.details.errors).toEqual([expect.any(String)]);
  });

  test('a transfer of RWT invalidates the results of its two wallets at once, and of no other', async () => {
    await bought(['alice', perk.asksLonger], ['bob', perk.asksLonger], ['carol', perk.asksLonger]);
    const { alice, bob } = kit.users;
    const paid = await kit.event({ userEmail: alice.email });
    expect(paid.body.status).toBe('rewarded');
    kit.asked();
    await bought(['bob', perk.asksLonger], ['carol', perk.asksLonger]);
    expect(kit.asked()).toBe(0);
    await bought(['alice', perk.asksLonger]);
    expect(kit.asked()).toBe(1);
    expect((await kit.relay(alice, await kit.transfer(alice, bob.address))).status).toBe(200);
    await bought(['carol', perk.asksLonger]);
    expect(kit.asked()).toBe(0);
    await bought(['alice', perk.asksLonger], ['bob', perk.asksLonger]);
    expect(kit.asked()).toBe(2);
  });
});
