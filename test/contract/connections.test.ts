/** What connections may cost: requests without end, bodies that never come, clients that take no answer. */
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settings } from '../../src/compose/config.ts';
import { listen } from '../../src/compose/listen.ts';
import { createAdminHost } from '../../src/http/admin.ts';
import { silentLog } from '../../src/lib/log.ts';
import { exchange, openSocket } from '../kits/network/sockets.ts';
import { until } from '../kits/service/clock.ts';
import { API, type ContractService, shop, startContractService } from './kit.ts';

const HERE = { bindAddress: '127.0.0.1', port: 0, explicit: false };
const MB = 1024 * 1024;
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: shop.example\r\n${more}\r\n`;
const slowBody = `POST ${API}/manual-event HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"bra`;

describe('a service', () => {
  const lines: { level: string; message: string }[] = [];
  let service: ContractService;
  let port: number;
  beforeAll(async () => {
    const at = (level: string) => (_: unknown, message: string) => lines.push({ level, message });
    const log = { ...silentLog, debug: at('debug'), error: at('error') };
    service = await startContractService({ log });
    port = Number(new URL(service.ready.urls.events).port);
  });
  afterAll(() => service?.stop());

  test('clients that pipeline and never read cost little memory, and others are served meanwhile', async () => {
    await service.request('/openapi.json');
    const before = process.memoryUsage().rss;
    const flood = get('/openapi.json').repeat(2_000);
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(port)));
    for (const socket of sockets) socket.pause().write(flood);
    for (let round = 0; round < 5; round++) {
      expect((await service.request(`${API}/health`)).status).toBe(200);
    }
    // Some 40 MB, and whatever this process still frees of other tests; answers that are kept would be gigabytes.
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * MB);
    for (const socket of sockets) socket.destroy();
  });

  test('a connection that never takes its answers is not read from', async () => {
    const socket = (await openSocket(port)).pause();
    const one = get('/openapi.json');
    socket.write(one.repeat(10));
    // Each write comes in a packet of its own, so none of them is cut for too many requests at once.
    await until('the service has stopped reading', async () => {
      if (socket.writableLength < MB) socket.write(one.repeat(10));
      return socket.writableLength >= MB || socket.closed;
    });
    socket.destroy();
    expect((await service.request(`${API}/health`)).status).toBe(200);
  });

  test('pipelined requests are answered in their order, bodies among them', async () => {
    const body = JSON.stringify({ domain: 'nobody.example' });
    const post = `POST ${API}/verify-dns HTTP/1.1\r\nHost: shop.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const text =
      get(`${API}/debug`) + post + get('/nothing') + post + get(`${API}/debug`, 'Connection: close\r\n');
    const answers = await exchange(port, text);
    expect(answers.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['200', '200', '404', '200', '200']);
  });

  test('an event behind the last that may wait is not begun: a client may send it again', async () => {
    const { waitingMax } = settings.connections;
    const fields = { userEmail: 'pipelined@people.example' };
    const body = JSON.stringify({ brandId: shop.brandId, domain: shop.domain, eventType: 'once', ...fields });
    const post = `POST ${API}/manual-event HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await exchange(port, get(`${API}/debug`).repeat(waitingMax + 1) + post);
    const sentAgain = await service.send(shop, fields);
    expect(sentAgain.status).toBe(200);
  });

  test('an idle connection is kept for longer than balancers keep theirs', async () => {
    const { headers } = await service.request(`${API}/health`);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });

  test('HTTP/1.0 without a Host is answered', async () => {
    expect(await exchange(port, `GET ${API}/health HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a body that breaks off is a line for debugging, and not an error', async () => {
    lines.length = 0;
    const socket = await openSocket(port);
    socket.write(slowBody);
    socket.end();
    await until('the line', () => lines.some(({ message }) => /went away/.test(message)));
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('a listener', () => {
  const app = new Hono()
    .post('*', async (context) => context.text(await context.req.text()))
    .onError((_, context) => context.body(null, 400));

  test('of more requests than may wait, those that may are answered, and the last answer says that it is the last', async () => {
    const { waitingMax } = settings.connections;
    const of = new Hono().get('*', async (context) => context.text('x'.repeat(200)));
    // However long this process, which is the client as well, takes to read.
    const listener = await listen(of, { ...HERE, limits: { lingerMs: 60_000 } });
    const { port } = listener;
    // In one packet, and in many, the rest of which nobody reads while answers are made.
    for (const sent of [waitingMax + 2, 40, 20_000]) {
      const answers = await exchange(port, get('/').repeat(sent));
      const each = answers.split(/(?=HTTP\/1\.1 )/);
      expect(each.map((one) => one.slice(0, 12))).toEqual(Array(waitingMax + 1).fill('HTTP/1.1 200'));
      const closing = each.map((one) => /^connection: close\r$/im.test(one));
      expect(closing).toEqual([...Array(waitingMax).fill(false), true]);
      // The last one is whole, too.
      const [, head = '', body = ''] = /^(.*?)\r\n\r\n(.*)$/s.exec(each.at(-1) ?? '') ?? [];
      expect(body).toHaveLength(Number(/content-length: (\d+)/i.exec(head)?.[1]));
    }
    const exactly = get('/').repeat(waitingMax) + get('/', 'Connection: close\r\n');
    expect((await exchange(port, exactly)).match(/HTTP\/1\.1 200/g)).toHaveLength(waitingMax + 1);
    await listener.close(0);
  });

  test('cuts a body that does not come', async () => {
    const listener = await listen(app, {
      ...HERE,
      limits: { requestTimeoutMs: 100, headersTimeoutMs: 100, checkEveryMs: 20 },
    });
    expect(await exchange(listener.port, slowBody)).toMatch(/^HTTP\/1\.1 408 /);
    await listener.close(0);
  });

  test('cuts a client that is silent while an answer waits for it', async () => {
    const large = new Hono().get('*', (context) => context.text('x'.repeat(20 * MB)));
    const listener = await listen(large, { ...HERE, limits: { silenceMs: 100 } });
    const socket = (await openSocket(listener.port)).pause();
    socket.write(get('/'));
    await until('something of the answer', () => socket.readableLength > 0);
    // A reset is noticed by writing alone, as long as nothing is read.
    await until('the connection has ended', () => {
      if (socket.writable) socket.write(' ');
      return socket.destroyed;
    });
    await listener.close(0);
  });

  test('has a limit of connections', async () => {
    const listener = await listen(app, { ...HERE, limits: { connectionsMax: 2 } });
    const held = [await openSocket(listener.port), await openSocket(listener.port)];
    expect(await exchange(listener.port, get('/'))).toBe('');
    for (const socket of held) socket.destroy();
    await listener.close(0);
  });

  test('of an operator answers HTTP/1.0 without a Host', async () => {
    const metrics = async () => ({ contentType: 'text/plain', text: '' });
    const listener = await listen(createAdminHost({ notReady: async () => [], metrics }), HERE);
    expect(await exchange(listener.port, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    await listener.close(0);
  });
});
