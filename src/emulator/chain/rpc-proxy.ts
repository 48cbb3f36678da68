/**
 * The door in front of the local node, for programs and pages of this machine. Whoever reaches the node owns its chain, so
 * a page of another site must not: neither by its own requests (Origin) nor under a name that it has pointed at this
 * machine (Host). The node itself listens on a port that is told to nobody.
 */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { AnvilError } from '../../chain/development/find-anvil.ts';
import { isLoopback } from '../../rules/brands/domain.ts';

export interface RpcProxy {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Wallets in the browser ask on behalf of their user, not of a page. */
const EXTENSION = /^[a-z]+(?:-[a-z]+)*-extension:$/;

/**
 * Passes HTTP and WebSocket on to the node, wherever `port` says that it is by then; undefined while there is none. Rejects
 * with E_PORT_TAKEN for a port that is taken.
 */
export async function openRpcProxy(
  node: { port: () => number | undefined | Promise<number | undefined>; bindAddress: string },
  at: { port: number },
): Promise<RpcProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, outgoing) => {
    const refusal = refusalOf(incoming);
    if (refusal) return answer(outgoing, 403, refusal);
    allowOrigin(incoming, outgoing);
    if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204).end();
    const { method, url: path, headers } = incoming;
    const port = await node.port();
    if (port === undefined) return answer(outgoing, 502, GONE);
    const passed = { ...headers, host: `${node.bindAddress}:${port}` };
    const onward = request({ host: node.bindAddress, port, agent, method, path, headers: passed });
    onward.on('response', (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : answer(outgoing, 502, GONE)));
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('upgrade', async (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    if (refusalOf(incoming)) return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    socket.on('error', () => socket.destroy());
    const port = await node.port();
    if (port === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
    const onward = connect(port, node.bindAddress, () => {
      onward.write(headOf(incoming));
      onward.write(head);
      onward.pipe(socket);
      socket.pipe(onward);
    });
    for (const one of [onward, socket]) one.on('error', () => [onward, socket].map((each) => each.destroy()));
  });
  // A large state takes longer to send than Node grants a request.
  server.requestTimeout = 0;
  server.listen(at.port, node.bindAddress);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new AnvilError({
      code: 'E_PORT_TAKEN',
      message: `Port ${at.port} on ${node.bindAddress} for the local chain is already in use`,
      fix: 'Stop the program that holds it, or choose another with --rpc-port N (0 takes a free port)',
    });
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${node.bindAddress}:${port}`,
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

const GONE = 'the node does not answer';

/** Undefined for a program or a page of this machine. */
function refusalOf({ headers }: IncomingMessage): string | undefined {
  const host = hostOf(`http://${headers.host ?? ''}`);
  if (!isOurs(host)) return 'the node answers only to this machine, under localhost or 127.0.0.1';
  if (headers.origin === undefined || EXTENSION.test(protocolOf(headers.origin))) return undefined;
  return isOurs(hostOf(headers.origin)) ? undefined : 'the node answers no pages of other sites';
}

const isOurs = (host: string | undefined) => host !== undefined && (isLoopback(host) || host === '[::1]');
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : undefined);
const protocolOf = (url: string) => (URL.canParse(url) ? new URL(url).protocol : '');

/** A page on localhost may read the answer, as it could without CORS if the node had its origin. */
function allowOrigin({ headers }: IncomingMessage, outgoing: ServerResponse): void {
  if (headers.origin === undefined) return;
  outgoing.setHeader('access-control-allow-origin', headers.origin);
  outgoing.setHeader('access-control-allow-headers', 'content-type');
  outgoing.setHeader('access-control-allow-methods', 'POST');
  outgoing.setHeader('vary', 'origin');
}

function answer(outgoing: ServerResponse, status: number, message: string): void {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_600, message } };
  outgoing.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  outgoing.end(JSON.stringify(body));
}

/** The head of an upgrade request as it came. */
function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? `${name}: ${rawHeaders[index + 1]}` : [],
  );
  return `${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}
