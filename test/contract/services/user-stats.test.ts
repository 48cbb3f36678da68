/** GET user-stats, and what every endpoint of the services host has from its frame. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import {
  API,
  bearer,
  type ContractService,
  expectBothForms,
  onEachDatabase,
  open,
  shop,
  startContractService,
} from '../kit.ts';

const zeros = {
  success: true,
  balance: 0,
  lifetime: { earned: 0, spent: 0, claims: 0 },
  streak: { current: 0, longest: 0 },
  activity: { messages: 0, voiceMinutes: 0, reactions: 0 },
  rank: { server: 0, global: 0 },
};

onEachDatabase('user-stats', (get) => {
  const ask = (user: string, query = '', brandId = shop.brandId) =>
    get().request(`/user-stats/${brandId}/${encodeURIComponent(user)}${query}`);

  test('an unknown user has zeros', async () => {
    const { status, body } = await ask(someone());
    expect([status, body]).toEqual([200, zeros]);
  });

  test('what a user holds is of all brands, what they earned of the one that was asked for', async () => {
    const userEmail = someone();
    await get().send(shop, { userEmail });
    await get().send(shop, { userEmail, eventType: 'twice' });
    await get().send(open, { userEmail });
    const { body } = await ask(` ${userEmail.toUpperCase()} `);
    expect(body).toMatchObject({ balance: 30, lifetime: { earned: 20, spent: 0, claims: 2 } });
    expect((await ask(userEmail, '', shop.brandId.toUpperCase().replace('0X', '0x'))).body).toEqual(body);
    expect((await ask(userEmail, '', open.brandId)).body.lifetime).toEqual({
      earned: 10,
      spent: 0,
      claims: 1,
    });
  });

  test('messages, voice minutes and reactions are what clients reported of them', async () => {
    const user = someone();
    const report = async (fields: Record<string, unknown>) => {
      const body = { brandId: shop.brandId, userIdentifier: user, platform: 'discord', ...fields };
      return (await get().post('/leaderboard/update-stats', body, bearer(shop))).status;
    };
    const reports = [
      ...[
        { claimType: 'message' },
        { claimType: 'chat_message', count: 4 },
        { claimType: 'messages', count: 5 },
      ],
      ...[
        { claimType: 'voice', count: 15 },
        { claimType: 'Voice_Claim', count: 7 },
        { claimType: 'voice_minutes' },
      ],
      ...[
        { claimType: 'reaction' },
        { claimType: 'reactions', count: 0 },
        { claimType: 'quiz', count: 9 },
        {},
      ],
    ];
    for (const one of reports) expect(await report(one)).toBe(200);
    const told = { messages: 10, voiceMinutes: 23, reactions: 1 };
    expect((await ask(user)).body.activity).toEqual(told);
    expect((await ask(user, '', open.brandId)).body.activity).toEqual(zeros.activity);
    for (const count of [-1, 1.5, 10_001, '3'])
      expect(await report({ claimType: 'message', count })).toBe(400);
    expect((await ask(user)).body.activity).toEqual(told);
  });

  test('reports that come at once are all counted', async () => {
    const user = someone();
    const of = { brandId: shop.brandId, userIdentifier: user, platform: 'discord', count: 3 };
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const claimType = n % 2 ? 'message' : 'reaction';
        const told = await get().post('/leaderboard/update-stats', { ...of, claimType }, bearer(shop));
        return told.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await ask(user)).body.activity).toEqual({ messages: 90, voiceMinutes: 0, reactions: 90 });
  });

  test('where the brand asks for its key, a report without it adds nothing', async () => {
    const body = {
      brandId: shop.brandId,
      userIdentifier: someone(),
      platform: 'discord',
      claimType: 'message',
    };
    await get().set(shop, { engagementWrites: 'credential' });
    const { status } = await get().post('/leaderboard/update-stats', body);
    await get().set(shop, { engagementWrites: 'open' });
    expect(status).toBe(401);
    expect((await ask(body.userIdentifier)).body.activity).toEqual(zeros.activity);
  });

  test('an address and an id on a platform name the user of the events with them', async () => {
    const address = '0x00000000000000000000000000000000000b0b01';
    await get().send(shop, { userIdentifier: address }, bearer(shop));
    expect((await ask(address)).body.lifetime.claims).toBe(1);
    const platformUserId = '123456789012345001';
    await get().send(shop, { userIdentifier: { platform: 'discord', platformUserId } });
    expect((await ask(platformUserId, '?platform=Discord')).body.lifetime.claims).toBe(1);
    expect((await ask(platformUserId, '?platform=telegram')).body.lifetime.claims).toBe(0);
  });
});

describe('the frame of the services host', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService({ splitHosts: true });
  });
  afterAll(() => service?.stop());
  const ask = (path: string, init?: RequestInit) =>
    service.request(`${service.ready.urls.services}${path}`, init);
  const stats = (user: string, query = '') =>
    `/user-stats/${shop.brandId}/${encodeURIComponent(user)}${query}`;

  test.each([
    ['a brand id that is not an address', '/user-stats/x/a@b.example', /^brandId: must be an address/],
    [
      'an identifier without a platform',
      stats('12345'),
      /^userIdentifier: must be an e-mail, an address, or/,
    ],
    ['an id that no platform has', stats('a b', '?platform=discord'), /^userIdentifier: /],
    [
      'a platform that is not a name',
      stats('a@b.example', '?platform=a/b'),
      /^platform: must be a platform name/,
    ],
  ])('%s: 400 that names the field', async (_, path, problem) => {
    const answer = await ask(path);
    expect(answer.status).toBe(400);
    expectBothForms(answer);
    expect(answer.body).toMatchObject({
      error: 'Invalid request',
      details: { reason: 'invalid_request', errors: [expect.stringMatching(problem)] },
    });
  });

  test('an unknown brand: 400', async () => {
    const { status, body } = await ask(`/user-stats/0x${'9'.repeat(40)}/a@b.example`);
    expect([status, body.error]).toEqual([400, `Brand not found: 0x${'9'.repeat(40)}`]);
  });

  test('an address of its own has the host and no other, and tidies paths', async () => {
    expect(service.ready.urls.services).not.toBe(service.ready.urls.events);
    expect((await ask(`/${stats('a@b.example')}/`)).status).toBe(200);
    expect((await ask(`${API}/health`)).status).toBe(404);
    expect((await ask('/openapi.json')).body.info.title).toBe('Rewards: services');
    expect((await service.request(stats('a@b.example'))).status).toBe(404);
  });

  test('another method: 405 with the methods that it takes', async () => {
    const answer = await ask(stats('a@b.example'), { method: 'DELETE' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expectBothForms(answer);
  });

  test("pages of the brand's domain may read answers, others not", async () => {
    const from = async (origin: string) => {
      const { status, headers } = await ask(stats('a@b.example'), { headers: { origin } });
      return [status, headers.get('access-control-allow-origin'), headers.get('vary')?.includes('Origin')];
    };
    expect(await from('https://www.shop.example')).toEqual([200, 'https://www.shop.example', true]);
    expect(await from('https://elsewhere.example')).toEqual([200, null, true]);
    const preflight = await ask(stats('a@b.example'), {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://shop.example',
    ]);
  });
});

test('one address may ask as often as the limit says, whichever host it asks', async () => {
  const service = await startContractService({ addressRequestsMax: 3 });
  try {
    const path = `/user-stats/${shop.brandId}/a@b.example`;
    const statuses = [
      (await service.request(path)).status,
      (await service.request(`${API}/event-config?brandId=${shop.brandId}`)).status,
      (await service.request(path)).status,
      (await service.request(path)).status,
      (await service.request(path, { headers: bearer(shop) })).status,
    ];
    expect(statuses).toEqual([200, 200, 200, 429, 200]);
  } finally {
    await service.stop();
  }
});
