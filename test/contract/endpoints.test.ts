/** Contract: Endpoints of the event handler: each answers, and answers OPTIONS. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API, type ContractService, expectBothForms, shop, startContractService } from './kit.ts';

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const endpoints: [string, string, unknown, number][] = [
  ['GET', `${API}/event-config?brandId=${shop.brandId}`, undefined, 200],
  ['POST', `${API}/manual-event`, {}, 400],
  ['POST', `${API}/bulk-events`, {}, 400],
  ['GET', `${API}/user-balance?brandId=${shop.brandId}&userEmail=a@people.example`, undefined, 200],
  ['POST', `${API}/user-balance`, { brandId: shop.brandId, userEmail: 'a@people.example' }, 200],
  ['GET', `${API}/health`, undefined, 200],
  ['GET', `${API}/diagnostic`, undefined, 200],
  ['GET', `${API}/debug`, undefined, 200],
  ['POST', `${API}/verify-dns`, { domain: 'shop.example' }, 200],
  ['POST', '/constraint-updater/invalidate-external-api', {}, 401],
  ['GET', '/sdk.js', undefined, 200],
];

describe('contract: Endpoints', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await startContractService({ clockStartMs: Date.UTC(2031, 0, 1), frozen: true });
  });
  afterAll(() => service?.stop());
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.request(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test.each(endpoints)('contract: Endpoints, %s %s', async (method, path, body, status) => {
    const answer = await ask(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_\w{16,}$/);
    expect(answer.headers.get('vary')).toMatch(/(^|, )Origin(,|$)/);
  });

  test.each(endpoints)('contract: All endpoints answer OPTIONS, here that of %s %s', async (_, path) => {
    const answer = await ask('OPTIONS', path, undefined, {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    });
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    const plain = await ask('OPTIONS', path);
    expect(plain.status).toBe(204);
    expect(plain.headers.get('vary')).toMatch(/Origin/);
  });

  test.each([
    ['GET', `${API}/Health`],
    ['GET', `${API}`],
    ['GET', `${API}/`],
    ['GET', '/'],
    ['GET', '/health'],
    ['GET', '/manual-event'],
    ['GET', `${API}/%2e%2e/health`],
    ['GET', '///'],
  ])('contract: Errors, 404 Unknown endpoint: %s %s', async (method, path) => {
    const answer = await ask(method, path);
    expect(answer.status).toBe(404);
    expectBothForms(answer);
  });

  test.each([
    ['GET', `${API}/manual-event`, 'POST, OPTIONS'],
    ['PUT', `${API}/manual-event`, 'POST, OPTIONS'],
    ['DELETE', `${API}/event-config`, 'GET, HEAD, OPTIONS'],
    ['POST', `${API}/event-config`, 'GET, HEAD, OPTIONS'],
    ['POST', `${API}/health`, 'GET, HEAD, OPTIONS'],
    ['DELETE', `${API}/user-balance`, 'GET, HEAD, POST, OPTIONS'],
    ['PUT', `${API}/pregenerate-user`, 'POST, OPTIONS'],
    ['POST', '/sdk.js', 'GET, HEAD, OPTIONS'],
    ['POST', '/openapi.json', 'GET, HEAD, OPTIONS'],
  ])(
    'a method that the path does not take is 405 and says which it takes: %s %s',
    async (method, path, allow) => {
      const answer = await ask(method, path);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
      expectBothForms(answer);
    },
  );

  test('the relay and the control API say which methods they take', async () => {
    const relay = await ask('DELETE', '/relay');
    expect([relay.status, relay.headers.get('allow'), relay.body.code]).toEqual([
      405,
      'POST, OPTIONS',
      'METHOD_NOT_ALLOWED',
    ]);
    const control = await service.control('/verify', {});
    expect([control.status, control.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each([`/${API}/health`, `${API}//health`, `${API}/health/`, `//${API}///health//?x=1`])(
    'a path with a slash too many is the same endpoint: %s',
    async (path) => {
      expect((await ask('GET', path)).body).toMatchObject({ status: 'healthy' });
    },
  );

  test('posts, script, registrations and the control API take a slash too many as well', async () => {
    const posted = await ask('POST', `/${API}/manual-event/`, {
      brandId: shop.brandId,
      eventType: 'once',
      domain: shop.domain,
      userEmail: 'slash@people.example',
    });
    expect([posted.status, posted.body.success]).toEqual([200, true]);
    expect((await ask('GET', '//sdk.js/')).status).toBe(200);
    expect((await ask('POST', `${API}/pregenerate-user/`, {})).status).toBe(400);
    expect((await ask('POST', '//relay/', {})).status).toBe(401);
    const authorization = `Bearer ${service.ready.controlToken}`;
    expect((await ask('GET', '//_rewards//clock/', undefined, { authorization })).status).toBe(200);
  });

  test('every request has an id of its own', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await ask('GET', `${API}/health`)).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(20);
  });

  test('contract: GET health, 200 body', async () => {
    const { body } = await ask('GET', `${API}/health`);
    expect(body).toEqual({
      status: 'healthy',
      timestamp: '2031-01-01T00:00:00.000Z',
      services: { database: 'connected', blockchain: 'connected', idp: 'connected' },
    });
  });

  test('contract: GET diagnostic, 200 body', async () => {
    const { body } = await ask('GET', `${API}/diagnostic`);
    expect(body).toEqual({
      status: 'healthy',
      database: 'connected',
      blockchain: 'connected',
      idp: 'connected',
      timestamp: '2031-01-01T00:00:00.000Z',
    });
  });

  test('contract: GET debug, 200 body: the six documented fields and nothing else', async () => {
    const { body } = await ask('GET', `${API}/debug?secret=1`);
    expect(body).toEqual({
      debug: expect.any(String),
      hostname: '127.0.0.1',
      path: `${API}/debug`,
      method: 'GET',
      timestamp: ISO,
      worker_version: expect.stringMatching(/^rewards\/\d+\.\d+\.\d+/),
    });
  });

  test('contract: GET /sdk.js: a script that may be kept for five minutes', async () => {
    const { headers, body } = await ask('GET', '/sdk.js');
    expect(headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(headers.get('cache-control')).toContain('max-age=300');
    expect(body).toContain(`${API}`);
    const again = await ask('GET', '/sdk.js', undefined, { 'if-none-match': headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });
});
