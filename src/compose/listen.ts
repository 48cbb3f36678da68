/** Opens listeners for hosts, and closes them without cutting requests under way. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { delay } from '../lib/timers.ts';
import { PreconditionError } from './precondition.ts';

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

/** Listens on `port` (0: any free port). When a default port is taken, the next free port replaces it; a port that the user chose is never replaced. */
export async function listen(
  app: Pick<Hono, 'fetch'>,
  at: { bindAddress: string; port: number; explicit: boolean },
): Promise<Listener> {
  const last = at.explicit || at.port === 0 ? at.port : at.port + NEXT_PORTS;
  for (let port = at.port; port <= last; port++) {
    const server = createAdaptorServer({ fetch: app.fetch }) as Server;
    const taken = await new Promise<boolean>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
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
    fix: 'stop the program that holds it, or choose another with --port N (0 picks a free one)',
  });
}

async function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  await takeBacklog();
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
