/** One request to a node: what is sent, what counts as an answer, and what is said when there is none. */
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRpc, RpcAnswerError, RpcTooLargeError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';

let url = '';
let answer: { status?: number; body?: string; chunked?: boolean; gzip?: boolean } | 'never' = {};
let got: { headers: IncomingMessage['headers']; body: string; path: string | undefined } | undefined;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  got = { headers: request.headers, body, path: request.url };
  if (answer === 'never') return;
  const text = answer.gzip ? gzipSync(answer.body ?? '') : Buffer.from(answer.body ?? '');
  const length = answer.chunked ? {} : { 'content-length': text.length };
  const coding = answer.gzip ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...length, ...coding });
  response.end(text);
});
const connections = new Set<Socket>();
server.on('connection', (socket) => connections.add(socket));
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1?key=secret`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ask = (
  of: typeof answer,
  { method = 'eth_anything', to = url, timeoutMs = 20_000, answerMaxBytes = 1_000 } = {},
) => {
  answer = of;
  return createRpc({ url: to, timeoutMs, answerMaxBytes })(method, ['0x1', 2]);
};
const thrown = async (of: typeof answer, more?: Parameters<typeof ask>[1]) => {
  const error: unknown = await ask(of, more).catch((one: unknown) => one);
  if (!(error instanceof Error)) throw new Error(`an answer: ${error}`);
  return error;
};

test('a request is JSON-RPC 2.0; user and password of the URL become a header', async () => {
  expect(await ask({ body: '{"result":"0x5"}' })).toBe('0x5');
  expect(JSON.parse(got?.body ?? '')).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_anything',
    params: ['0x1', 2],
  });
  expect(got?.headers).toMatchObject({ 'content-type': 'application/json' });
  expect([got?.headers.authorization, got?.path]).toEqual([undefined, '/v1?key=secret']);
  const to = url.replace('//', '//me:pass%3Aword@');
  expect(await ask({ body: '{"result":null}' }, { to })).toBeNull();
  const basic = Buffer.from('me:pass:word').toString('base64');
  expect(got?.headers.authorization).toBe(`Basic ${basic}`);
});

test('a request that is answered leaves no timer behind, which would keep a process from its end for a minute', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const requests = 50;
  for (let count = 0; count < requests; count++) await ask({ body: '{"result":"0x5"}' });
  // The server of this test has a few of its own.
  expect(timers() - before).toBeLessThan(requests / 2);
});

test('requests that follow each other share a connection', async () => {
  answer = { body: '{"result":"0x5"}' };
  const rpc = createRpc({ url, timeoutMs: 20_000, answerMaxBytes: 1_000 });
  connections.clear();
  for (let count = 0; count < 20; count++) expect(await rpc('eth_anything', [])).toBe('0x5');
  expect(connections.size).toBe(1);
});

test('a packed answer is unpacked, and never beyond the limit', async () => {
  const body = (bytes: number) => JSON.stringify({ result: 'x'.repeat(bytes - 13) });
  for (const chunked of [true, false]) {
    expect(await ask({ body: body(1_000), gzip: true, chunked })).toHaveLength(987);
    expect(got?.headers['accept-encoding']).toBe('gzip');
    const error = await thrown({ body: body(5_000_000), gzip: true, chunked });
    expect(error).toBeInstanceOf(RpcTooLargeError);
  }
  const damaged = await thrown({ body: 'x'.repeat(2_000), gzip: true }, { answerMaxBytes: 10 });
  expect(damaged).toBeInstanceOf(RpcTooLargeError);
});

test.each([
  '{"error":{"code":-32000,"message":"nonce too low"}}',
  '{"error":{"code":-32000,"message":"nonce too low"},"result":"0x1"}',
])('an error of the node is an answer, whatever the status: %s', async (body) => {
  for (const status of [200, 400, 500]) {
    const error = await thrown({ status, body });
    expect(error).toBeInstanceOf(RpcAnswerError);
    expect(error).toMatchObject({ rpcCode: -32000, nodeMessage: 'nonce too low', othersUnanswered: false });
  }
});

test('of what a node says a line is told, and all of it is kept to be sorted', async () => {
  const message = `${'word '.repeat(100)}end`;
  const error = await thrown({ body: JSON.stringify({ error: { code: -32000, message } }) });
  const told = `eth_anything: the node answered with error -32000: ${message.slice(0, 300)}`;
  expect([error.message, error.name]).toEqual([told, 'RpcAnswerError']);
  expect(error).toMatchObject({ nodeMessage: message });
});

test.each([
  'text',
  '',
  'null',
  '"0x1"',
  '[]',
  '{}',
  '{"error":null}',
  '{"error":"text"}',
  '{"error":{"code":1}}',
  '{"error":{"message":"text"}}',
  '{"error":{"code":"1","message":"text"}}',
  '{"error":{"code":1,"message":2}}',
])('what is no answer is unreadable: %s', async (body) => {
  const error = await thrown({ body });
  expect(error).toBeInstanceOf(RpcUnreachableError);
  expect(error).toMatchObject({
    message: 'eth_anything: an unreadable answer from the node',
    reason: 'an unreadable answer',
  });
});

test('an answer of another form than its method promises is unreadable', async () => {
  expect(await thrown({ body: '{"result":"five"}' }, { method: 'eth_blockNumber' })).toMatchObject({
    reason: 'an unreadable answer',
  });
  expect(await ask({ body: '{"error":null,"result":"0x5"}' }, { method: 'eth_blockNumber' })).toBe('0x5');
});

test('a status without an answer is told, and so are a closed port and a time that is over; the URL is not', async () => {
  const reasons = [
    await thrown({ status: 503, body: '{"result":"0x1"}' }),
    await thrown({ status: 503, body: 'no' }),
    await thrown({ status: 307, body: '{"result":"0x1"}' }),
    await thrown({}, { to: url.replace(/:\d+/, ':1') }),
    await thrown('never', { timeoutMs: 50 }),
    await thrown({}, { to: 'no url' }),
    await thrown({}, { to: 'NO URL 7' }),
  ];
  expect(reasons.map((error) => (error as RpcUnreachableError).reason)).toEqual([
    'HTTP 503',
    'HTTP 503',
    'HTTP 307',
    expect.stringMatching(/^[A-Z_]+$|^no answer$/),
    'timeout',
    expect.stringMatching(/^[A-Z_]+$|^no answer$/),
    expect.stringMatching(/^[A-Z_]+$|^no answer$/),
  ]);
  for (const error of reasons) {
    expect(error).toBeInstanceOf(RpcUnreachableError);
    expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/127\.0\.0\.1|secret|no url/i);
    expect(error.message).toBe('eth_anything: no answer from the node');
  }
});

test.each([true, false])(
  'an answer over the limit is too large, told beforehand or not: %s',
  async (chunked) => {
    const body = (bytes: number) => JSON.stringify({ result: 'x'.repeat(bytes - 13) });
    expect(await ask({ body: body(1_000), chunked })).toHaveLength(987);
    const error = await thrown({ body: body(1_001), chunked });
    expect(error).toBeInstanceOf(RpcTooLargeError);
    expect(error.message).toBe('eth_anything: the answer is too large for our limit of 1000 bytes');
    const rpc = createRpc({ url, timeoutMs: 20_000, answerMaxBytes: 1_000 });
    await expect(rpc('eth_anything', [], { answerMaxBytes: 999 })).rejects.toThrow('our limit of 999 bytes');
  },
);

test.each([
  ['eth_getLogs', true],
  ['eth_getBlockReceipts', true],
  ['eth_call', false],
])('a limit of the node on %s is one on the answer: %s', async (method, tooLarge) => {
  const body = '{"error":{"code":-32005,"message":"query returned more than 10,000 results"}}';
  const error = await thrown({ body }, { method });
  expect(error).toBeInstanceOf(tooLarge ? RpcTooLargeError : RpcAnswerError);
  if (tooLarge) expect(error.message).toBe(`${method}: the answer is too large for the node`);
});
