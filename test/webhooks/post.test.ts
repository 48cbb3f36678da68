/** One delivery: what arrives, what counts as an answer, and what ends an attempt. */
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Reach } from '../../src/outgoing/target.ts';
import { post } from '../../src/webhooks/post.ts';
import { expiredCertificate, testAuthority } from '../kits/network/certificates.ts';
import { startReceiver } from '../kits/network/receivers.ts';

const stops: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const receiver: typeof startReceiver = async (...options) => {
  const started = await startReceiver(...options);
  stops.push(started.stop);
  return started;
};

const NOW_MS = Date.UTC(2026, 0, 5, 12);
const anywhere: Reach = { to: 'any' };
const body = new TextEncoder().encode('{"id":"evt_1","text":"Grüße 🎉"}');
/** Posts to hooks.example, which is on this machine here. */
const deliver = (url: string, { signal, ca }: { signal?: AbortSignal; ca?: string } = {}) =>
  post(
    {
      reach: anywhere,
      addressesOf: async () => ['127.0.0.1'],
      clock: { now: () => NOW_MS },
      ...(ca && { ca }),
    },
    { url, headers: { 'webhook-id': 'evt_1' }, body, ...(signal && { signal }) },
  );

describe('what arrives', () => {
  test('is the body byte for byte, with its length, and the headers that were given', async () => {
    const { port, received } = await receiver();
    const answer = await deliver(`http://hooks.example:${port}/in?brand=1`);
    expect(answer).toMatchObject({ outcome: 'answered', status: 200, body: 'ok' });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: 'POST', path: '/in?brand=1' });
    expect(received[0]?.body.equals(body)).toBe(true);
    expect(received[0]?.headers).toMatchObject({
      host: `hooks.example:${port}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
      'accept-encoding': 'identity',
      'user-agent': 'Rewards-Webhooks/1',
      'webhook-id': 'evt_1',
      connection: 'close',
    });
  });

  test('over TLS asks for the name, in its own handshake and in Host, at the address that was looked up', async () => {
    const { port, received } = await receiver(undefined, { secure: true });
    const answer = await deliver(`https://hooks.example.:${port}/in`, { ca: testAuthority });
    expect(answer).toMatchObject({ outcome: 'answered', status: 200 });
    expect(received[0]?.servername).toBe('hooks.example');
    expect(received[0]?.headers.host).toBe(`hooks.example.:${port}`);
  });
});

describe('TLS is verified', () => {
  test.each([
    [
      'a certificate that nobody vouches for',
      true,
      undefined,
      'TLS failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    ],
    [
      'a certificate that ran out',
      { cert: expiredCertificate },
      testAuthority,
      'TLS failed (CERT_HAS_EXPIRED)',
    ],
  ] as const)('%s', async (_, secure, ca, why) => {
    const { port, received } = await receiver(undefined, { secure });
    const answer = await deliver(`https://hooks.example:${port}/`, { ...(ca && { ca }) });
    expect(answer).toMatchObject({ outcome: 'failed', why });
    expect(received).toEqual([]);
  });

  test('a certificate of another name', async () => {
    const { port, received } = await receiver(undefined, { secure: true });
    const answer = await deliver(`https://other.example:${port}/`, { ca: testAuthority });
    expect(answer).toMatchObject({ outcome: 'failed', why: 'TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)' });
    expect(received).toEqual([]);
  });

  test('also when the environment says not to', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    stops.push(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });
    const { port } = await receiver(undefined, { secure: true });
    expect(await deliver(`https://hooks.example:${port}/`)).toMatchObject({ outcome: 'failed' });
  });
});

describe('an answer', () => {
  test.each([204, 301, 302, 400, 404, 410, 429, 500, 503])('%i is one', async (status) => {
    const { port } = await receiver((_, response) => response.writeHead(status).end());
    expect(await deliver(`http://hooks.example:${port}/`)).toMatchObject({
      outcome: 'answered',
      status,
      body: '',
    });
  });

  test('is kept up to 20,000 bytes, without what a database cannot store', async () => {
    const { port } = await receiver((_, response) => response.end(`\0${'ä'.repeat(20_000)}`));
    const answer = await deliver(`http://hooks.example:${port}/`);
    expect(answer).toMatchObject({ outcome: 'answered', body: `\uFFFD${'ä'.repeat(9_999)}\uFFFD` });
  });

  test.each([
    ['seconds', '120', 120_000],
    ['no wait', '0', 0],
    ['a date, by the clock of the receiver', 'Mon, 05 Jan 2026 10:10:00 GMT', 600_000],
    ['a date that is over', 'Mon, 05 Jan 2026 09:00:00 GMT', 0],
    ['a negative number', '-5', undefined],
    ['words', 'soon', undefined],
  ])('says when to come again: %s', async (_, header, retryAfterMs) => {
    const { port } = await receiver((_request, response) =>
      response.writeHead(503, { 'retry-after': header, date: 'Mon, 05 Jan 2026 10:00:00 GMT' }).end(),
    );
    const answer = await deliver(`http://hooks.example:${port}/`);
    expect(answer.outcome === 'answered' && answer.retryAfterMs).toBe(retryAfterMs);
  });

  test('without a date of its own is read by our clock', async () => {
    const { port } = await receiver((_, response) => {
      response.sendDate = false;
      response.writeHead(429, { 'retry-after': 'Mon, 05 Jan 2026 12:00:30 GMT' }).end();
    });
    expect(await deliver(`http://hooks.example:${port}/`)).toMatchObject({ retryAfterMs: 30_000 });
  });
});

describe('an attempt fails', () => {
  const rawServer = async (greeting: string | undefined) => {
    const server: Server = createServer((socket) => {
      socket.on('error', () => {});
      if (greeting === undefined) socket.destroy();
      else socket.end(greeting);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => server.close());
    return (server.address() as { port: number }).port;
  };

  test.each([
    ['what is not HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', /^the answer is not HTTP \(HPE_/],
    ['nothing at all', undefined, /^the connection was closed before an answer came$/],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      /^the connection (broke|was closed)/,
    ],
  ])('at %s', async (_, greeting, why) => {
    const port = await rawServer(greeting);
    expect(await deliver(`http://hooks.example:${port}/`)).toEqual({
      outcome: 'failed',
      why: expect.stringMatching(why),
      ms: expect.any(Number),
    });
  });

  test('where nobody listens', async () => {
    const { port, stop } = await startReceiver();
    await stop();
    expect(await deliver(`http://hooks.example:${port}/`)).toMatchObject({
      outcome: 'failed',
      why: 'the connection was refused',
    });
  });

  test('when the service stops, at once', async () => {
    const stopping = new AbortController();
    const { port } = await receiver(() => stopping.abort());
    const answer = await deliver(`http://hooks.example:${port}/`, { signal: stopping.signal });
    expect(answer).toMatchObject({ outcome: 'failed', why: 'the service stopped' });
  });
});
