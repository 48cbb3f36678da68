/** A receiver of webhooks on this machine, which keeps what came and counts who connected. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { hooksCertificate, testKey } from './certificates.ts';

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** The name that the connection asked for by TLS. */
  servername?: string | false;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const ok: Answer = (_, response) => response.writeHead(200).end('ok');

/** `secure` takes another certificate than that of hooks.example, or none for plain HTTP. */
export async function startReceiver(
  answer: Answer = ok,
  { secure, host = '127.0.0.1' }: { secure?: true | { cert: string }; host?: string } = {},
) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const counts = { connections: 0 };
  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { servername } = request.socket as { servername?: string | false };
    received.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks),
      ...(servername !== undefined && { servername }),
    });
    await answer(request, response);
  };
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    void onRequest(request, response).catch(() => response.destroy());
  const certificate = typeof secure === 'object' ? secure.cert : hooksCertificate;
  const server = secure
    ? createSecureServer({ key: testKey, cert: certificate }, handle)
    : createServer(handle);
  server.on('connection', (socket: Socket) => {
    counts.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    received,
    counts,
    sockets,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
