/** The emulator's node is for this machine: pages of other sites reach it neither directly nor under a name of theirs. */
import { request } from 'node:http';
import { createPublicClient, http, webSocket } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** Sends a call as another program or page would, with any Host and Origin. */
function call(headers: Record<string, string>, method = 'POST') {
  const { hostname, port } = new URL(service.ready.urls.rpc);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const sent = request({
        hostname,
        port,
        method,
        headers: { 'content-type': 'application/json', ...headers },
      });
      sent.on('response', async (response) => {
        let text = '';
        for await (const part of response) text += part;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      sent.on('error', reject).end(method === 'POST' ? body : '');
    },
  );
}

test.each([
  ['a program', {}],
  ['a program that says localhost', { host: 'localhost:8545' }],
  ['a page on localhost', { origin: 'http://localhost:3000' }],
  ['a wallet in the browser', { origin: 'chrome-extension://abcdefgh' }],
])('%s is answered', async (_, headers) => {
  const { status, text, headers: said } = await call(headers);
  expect([status, JSON.parse(text).result]).toEqual([200, '0x7a69']);
  expect(said['access-control-allow-origin']).toBe('origin' in headers ? headers.origin : undefined);
});

test.each([
  ['of another site', { origin: 'https://evil.example' }],
  ['without an origin of its own', { origin: 'null' }],
  ['under a name that points here', { host: 'evil.example:8545' }],
  ['with both', { host: 'evil.example:8545', origin: 'http://evil.example:8545' }],
])('a page %s is refused, and so is its preflight', async (_, headers) => {
  for (const method of ['POST', 'OPTIONS']) {
    const { status, text, headers: said } = await call(headers, method);
    expect([status, JSON.parse(text).error.message]).toEqual([
      403,
      expect.stringMatching(/^the node answers/),
    ]);
    expect(said['access-control-allow-origin']).toBeUndefined();
  }
});

test("HTTP and WebSocket clients work through it, and see the service's own transactions", async () => {
  await service.event({ userEmail: 'alice@demo.example' });
  const overHttp = createPublicClient({ transport: http(service.ready.urls.rpc) });
  const overSocket = createPublicClient({
    transport: webSocket(service.ready.urls.rpc.replace('http', 'ws')),
  });
  const [one, other] = [await overHttp.getBlockNumber({ cacheTime: 0 }), await overSocket.getBlockNumber()];
  expect(one).toBeGreaterThan(0n);
  expect(other).toBe(one);
  const { socket } = await (
    overSocket.transport as unknown as { getRpcClient: () => Promise<{ socket: WebSocket }> }
  ).getRpcClient();
  socket.close();
});

test('a WebSocket of another site is refused', async () => {
  const { hostname, port } = new URL(service.ready.urls.rpc);
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    origin: 'https://evil.example',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  const status = await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, headers });
    sent.on('upgrade', (response) => resolve(response.statusCode));
    sent.on('response', (response) => resolve(response.resume().statusCode));
    sent.on('error', reject).end();
  });
  expect(status).toBe(403);
});
