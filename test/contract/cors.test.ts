/** Contract: Authentication, CORS: who may read our answers in a browser. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someone } from '../kits/service/service.ts';
import { API, type ContractService, open, shop, startContractService } from './kit.ts';

const allowed = [
  'https://shop.example',
  'https://www.shop.example',
  'https://a.b.shop.example',
  'https://shop.example:8443',
  'https://www.second.example',
  'https://xn--bcher-kva.example',
  'https://open.example',
  'http://localhost:3000',
  'http://127.0.0.1:3000',
];
const foreign = [
  'null',
  '*',
  '',
  'https://evil.example',
  'https://evil-shop.example',
  'https://evilshop.example',
  'https://shop.example.evil.io',
  'https://shop.exampleevil.io',
  'https://evil.io/shop.example',
  'https://evil.io#shop.example',
  'https://evil.io?shop.example',
  'https://evil.io\\.shop.example',
  'https://shop.example@evil.io',
  'https://evil.io@shop.example',
  'https://evil.io%2eshop.example',
  'https://shop.example%2eevil.io',
  'https://..shop.example',
  'https://.shop.example',
  'https://*.shop.example',
  'https://shop.example, https://evil.io',
  'https://shop.example https://evil.io',
  'https://evil.io,shop.example',
  'https://second.example',
  'https://example',
  'shop.example',
  '//shop.example',
  'https:shop.example',
  'https:/shop.example',
  'https:///shop.example',
  'https:\\\\shop.example',
  'file://shop.example',
  'ftp://shop.example',
  'javascript://shop.example',
  'data:text/html,https://shop.example',
  'chrome-extension://shop.example',
  'https://shop.example/',
  'https://shop.example/path',
  'https://shop.example?x',
  'https://SHOP.example',
  'HTTPS://shop.example',
  'https://shop.example:443',
  'https://shop.example:',
  'https://shop.example:99999',
  'https://user@shop.example',
  'https://shop_1.example',
  'https://0x7f.1',
  'https://localhost.evil.io',
  'https://evillocalhost',
  'https://127.0.0.1.evil.io',
];

describe('contract: CORS', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService();
  });
  afterAll(() => service?.stop());

  /** Each kind of answer that there is. */
  const asks: [string, (headers: Record<string, string>) => ReturnType<ContractService['request']>][] = [
    ['200', (headers) => service.request(`${API}/health`, { headers })],
    [
      '200 with a body',
      (headers) => service.request(`${API}/event-config?brandId=${shop.brandId}`, { headers }),
    ],
    [
      '304',
      (headers) =>
        service.request(`${API}/event-config?brandId=${shop.brandId}`, {
          headers: { ...headers, 'if-none-match': '*' },
        }),
    ],
    ['400', (headers) => service.post(`${API}/manual-event`, {}, headers)],
    ['403', (headers) => service.send(shop, { userEmail: someone(), domain: 'evil.example' }, headers)],
    ['404', (headers) => service.request('/nothing', { headers })],
    ['413', (headers) => service.post(`${API}/manual-event`, 'x'.repeat(10_241), headers)],
    ['script', (headers) => service.request('/sdk.js', { headers })],
    ['OPTIONS', (headers) => service.request(`${API}/manual-event`, { method: 'OPTIONS', headers })],
    ['OPTIONS of nothing', (headers) => service.request('/nothing', { method: 'OPTIONS', headers })],
  ];

  test.each(allowed)('contract: CORS, %s is echoed exactly, on every kind of answer', async (origin) => {
    for (const [kind, ask] of asks) {
      const { headers } = await ask({ origin });
      expect([kind, headers.get('access-control-allow-origin')]).toEqual([kind, origin]);
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(headers.get('vary')).toMatch(/(^|, )Origin(,|$)/);
    }
  });

  test.each(foreign)('contract: CORS, %j is named on no answer', async (origin) => {
    for (const [kind, ask] of asks) {
      const { headers } = await ask({ origin });
      const named = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect([kind, named]).toEqual([kind, []]);
      expect(headers.get('vary')).toMatch(/(^|, )Origin(,|$)/);
    }
  });

  test('contract: CORS, without an Origin nothing is allowed, and the answer still varies by it', async () => {
    for (const [kind, ask] of asks) {
      const { headers } = await ask({});
      expect([kind, headers.get('access-control-allow-origin')]).toEqual([kind, null]);
      expect(headers.get('vary')).toMatch(/(^|, )Origin(,|$)/);
    }
  });

  test('contract: CORS, preflight headers', async () => {
    const { status, headers } = await service.request(`${API}/manual-event`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe('Content-Type, Authorization');
    expect(headers.get('access-control-allow-credentials')).toBe('true');
  });

  test('contract: CORS, a page of one brand cannot send events of another', async () => {
    const answer = await service.send(shop, { userEmail: someone() }, { origin: 'https://open.example' });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toContain('open.example');
    expect(
      (await service.send(open, { userEmail: someone() }, { origin: 'https://open.example' })).status,
    ).toBe(200);
  });
});
