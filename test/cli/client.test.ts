import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ClientError } from '../../src/client/client-error.ts';
import { createClient } from '../../src/client/create-client.ts';
import { hostUrls } from '../../src/client/host-urls.ts';
import { moveClock, showClock } from '../../src/contract/control/clock.ts';
import { stubService } from './stub-service.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function stub(...given: Parameters<typeof stubService>) {
  const service = await stubService(...given);
  closers.push(service.close);
  return service;
}

const clientOf = (url: string, more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ urls: hostUrls(url), timeoutMs: 20_000, ...more });

async function problemOf(promise: Promise<unknown>): Promise<ClientError> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  if (!(error instanceof ClientError)) throw error ?? new Error('nothing was thrown');
  return error;
}

describe('the client', () => {
  test('sends an event and gives back the whole answer, whatever its status', async () => {
    const service = await stub(() => ({
      status: 429,
      headers: { 'retry-after': '61' },
      body: { success: false, error: 'Cooldown active' },
    }));
    const reply = await clientOf(`${service.url}/`).sendEvent(
      { eventType: 'x' },
      { headers: { origin: 'https://demo.example' } },
    );
    expect(reply).toMatchObject({
      status: 429,
      headers: { 'retry-after': '61' },
      body: { success: false, error: 'Cooldown active' },
      rawBody: '{"success":false,"error":"Cooldown active"}',
    });
    expect(service.asked[0]).toMatchObject({
      method: 'POST',
      path: '/rewards-api/manual-event',
      body: '{"eventType":"x"}',
      headers: { 'content-type': 'application/json', origin: 'https://demo.example' },
    });
  });

  test('sends no Origin of its own', async () => {
    const service = await stub(() => ({ body: {} }));
    await clientOf(service.url).sendEvent({});
    expect(service.asked[0]?.headers).not.toHaveProperty('origin');
  });

  test('sends text and bytes as they are', async () => {
    const service = await stub(() => ({ body: {} }));
    const client = clientOf(service.url);
    await client.sendEvent('{"cut');
    await client.sendEvent(new TextEncoder().encode('bytes'));
    expect(service.asked.map(({ body }) => body)).toEqual(['{"cut', 'bytes']);
  });

  test('an answer that is no JSON is its text', async () => {
    const service = await stub(() => ({ status: 502, text: '<h1>Bad gateway</h1>' }));
    expect(await clientOf(service.url).health()).toMatchObject({ status: 502, body: '<h1>Bad gateway</h1>' });
  });

  test('does not follow a redirect', async () => {
    const service = await stub(() => ({ status: 302, headers: { location: '/elsewhere' }, body: {} }));
    expect(await clientOf(service.url).health()).toMatchObject({ status: 302 });
    expect(service.asked).toHaveLength(1);
  });

  test('knows its paths', async () => {
    const service = await stub(() => ({ body: {} }));
    const client = clientOf(service.url, { controlToken: 'secret' });
    await client.eventConfig('0xabc');
    await client.health();
    await client.call(showClock);
    await client.call(moveClock, { body: { advance: '61s' } });
    await client.call(moveClock, { body: { set: '2030-01-01T00:00:00Z' } });
    await client.call(moveClock, { body: { freeze: true } });
    await client.call(moveClock, { body: { freeze: false } });
    expect(service.asked.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      'GET /rewards-api/event-config?brandId=0xabc ',
      'GET /rewards-api/health ',
      'GET /_rewards/clock ',
      'POST /_rewards/clock {"advance":"61s"}',
      'POST /_rewards/clock {"set":"2030-01-01T00:00:00Z"}',
      'POST /_rewards/clock {"freeze":true}',
      'POST /_rewards/clock {"freeze":false}',
    ]);
    expect(service.asked.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
      ...Array(5).fill('Bearer secret'),
    ]);
  });

  test('keeps its connection', async () => {
    const service = await stub(() => ({ body: {} }));
    const client = clientOf(service.url);
    for (let call = 0; call < 10; call += 1) await client.health();
    expect(new Set(service.asked.map(({ socket }) => socket.remotePort)).size).toBeLessThan(3);
  });

  test('works against an application’s own fetch', async () => {
    const client = clientOf('http://service.example', {
      fetch: async (request) =>
        Response.json({ path: new URL(request.url).pathname, sent: await request.json() }),
    });
    expect((await client.sendEvent({ a: 1 })).body).toEqual({
      path: '/rewards-api/manual-event',
      sent: { a: 1 },
    });
  });
});

describe('no answer', () => {
  test('unreachable: no server listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    const error = await problemOf(clientOf(`http://127.0.0.1:${port}/hidden`).health());
    expect(error).toMatchObject({ kind: 'unreachable', origin: `http://127.0.0.1:${port}` });
    expect(error.message).toContain('ECONNREFUSED');
    expect(error.message).not.toContain('hidden');
  });

  test('timeout: the headers never come, or the body never ends', async () => {
    const service = await stub(({ path }, raw) => {
      if (path.includes('health')) raw.write('{');
      return undefined;
    });
    const client = clientOf(service.url, { timeoutMs: 150 });
    expect((await problemOf(client.sendEvent({}))).kind).toBe('timeout');
    expect((await problemOf(client.health())).kind).toBe('timeout');
  });

  test('broken: the connection ends too early', async () => {
    const service = await stub(({ path }, raw) => {
      if (path.includes('health')) raw.write('{');
      setTimeout(() => raw.destroy(), 20);
      return undefined;
    });
    const client = clientOf(service.url);
    expect((await problemOf(client.sendEvent({}))).kind).toBe('broken');
    expect((await problemOf(client.health())).kind).toBe('broken');
  });

  test('a caller’s own abort is no failure of the service', async () => {
    const service = await stub(() => undefined);
    const abort = new AbortController();
    const call = clientOf(service.url).health({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});
