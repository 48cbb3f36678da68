/** Ports for servers that a test starts itself. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port that nobody listens on. The system gives none of these to a program that asks for any, so that none has it by chance when it
 * is used, or used again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const isFree = new Promise((resolve) => {
      server.once('error', () => resolve(false)).once('listening', () => resolve(true));
    });
    server.listen(port, '127.0.0.1');
    if (!(await isFree)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
