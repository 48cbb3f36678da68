/** Contract: Pregenerated wallet, and Limits: pregenerate-user. */
import { describe, expect, test, vi } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { type Brand, bearer, expectBothForms, onEachDatabase, open, shop } from '../kit.ts';

vi.setConfig({ testTimeout: 60_000 });

const PATH = '/rewards-api/pregenerate-user';
let snowflakes = 100_000_000_000_000_000n + BigInt(process.pid) * 1_000_000n;
const account = (id = String(++snowflakes)) => ({
  oauth_provider: 'discord',
  oauth_user_id: id,
  oauth_username: `user-${id}`,
});

onEachDatabase('pregenerate-user', (get) => {
  const pregenerate = (of: Brand, fields: Record<string, unknown>, headers?: Record<string, string>) =>
    get().post(`${get().ready.urls.register}${PATH}`, { brand_id: of.brandId, ...fields }, headers);
  const freshMinute = () => get().advance('61s');

  test('the documented example: a wallet, true once, the same ever after', async () => {
    await freshMinute();
    const who = account();
    const first = await pregenerate(shop, who);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      success: true,
      wallet_address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      idp_user_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      created_new: true,
      message: expect.stringMatching(/./),
    });
    const { wallet_address, idp_user_id } = first.body;
    const again = [
      await pregenerate(shop, who),
      await pregenerate(open, who),
      await pregenerate(open, { ...who, oauth_username: 'renamed', oauth_provider: 'DISCORD' }),
    ];
    for (const { status, body } of again) {
      expect([status, body]).toMatchObject([200, { wallet_address, idp_user_id, created_new: false }]);
    }
    // The same digits on another platform are somebody else.
    const elsewhere = await pregenerate(shop, { ...who, oauth_provider: 'twitter' });
    expect(elsewhere.body).toMatchObject({ created_new: true });
    expect(elsewhere.body.wallet_address).not.toBe(wallet_address);
    expect(elsewhere.body.idp_user_id).not.toBe(idp_user_id);
  });

  test('a user who has an alias has the one wallet at that brand, before and after they had another', async () => {
    await freshMinute();
    const link = (id: string, user: string) =>
      get().control(`/brands/${shop.brandId}/aliases`, { alias: `discord_${id}@rewards.localhost`, user });
    const [early, late, user] = [account(), account(), someone()];
    const own = await pregenerate(shop, late);
    expect((await link(early.oauth_user_id, user)).status).toBe(201);
    const first = await pregenerate(shop, early);
    expect(first.body.created_new).toBe(true);
    expect((await link(late.oauth_user_id, user)).status).toBe(201);
    for (const who of [early, late]) {
      const { body } = await pregenerate(shop, who);
      expect(body).toMatchObject({ created_new: false, wallet_address: first.body.wallet_address });
    }
    const rewarded = await get().send(shop, { userEmail: user });
    expect(rewarded.body.walletAddress).toBe(first.body.wallet_address);
    // The alias is of one brand: at another the account has the wallet of its own.
    const elsewhere = await pregenerate(open, late);
    expect(elsewhere.body).toMatchObject({ created_new: false, wallet_address: own.body.wallet_address });
  });

  test('later rewards of that user go to that wallet', async () => {
    await freshMinute();
    const who = account();
    const { wallet_address } = (await pregenerate(open, who)).body;
    const reward = await get().send(open, {
      userIdentifier: { platform: 'discord', platformUserId: who.oauth_user_id },
    });
    expect([reward.status, reward.body]).toMatchObject([
      200,
      { walletAddress: wallet_address, walletCreated: false },
    ]);
    expect(await get().balanceOf(wallet_address)).toBe(BigInt(reward.body.rewardAmount));
  });

  test('a user who has a wallet from a reward keeps it, and does not count', async () => {
    await freshMinute();
    const who = account();
    const user = { platform: 'discord', platformUserId: who.oauth_user_id };
    const { walletAddress } = (await get().send(open, { userIdentifier: user })).body;
    const answers = [await pregenerate(open, who), await pregenerate(open, who)];
    for (const { body, headers } of answers) {
      expect(body).toMatchObject({ wallet_address: walletAddress, created_new: false });
      expect(headers.get('x-ratelimit-limit')).toBeNull();
    }
    expect(answers[1]?.body.idp_user_id).toBe(answers[0]?.body.idp_user_id);
  });

  test('by e-mail: the wallet of that e-mail', async () => {
    await freshMinute();
    const email = `Person-${++snowflakes}@People.example`;
    const first = await pregenerate(open, { email });
    expect(first.body).toMatchObject({ success: true, created_new: true });
    const again = await pregenerate(shop, { email: email.toLowerCase() });
    expect(again.body).toMatchObject({
      wallet_address: first.body.wallet_address,
      idp_user_id: first.body.idp_user_id,
      created_new: false,
    });
    const reward = await get().send(open, { userEmail: email });
    expect(reward.body).toMatchObject({ walletAddress: first.body.wallet_address, walletCreated: false });
  });

  test.each([
    [{}, 'Missing required fields', { missing: ['oauth_provider', 'oauth_user_id'] }],
    [{ ...account(), brand_id: null }, 'Missing required fields', { missing: ['brand_id'] }],
    [{ ...account(), brand_id: '0x12' }, 'Invalid brand ID', {}],
    [{ ...account(), oauth_provider: 'myspace' }, 'Invalid OAuth provider', { provider: 'myspace' }],
    [account('1234567890123456'), 'Invalid discord user ID', { provider: 'discord' }],
    [account('123456789012345678901'), 'Invalid discord user ID', { provider: 'discord' }],
    [{ ...account('x'), oauth_provider: 'telegram' }, 'Invalid telegram user ID', { provider: 'telegram' }],
    [{ ...account(), oauth_username: 'x'.repeat(101) }, 'Invalid OAuth username', {}],
    [{ email: 'nobody' }, 'Invalid email', {}],
    [{ ...account(), email: 'a@b.example' }, 'Invalid request', {}],
    [
      { ...account(), brand_id: `0x${'9'.repeat(40)}` },
      `Brand not found: 0x${'9'.repeat(40)}`,
      { errors: [`Brand not found: 0x${'9'.repeat(40)}`] },
    ],
  ])('%j is refused with 400', async (fields, error, details) => {
    const answer = await pregenerate(open, fields);
    expect([answer.status, answer.body]).toMatchObject([400, { success: false, error, details }]);
    expectBothForms(answer);
  });

  test.each(['', '[]', '"x"', 'null', '{', '{"__proto__":{}}', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`])(
    'a body %j is refused with 400',
    async (body) => {
      const answer = await get().post(PATH, body);
      expect([answer.status, answer.body.error]).toEqual([400, 'Invalid request']);
      expectBothForms(answer);
    },
  );

  test('a body above 10 KB is refused with 413; another method with 405', async () => {
    const large = await pregenerate(open, { ...account(), more: 'x'.repeat(11_000) });
    expect([large.status, large.body.error]).toEqual([413, 'Payload too large']);
    const got = await get().request(PATH);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    for (const answer of [large, got]) expectBothForms(answer);
  });

  test('where the brand says so, its key is needed', async () => {
    await freshMinute();
    const set = (pregenerate: string) =>
      get().request(`${get().ready.urls.control}/brands/${shop.brandId}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${get().ready.controlToken}` },
        body: JSON.stringify({ pregenerate }),
      });
    expect((await set('credential')).body).toMatchObject({ pregenerate: 'credential' });
    const who = account();
    const refused = [
      await pregenerate(shop, who),
      await pregenerate(shop, who, bearer(open)),
      await pregenerate(shop, who, { authorization: 'Bearer nonsense' }),
    ];
    for (const answer of refused) {
      expect([answer.status, answer.body.error]).toEqual([401, 'Unauthorized']);
      expectBothForms(answer);
    }
    expect((await pregenerate(shop, who, bearer(shop))).body).toMatchObject({ created_new: true });
    expect((await pregenerate(shop, who)).status).toBe(401);
    expect((await pregenerate(open, who)).body).toMatchObject({ created_new: false });
    await set('open');
  });

  test('of 500 calls for one identity at once, one makes the wallet', async () => {
    await freshMinute();
    const who = account();
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        pregenerate(n % 2 ? shop : open, { ...who, oauth_username: `name ${n}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.wallet_address)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.idp_user_id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.created_new)).toHaveLength(1);
    // And only one was counted.
    const next = await pregenerate(open, account());
    const [made] = answers.filter(({ body }) => body.created_new);
    const left = [made, next].map((answer) => Number(answer?.headers.get('x-ratelimit-remaining')));
    expect(left[1]).toBeGreaterThanOrEqual(98);
  });

  test('a reward and a registration at the same moment give one wallet, made by one of them', async () => {
    await freshMinute();
    for (let round = 0; round < 10; round++) {
      const who = account();
      const user = { platform: 'discord', platformUserId: who.oauth_user_id };
      const [registered, rewarded, again] = await Promise.all([
        pregenerate(open, who),
        get().send(open, { userIdentifier: user }),
        pregenerate(shop, who),
      ]);
      const wallets = [registered, again].map(({ body }) => body.wallet_address);
      expect(new Set([...wallets, rewarded.body.walletAddress]).size).toBe(1);
      const makers = [registered.body.created_new, again.body.created_new, rewarded.body.walletCreated];
      expect(makers.filter(Boolean)).toHaveLength(1);
    }
  });

  test('of 150 new identities at once exactly 100 get a wallet; after a minute the rest do', async () => {
    await freshMinute();
    // A user whose wallet came with a reward, and who never was pregenerated.
    const userEmail = someone();
    const earned = await get().send(open, { userEmail });
    const crowd = Array.from({ length: 150 }, () => account());
    const startedAt = Date.parse((await get().request(`${get().ready.urls.control}/clock`)).body.now);
    const answers = await Promise.all(crowd.map((who) => pregenerate(open, who)));
    const made = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([made.length, refused.length]).toEqual([100, 50]);
    expect(new Set(made.map(({ body }) => body.wallet_address)).size).toBe(100);
    const reset = String(Math.ceil((startedAt + 60_000) / 1_000));
    for (const answer of refused) {
      expectBothForms(answer);
      expect(answer.body).toMatchObject({
        error: 'Rate limit exceeded',
        details: { reason: 'rate_limit_exceeded', limit: 100, remainingSeconds: 60 },
      });
      expect(limitHeaders(answer)).toEqual(['100', '0', reset]);
      expect(answer.headers.get('retry-after')).toBe('60');
    }
    const counted = made.map((answer) => Number(answer.headers.get('x-ratelimit-remaining')));
    expect(counted.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(new Set(made.map((answer) => limitHeaders(answer)[2]))).toEqual(new Set([reset]));

    // Who has a wallet is answered all the same, and another brand has a limit of its own.
    const again = await Promise.all(crowd.map((who) => pregenerate(open, who)));
    expect(again.filter(({ status, body }) => status === 200 && !body.created_new)).toHaveLength(100);
    expect((await pregenerate(shop, account())).body.created_new).toBe(true);
    const known = await pregenerate(open, { email: userEmail });
    expect([known.status, known.body.wallet_address]).toEqual([200, earned.body.walletAddress]);
    // Strangers have not used up what the brand's own servers may ask for.
    const own = await pregenerate(open, account(), bearer(open));
    expect([own.status, own.body.created_new, limitHeaders(own)[1]]).toEqual([200, true, '99']);

    await get().advance('59s');
    expect((await pregenerate(open, account())).status).toBe(429);
    await get().advance('1s');
    const later = await Promise.all(crowd.map((who) => pregenerate(open, who)));
    expect(later.filter(({ status }) => status === 200)).toHaveLength(150);
    expect(later.filter(({ body }) => body.created_new)).toHaveLength(50);
    const wallets = new Set(later.map(({ body }) => body.wallet_address));
    expect(wallets.size).toBe(150);
    for (const { body } of made) expect(wallets).toContain(body.wallet_address);
  });

  describe('pages', () => {
    test('of a brand may read the answer, others may not', async () => {
      const allowed = await pregenerate(open, account(), { origin: `https://www.${open.domain}` });
      expect(allowed.headers.get('access-control-allow-origin')).toBe(`https://www.${open.domain}`);
      const foreign = await pregenerate(open, account(), { origin: 'https://elsewhere.example' });
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
      expect([foreign.status, foreign.body.details.reason]).toEqual([403, 'origin_not_allowed']);
      expectBothForms(foreign);
      const withKey = { origin: 'https://elsewhere.example', ...bearer(open) };
      expect((await pregenerate(open, account(), withKey)).status).toBe(200);
      expect(foreign.headers.get('vary')).toContain('Origin');
    });
    test('OPTIONS is answered', async () => {
      const answer = await get().request(PATH, {
        method: 'OPTIONS',
        headers: { origin: `https://${open.domain}`, 'access-control-request-method': 'POST' },
      });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
      expect(answer.headers.get('access-control-allow-headers')).toBe('Content-Type, Authorization');
    });
  });
});

const limitHeaders = ({ headers }: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
