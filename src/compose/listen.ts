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

/** Ports tried after a default one that is taken. */
const NEXT_PORTS = 20;

/** Connections that may wait to be accepted; the system may allow fewer. A burst of callers is what this service is for. */
const BACKLOG = 4_096;

/** Listens on `port` (0: any free one). A port that is taken and was not asked for by number gives way to the next free one. */
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
 * Connections that wait to be accepted are cut when the listener closes; in one full turn of the event loop all that
 * wait now are taken. Who comes between that and the close is refused, before anything of the request was read.
 */
async function takeBacklog(): Promise<void> {
  for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate);
}
