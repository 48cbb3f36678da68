/** How much one address may ask without a brand's key, and what strangers can make the service ask of others. */
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressGate } from '../../../src/http/frame/address-gate.ts';
import { brandOfKey } from '../../../src/http/frame/brand-key.ts';
import { proxyTrust } from '../../../src/http/frame/client-address.ts';
import { framed } from '../../../src/http/frame/framed.ts';
import type { RequestVariables } from '../../../src/http/frame/request-record.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { someone } from '../../kits/service/service.ts';
import {
  API,
  bearer,
  type ContractService,
  expectBothForms,
  open,
  shop,
  startContractService,
} from '../kit.ts';

test("a brand's key is looked up once for a request, whether the gate asks or the handler", async () => {
  let lookups = 0;
  const verifyBrandKey = async () => {
    lookups += 1;
    return shop.brandId as Hex;
  };
  const gate = addressGate(
    {
      proxies: proxyTrust([]),
      countAddress: () => ({ limit: 1, remaining: 0, resetAtMs: 0, taken: false }),
      verifyBrandKey,
    },
    () => Response.json({}, { status: 429 }),
  );
  const asked = async (headers: Record<string, string>) => {
    const app = new Hono<RequestVariables>();
    app.get('/', (context) => {
      context.set('notes', { requestId: '', atMs: 0, elapsedMs: () => 0, traces: [], headers: {} });
      return framed([gate], () => Response.json({}, { status: 500 }))(async (inner) =>
        inner.json({ brandId: await brandOfKey({ verifyBrandKey }, inner) }),
      )(context, async () => {}) as Promise<Response>;
    });
    return (await app.request('/', { headers })).json();
  };
  expect(await asked({ authorization: 'Bearer key' })).toEqual({ brandId: shop.brandId });
  expect(lookups).toBe(1);
  // Another request is another look, and one without a key is none.
  await asked({ authorization: 'Bearer key' });
  expect(lookups).toBe(2);
});

describe('5 requests a minute', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService({ addressRequestsMax: 5 });
  });
  afterAll(() => service.stop());
  let addresses = 0;
  const fresh = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` });
  const get = (path: string, headers: Record<string, string>) => service.request(API + path, { headers });
  const register = (headers: Record<string, string>) =>
    service.post(`${API}/pregenerate-user`, { email: someone(), brand_id: open.brandId }, headers);

  test.each<[string, (headers: Record<string, string>) => ReturnType<ContractService['request']>]>([
    ['manual-event', (headers) => service.send(shop, { userEmail: someone() }, headers)],
    ['bulk-events', (headers) => service.bulk([], headers)],
    ['health', (headers) => get('/health', headers)],
    ['diagnostic', (headers) => get('/diagnostic', headers)],
    [
      'user-balance',
      (headers) => get(`/user-balance?brandId=${shop.brandId}&userEmail=a@b.example`, headers),
    ],
    ['verify-dns', (headers) => service.post(`${API}/verify-dns`, { domain: 'shop.example' }, headers)],
    ['pregenerate-user', register],
  ])('%s: the sixth is refused, from this address alone', async (_, ask) => {
    const address = fresh();
    for (let n = 1; n <= 5; n++) {
      const { status, headers } = await ask(address);
      expect(status).not.toBe(429);
      // A new wallet tells of the brand's limit instead.
      if (ask === register) continue;
      const told = ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
      expect(told).toEqual(['5', String(5 - n)]);
    }
    const refused = await ask({ ...address, origin: `https://${shop.domain}` });
    expect([refused.status, refused.body.details.reason]).toEqual([429, 'too_many_requests']);
    expectBothForms(refused);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // A page can read why.
    expect(refused.headers.get('access-control-allow-origin')).toBe(`https://${shop.domain}`);
    expect((await ask(fresh())).status).not.toBe(429);
  });

  test("a brand's server is not limited when it sends the brand's key", async () => {
    const address = fresh();
    for (let n = 0; n < 7; n++)
      expect(
        (await service.send(shop, { userEmail: someone() }, { ...address, ...bearer(shop) })).status,
      ).toBe(200);
    // A key that is none counts as nothing.
    const wrong = { ...address, authorization: 'Bearer rk_test_shop_wrong' };
    for (let n = 0; n < 5; n++) await get('/health', wrong);
    expect((await get('/health', wrong)).status).toBe(429);
  });

  test('IPv6 is counted by its /64', async () => {
    for (let n = 0; n < 5; n++) await get('/health', { 'x-forwarded-for': `2001:db8:1:2::${n + 1}` });
    expect((await get('/health', { 'x-forwarded-for': '2001:db8:1:2:9::1' })).status).toBe(429);
    expect((await get('/health', { 'x-forwarded-for': '2001:db8:1:3::1' })).status).toBe(200);
  });
});

test('where addresses have a limit, one may have 20 new wallets a minute, and leaves the others theirs', async () => {
  const service = await startContractService({ addressRequestsMax: 1_000 });
  try {
    const ask = (address: string, email = someone()) =>
      service.post(
        `${service.ready.urls.register}${API}/pregenerate-user`,
        { email, brand_id: open.brandId },
        { 'x-forwarded-for': address },
      );
    const first = someone();
    expect((await ask('198.51.100.1', first)).status).toBe(200);
    for (let n = 1; n < 20; n++) expect((await ask('198.51.100.1')).status).toBe(200);
    const refused = await ask('198.51.100.1');
    expect([refused.status, refused.body.details]).toMatchObject([
      429,
      { reason: 'rate_limit_exceeded', limit: 20 },
    ]);
    expect((await ask('198.51.100.1', first)).body.created_new).toBe(false);
    expect((await ask('198.51.100.2')).body.created_new).toBe(true);
  } finally {
    await service.stop();
  }
});
