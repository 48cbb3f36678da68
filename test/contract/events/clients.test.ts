/** What clients of other authors send and read: names of events, platforms, lists that are always there. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, bearer, onEachDatabase, shop } from '../kit.ts';

const SERVER = '112233445566778899';

onEachDatabase('clients of other authors', (get) => {
  const set = (settings: Record<string, unknown>) =>
    get().request(`${get().ready.urls.control}/brands/${shop.brandId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${get().ready.controlToken}` },
      body: JSON.stringify(settings),
    });
  const config = async () =>
    (await get().request(`${API}/event-config?brandId=${shop.brandId}`)).body.events as Record<
      string,
      unknown
    >[];

  test('event-config has lists of patterns and selectors for every event', async () => {
    const events = await config();
    expect(events.length).toBeGreaterThan(2);
    for (const event of events) {
      expect(event.detectionConfig).toMatchObject({
        urlPatterns: expect.any(Array),
        successSelectors: expect.any(Array),
      });
    }
  });

  test('a name of the brand is in event-config, and is taken for its event', async () => {
    expect((await set({ eventNameMapping: { welcome: 'once', 'sign-up': 'once' } })).status).toBe(200);
    const names = new Map((await config()).map((event) => [event.eventType, event.eventNameMapping]));
    expect([names.get('once'), names.get('twice')]).toEqual([
      expect.stringMatching(/welcome|sign-up/),
      'twice',
    ]);

    const userEmail = someone();
    const first = await get().send(shop, { eventType: 'welcome', userEmail });
    expect([first.status, first.body.eventType]).toEqual([200, 'once']);
    expect((await get().send(shop, { eventType: 'once', userEmail })).status).toBe(409);
    const [again] = (await get().bulk([{ ...shop, eventType: 'welcome', userEmail }])).body.results;
    expect([again.status, again.statusCode]).toEqual(['duplicate', 409]);
    const { explained } = await get().explain(first);
    expect(JSON.stringify(explained)).toContain('once');
    expect((await get().send(shop, { eventType: 'farewell', userEmail })).status).toBe(400);
  });

  test('both names of one event in one round are one claim', async () => {
    await set({ eventNameMapping: { welcome: 'once' } });
    const userEmail = someone();
    const both = ['welcome', 'once', 'welcome'].map((eventType) => ({ ...shop, eventType, userEmail }));
    expect((await get().bulk(both)).body.processed).toBe(1);
  });

  test.each([
    ['its server in metadata.server_id', { domain: 'discord', metadata: { server_id: SERVER } }, 200],
    ['its server in metadata.guild_id', { domain: undefined, metadata: { guild_id: SERVER } }, 200],
    [
      'a name below our domain',
      { domain: 'discord.rewards.localhost', metadata: { server_id: SERVER } },
      200,
    ],
    ['another server', { domain: 'discord', metadata: { server_id: '1' } }, 403],
    ['another platform', { domain: 'telegram.rewards.localhost', metadata: { server_id: SERVER } }, 403],
    ['the platform at a stranger', { domain: 'discord.evil.example', metadata: { server_id: SERVER } }, 403],
    ['a handle at the top level', { domain: undefined, twitterHandle: '@Shop' }, 200],
    ['X is Twitter', { domain: 'x', twitterHandle: 'shop' }, 200],
    ['a bot at the top level', { domain: undefined, bot_username: 'ShopBot' }, 200],
    [
      'metadata takes precedence',
      { domain: undefined, twitterHandle: '@shop', metadata: { twitterHandle: 'not' } },
      403,
    ],
    ['a handle that is not a text', { domain: undefined, twitterHandle: 5 }, 403],
  ] as const)('an event of a platform, %s: %j is %i', async (_, fields, status) => {
    await set({ platforms: { discord: SERVER, twitter: '@shop', telegram: '@ShopBot' } });
    const answer = await get().send(shop, { ...fields, userEmail: someone() });
    expect([answer.status, answer.body.details?.errors]).toEqual([status, undefined]);
  });

  test.each([
    ['slack', 'U024BE7LH'],
    ['whatsapp', '4915112345@c.us'],
    ['X', '44196397'],
    ['email', 'Carol@people.example'],
  ])('a user of %s has the same wallet by event and by registration', async (platform, platformUserId) => {
    const event = await get().send(shop, { userIdentifier: { platform, platformUserId } }, bearer(shop));
    expect(event.status).toBe(200);
    const made = await get().post(`${API}/pregenerate-user`, {
      brand_id: shop.brandId,
      oauth_provider: platform,
      oauth_user_id: platformUserId,
    });
    expect([made.status, made.body.wallet_address]).toEqual([200, event.body.walletAddress]);
    expect(made.body.created_new).toBe(false);
  });

  test('all that is wrong is said at once, and what is missing is called that', async () => {
    const empty = await get().post(`${API}/manual-event`, {});
    expect(empty.body.details.errors).toEqual([
      'brandId: is required',
      'eventType: is required',
      'userEmail: is required (or userIdentifier in its place)',
    ]);
    const half = await get().post(`${API}/manual-event`, { brandId: 'x', eventType: null, domain: 7 });
    expect(half.body.details.errors).toEqual([
      'brandId: must be an address: 0x and 40 hex digits',
      'eventType: is required',
      'domain: must be a string',
      'userEmail: is required (or userIdentifier in its place)',
    ]);
    expect((await get().request(`${API}/event-config`)).body.details.errors).toEqual([
      'brandId: is required',
    ]);
    expect((await get().post(`${API}/verify-dns`, {})).body.details.errors).toEqual(['domain: is required']);
  });

  test('a host with an underscore is a subdomain as any other; a public suffix is never verified', async () => {
    const domain = `my_shop.${shop.domain}`;
    const origin = `https://${domain}`;
    const answer = await get().send(
      shop,
      { domain, sourceUrl: `${origin}/thanks`, userEmail: someone() },
      { origin },
    );
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const suffix = await get().post(`${API}/verify-dns`, { domain: 'my_shop.kawasaki.jp' });
    expect([suffix.status, suffix.body.details.errors]).toEqual([400, ['domain: must be a valid domain']]);
  });

  test('addresses have their checksum, and brandId is lower case', async () => {
    const mixed = '0x52908400098527886E0F7030069857D2E4169EE7';
    const answer = await get().send(
      shop,
      { userIdentifier: mixed.toLowerCase(), brandId: shop.brandId },
      bearer(shop),
    );
    expect(answer.body).toMatchObject({
      walletAddress: mixed,
      reward: { walletAddress: mixed },
      brandId: shop.brandId,
    });
    const query = `brandId=${shop.brandId}&userIdentifier=${mixed.toLowerCase()}`;
    expect((await get().request(`${API}/user-balance?${query}`)).body.walletAddress).toBe(mixed);
  });

  test('a limit that is used up has no Retry-After and says that waiting does not help; a cooldown has one, replayed as well', async () => {
    const userEmail = someone();
    const key = { 'idempotency-key': `limits-${userEmail}` };
    for (let claim = 0; claim < 2; claim++) {
      expect((await get().send(shop, { eventType: 'twice', userEmail })).status).toBe(200);
      await get().advance('61s');
    }
    for (let round = 0; round < 2; round++) {
      const refused = await get().send(shop, { eventType: 'twice', userEmail }, key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
      expect(refused.body.details).toMatchObject({ reason: 'max_claims_reached', retryable: false });
    }
    expect((await get().send(shop, { eventType: 'once', userEmail })).status).toBe(200);
    await get().advance('61s');
    for (let round = 0; round < 2; round++) {
      const cooling = await get().send(
        shop,
        { eventType: 'once', userEmail },
        { 'idempotency-key': `cooling-${userEmail}` },
      );
      expect([cooling.status, cooling.headers.get('retry-after')]).toEqual([
        429,
        String(cooling.body.details.remainingSeconds),
      ]);
    }
  });

  test('a channel that is refused is shown in 64 characters', async () => {
    const channel_id = 'x'.repeat(5_000);
    const refused = await get().send(shop, { eventType: 'custom_chat', channel_id, userEmail: someone() });
    expect(refused.status).toBe(403);
    expect(refused.body.details.channel).toBe(`${'x'.repeat(63)}…`);
    expect(JSON.stringify(refused.body).length).toBeLessThan(500);
  });
});
