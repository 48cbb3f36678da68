/** Opens listeners for hosts, and closes them without cutting requests under way. */
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { delay } from '../lib/timers.ts';
import { answerInTurn } from './answer-in-turn.ts';
import { settings } from './config.ts';

export interface Listener {
  url: string;
  port: number;
  /** Stops accepting, lets requests under way finish for `drainTimeoutMs`, then cuts them. */
  close(drainTimeoutMs: number): Promise<void>;
}

/** How many ports are tried after a default port that is taken. */
const NEXT_PORTS = 20;

/** Connections that may wait to be accepted; the system may allow fewer. The service must take bursts of callers. */
const BACKLOG = 4_096;

interface ListenAt {
  bindAddress: string;
  port: number;
  explicit: boolean;
  /** The flag that chooses the port; `--port` when it is left out. */
  flag?: string;
  /** In place of those in the config. */
  limits?: Partial<ConnectionLimits>;
}

type ConnectionLimits = { [Limit in keyof typeof settings.connections]: number };

/** Listens on `port` (0: any free port). When a default port is taken, the next free port replaces it; a port that the user chose is never replaced. */
export async function listen(app: Pick<Hono, 'fetch'>, at: ListenAt): Promise<Listener> {
  const last = at.explicit || at.port === 0 ? at.port : at.port + NEXT_PORTS;
  for (let port = at.port; port <= last; port++) {
    const server = limitedServer(app, at);
    const taken = await new Promise<boolean>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE'
          ? resolve(true)
          : reject(new PreconditionError(cannotListen(error.code, { address: at.bindAddress, port }))),
      );
      server.listen({ port, host: at.bindAddress, backlog: BACKLOG }, () => resolve(false));
    });
    if (taken) continue;
    const address = server.address();
    const bound = typeof address === 'object' && address ? address.port : port;
    return {
      url: `http://${at.bindAddress}:${bound}`,
      port: bound,
      close: (drainMs) => closeServer(server, drainMs),
    };
  }
  throw new PreconditionError({
    code: 'E_PORT_TAKEN',
    message: `port ${at.port} is taken${at.explicit ? '' : `, and so are the ${NEXT_PORTS} after it`}`,
    fix: `stop the program that holds it (\`rewards doctor ports\` names it), or choose another with ${at.flag ?? '--port'} N (0 picks a free one)`,
  });
}

/** Why a server cannot listen there: not for a port that is taken, but by the system's code. */
export function cannotListen(
  cause = 'an unknown error',
  { address, port }: { address: string; port: number },
): { code: string; message: string; fix: string } {
  if (cause === 'EACCES')
    return {
      code: 'E_LISTEN',
      message: `this user may not listen on port ${port} of ${address} (${cause})`,
      fix: 'choose a port above 1023, or let the user take lower ones',
    };
  return {
    code: 'E_LISTEN',
    message: `${address} is not an address of this machine (${cause})`,
    fix: 'name one that it has (`ip address` shows them); 0.0.0.0 stands for all of them',
  };
}

function limitedServer(app: Pick<Hono, 'fetch'>, at: ListenAt): Server {
  const limits: ConnectionLimits = { ...settings.connections, ...at.limits };
  // Stands for the Host header that HTTP/1.0 does not ask for, as in the probes of balancers.
  const answer = getRequestListener(app.fetch, { hostname: 'localhost' });
  const server = createServer(
    {
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    answerInTurn(answer, limits),
  );
  server.maxConnections = limits.connectionsMax;
  server.setTimeout(limits.silenceMs);
  return server;
}

async function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  await takeBacklog();
  // A connection that is answered from now on closes, so that a stop ends with the last answer.
  server.keepAliveTimeout = 1;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = new AbortController();
  await Promise.race([closed, delay(drainTimeoutMs, cut.signal).then(() => server.closeAllConnections())]);
  cut.abort();
}

/**
 * Closing the listener cuts connections that wait to be accepted. One full turn of the event loop accepts all that wait
 * now. A connection that arrives after this is refused before its request is read.
 */
async function takeBacklog(): Promise<void> {
  for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate);
}
