/** Receivers that mean harm, or are broken: an attempt ends within its limits, whatever they do. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { systemAddresses } from '../../src/dns/system.ts';
import { post } from '../../src/webhooks/post.ts';
import { startNameServer } from '../kits/network/name-server.ts';
import { startReceiver } from '../kits/network/receivers.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A server that does what it is told with each connection, once a request's head has come. */
async function hostile(onRequest: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const counts = { requests: 0, bytesWritten: 0 };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      counts.bytesWritten += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once('data', () => {
      counts.requests += 1;
      onRequest(socket);
    });
    socket.on('data', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://hooks.example:${port}/`, counts, sockets };
}

const here = async () => ['127.0.0.1'];
const deliver = (url: string, addressesOf: (name: string) => Promise<string[]> = here) =>
  post(
    { reach: { to: 'any' }, addressesOf, clock: { now: () => 0 } },
    { url, headers: {}, body: new TextEncoder().encode('{}') },
  );
/** Writes for as long as the other side reads. */
function pour(socket: Socket, next: () => string | Uint8Array | undefined): void {
  for (let chunk = next(); chunk !== undefined && !socket.destroyed; chunk = next()) {
    if (!socket.write(chunk)) return void socket.once('drain', () => pour(socket, next));
  }
}
/** A little now and then, for ever. */
function trickle(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 100);
  socket.on('close', () => clearInterval(timer));
  stops.push(() => clearInterval(timer));
}

const GIGABYTE = 1_000_000_000;
const MEGABYTE = Buffer.alloc(1_000_000, 'x');
const HEAD = 'HTTP/1.1 200 OK\r\n';

describe('of an answer without end, its beginning is read', () => {
  test.each([
    ['a gigabyte', `content-length: ${GIGABYTE}\r\n\r\n`, ''],
    ['chunks for ever', 'transfer-encoding: chunked\r\n\r\n', 'f4240\r\n'],
    ['all that comes until the end, which does not come', '\r\n', ''],
  ])('%s', async (_, headers, before) => {
    const { url, counts, sockets } = await hostile((socket) => {
      socket.write(HEAD + headers);
      pour(socket, () =>
        before ? Buffer.concat([Buffer.from(before), MEGABYTE, Buffer.from('\r\n')]) : MEGABYTE,
      );
    });
    const memoryBefore = process.memoryUsage().arrayBuffers;
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(url)));
    for (const answer of answers)
      expect(answer).toMatchObject({ outcome: 'answered', status: 200, body: 'x'.repeat(20_000) });
    await expect.poll(() => sockets.size).toBe(0);
    // What was under way when the connection was closed; a gigabyte was not.
    expect(counts.bytesWritten / answers.length).toBeLessThan(GIGABYTE / 100);
    expect(process.memoryUsage().arrayBuffers - memoryBefore).toBeLessThan(100_000_000);
  });

  test('a bomb is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const { port, received, stop } = await startReceiver((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    stops.push(stop);
    const answer = await deliver(`http://hooks.example:${port}/`);
    expect(answer).toMatchObject({ outcome: 'answered', status: 200 });
    expect(answer.outcome === 'answered' && answer.body.length).toBeLessThanOrEqual(20_000);
    expect(received[0]?.headers['accept-encoding']).toBe('identity');
  });
});

describe('an answer counts once its head is there', () => {
  test.each([
    ['whose body breaks off', `${HEAD}content-length: 100\r\n\r\nhalf`, 'half'],
    [
      'whose chunks are not chunks',
      `${HEAD}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nno number\r\n`,
      'half',
    ],
    ['of the first HTTP, which ends with the connection', 'HTTP/1.0 200 OK\r\n\r\nall', 'all'],
    [
      'before another one that nobody asked for',
      `${HEAD}content-length: 3\r\n\r\nallHTTP/1.1 500 No\r\n\r\n`,
      'all',
    ],
    [
      'after three that only say to wait',
      `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}${HEAD}content-length: 0\r\n\r\n`,
      '',
    ],
  ])('%s', async (_, bytes, body) => {
    const { url } = await hostile((socket) => socket.end(bytes));
    expect(await deliver(url)).toMatchObject({ outcome: 'answered', status: 200, body });
  });

  test('a redirect to itself is one request', async () => {
    const { url, counts } = await hostile((socket) =>
      socket.end('HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await deliver(url)).toMatchObject({ outcome: 'answered', status: 302 });
    expect(counts.requests).toBe(1);
  });
});

describe('an attempt fails', () => {
  test.each([
    ['at a head that is too large', `${HEAD}x: ${'y'.repeat(100_000)}\r\n\r\n`, /HPE_HEADER_OVERFLOW/],
    ['at two lengths', `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, /HPE_/],
    [
      'at a length and chunks',
      `${HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      /HPE_/,
    ],
    ['at an answer of another world', 'ICY 200 OK\r\n\r\n', /not HTTP/],
  ])('%s', async (_, bytes, why) => {
    const { url } = await hostile((socket) => socket.write(bytes));
    expect(await deliver(url)).toMatchObject({ outcome: 'failed', why: expect.stringMatching(why) });
  });

  test('at a name server that says nothing', async () => {
    const dns = await startNameServer();
    stops.push(dns.stop);
    dns.table.set('hooks.example', { silent: true });
    const answer = await deliver('http://hooks.example/', systemAddresses({ servers: [dns.address] }));
    expect(answer).toMatchObject({ outcome: 'failed', why: 'DNS gave no answer for hooks.example' });
  });
});

describe('time', () => {
  test('is over after 15 s in all, and after 5 s without a connection', { timeout: 60_000 }, async () => {
    const silent = await hostile(() => {});
    const slowHead = await hostile((socket) => {
      socket.write(HEAD);
      trickle(socket, 'x: y\r\n');
    });
    const waiting = await hostile((socket) => trickle(socket, 'HTTP/1.1 100 Continue\r\n\r\n'));
    const slowBody = await hostile((socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      trickle(socket, '1\r\nx\r\n');
    });
    const [noAnswer, noHead, onlyWaits, answered, noTls, noDns] = await Promise.all([
      deliver(silent.url),
      deliver(slowHead.url),
      deliver(waiting.url),
      deliver(slowBody.url),
      // Takes the connection, and never shows a certificate.
      deliver(silent.url.replace('http:', 'https:')),
      deliver('http://hooks.example/', () => new Promise(() => {})),
    ]);
    for (const answer of [noAnswer, noHead, onlyWaits])
      expect(answer).toMatchObject({ outcome: 'failed', why: 'no answer within 15 s' });
    for (const answer of [noTls, noDns])
      expect(answer).toMatchObject({ outcome: 'failed', why: 'no connection within 5 s' });
    expect(answered).toMatchObject({
      outcome: 'answered',
      status: 200,
      body: expect.stringMatching(/^x{50,}$/),
    });
    for (const { ms } of [noAnswer, noHead, onlyWaits, answered]) expect(ms).toBeGreaterThanOrEqual(14_990);
    for (const { ms } of [noTls, noDns]) expect(ms).toBeGreaterThanOrEqual(4_990);
    for (const { ms } of [noTls, noDns]) expect(ms).toBeLessThan(14_990);
    for (const { sockets } of [silent, slowHead, waiting, slowBody])
      await expect.poll(() => sockets.size).toBe(0);
  });
});
