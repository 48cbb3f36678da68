/** One request to a stranger's URL, as its caller sees it. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Asked, ask } from '../../src/outgoing/ask.ts';
import { refuseUrl } from '../../src/outgoing/target.ts';
import { startReceiver } from '../kits/network/receivers.ts';

const limits = { connectMs: 20_000, totalMs: 20_000, bytesMax: 10 };
const get = (url: string, more: Partial<Asked> = {}) =>
  ask(
    { reach: { to: 'any' }, addressesOf: async () => ['127.0.0.1'] },
    { method: 'GET', url, headers: {}, limits, ...more },
  );

async function receiver(...options: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...options);
  onTestFinished(started.stop);
  return started;
}

test('a GET has no body, and says nothing that it was not told to say', async () => {
  const { port, received } = await receiver();
  await get(`http://shop.example:${port}/rule?user=a%40b`, { headers: { accept: 'application/json' } });
  expect(received).toEqual([
    {
      method: 'GET',
      path: '/rule?user=a%40b',
      headers: {
        'accept-encoding': 'identity',
        accept: 'application/json',
        host: `shop.example:${port}`,
        connection: 'close',
      },
      body: Buffer.alloc(0),
    },
  ]);
});

describe('the answer says whether all of it came', () => {
  test.each([
    [9, true],
    [10, true],
    [11, false],
    [100_000, false],
  ])('%i bytes of at most 10', async (length, isComplete) => {
    const { port } = await receiver((_, response) => response.end('x'.repeat(length)));
    const answer = await get(`http://shop.example:${port}/`);
    expect(answer).toMatchObject({ outcome: 'answered', status: 200, isComplete });
    expect(answer.outcome === 'answered' && Buffer.from(answer.body).toString()).toBe(
      'x'.repeat(Math.min(length, 10)),
    );
  });

  test('not when the connection ended before', async () => {
    const { port } = await receiver((_, response) => {
      response.writeHead(200, { 'content-length': 9 }).write('half');
      setImmediate(() => response.destroy());
    });
    expect(await get(`http://shop.example:${port}/`)).toMatchObject({
      outcome: 'answered',
      isComplete: false,
    });
  });
});

test('nothing is asked when the process stops already', async () => {
  const { port, counts } = await receiver();
  const answer = await get(`http://shop.example:${port}/`, { signal: AbortSignal.abort() });
  expect(answer).toMatchObject({ outcome: 'failed', why: 'the service stopped' });
  expect(counts.connections).toBe(0);
});

test('a signal that outlives a request keeps nothing of it', async () => {
  const { port } = await receiver();
  const stopping = new AbortController();
  const { signal } = stopping;
  const counts = { added: 0, removed: 0 };
  const spied = new Proxy(signal, {
    get(target, name) {
      if (name === 'addEventListener') counts.added += 1;
      if (name === 'removeEventListener') counts.removed += 1;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  for (let n = 0; n < 3; n++) await get(`http://shop.example:${port}/`, { signal: spied });
  expect(counts).toEqual({ added: 3, removed: 3 });
});

// Linux answers so for addresses of everybody; other systems have other words.
test.runIf(process.platform === 'linux')('an address that no route leads to', async () => {
  expect(await get('http://255.255.255.255:9/')).toMatchObject({
    outcome: 'failed',
    why: 'the address cannot be reached',
  });
});

test('a URL may have 2,048 characters', () => {
  const url = (length: number) =>
    `https://shop.example/${'a'.repeat(length - 'https://shop.example/'.length)}`;
  expect([2_048, 2_049].map((length) => refuseUrl({ to: 'any' }, url(length)))).toEqual([
    undefined,
    'is longer than 2048 characters',
  ]);
});
