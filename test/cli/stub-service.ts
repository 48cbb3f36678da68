/** A plain HTTP server that answers as a test says and remembers what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  socket: Socket;
}

type Answer = { status?: number; headers?: Record<string, string>; body?: unknown; text?: string };

export async function stubService(answer: (asked: Asked, raw: ServerResponse) => Answer | undefined) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await text(request),
      socket: request.socket,
    };
    asked.push(one);
    const said = answer(one, response);
    if (!said) return;
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json', ...said.headers });
    response.end(said.text ?? JSON.stringify(said.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a stack of this process would write to its run file. */
export const runInfo = (url: string, more: { pid?: number; name?: string; brandId?: string } = {}) => ({
  program: '0.0.0',
  pid: more.pid ?? process.pid,
  name: more.name,
  urls: {
    events: url,
    relay: url,
    register: url,
    services: url,
    site: url,
    control: `${url}/_rewards`,
    rpc: 'http://127.0.0.1:8545',
  },
  controlToken: 'control-token',
  chain: { id: 31337 },
  contracts: { token: '0x1', escrow: '0x2', perks: '0x3', pointsSale: '0x4' },
  brands: [
    {
      brandId: more.brandId ?? '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
      domain: 'demo.example',
      apiKey: 'rk_dev_x_y',
      webhookSecret: 'whsec_x',
      events: ['account_creation'],
    },
  ],
  users: [{ email: 'alice@demo.example', address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' }],
  processor: { url, secretKey: 'sk_test_x', webhookSecret: 'whsec_y' },
  dataDir: '/nowhere',
});
