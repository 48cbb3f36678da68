/** Stands between a service and its Postgres, and cuts connections; also between the COMMIT and its answer. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { seededChance } from '../../kits/run/seeded-chance.ts';

/** What drivers send to commit: a query message with just this text. */
const COMMIT = /commit;?\0/i;

interface Watch {
  nth: number;
  isPassedOn: boolean;
  act(): void;
}

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** `target` may be moved, as a name or a virtual address is moved to another server. */
export async function startTcpProxy(options: { host: string; port: number; seed?: number }) {
  const chance = seededChance(options.seed ?? 1);
  let target = { host: options.host, port: options.port };
  let cutAfterCommit = 0;
  /** How many messages still pass until the server is gone; undefined: all of them. */
  let messagesLeft: number | undefined;
  let messages = 0;
  let watch: Watch | undefined;
  let isSilent = false;
  const cuts = { afterCommit: 0, commits: 0 };
  const pairs = new Set<{ client: Socket; server: Socket }>();

  const listener = createServer((client) => {
    if (messagesLeft === 0) return void client.destroy();
    const server = connect(target.port, target.host);
    const pair = { client, server };
    pairs.add(pair);
    if (isSilent) client.pause();
    const cut = () => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    let swallowing = false;
    client.on('data', (chunk) => {
      messages += 1;
      if (messagesLeft !== undefined && messagesLeft > 0) messagesLeft -= 1;
      if (messagesLeft === 0) return cutAll();
      if (watch && messages === watch.nth) {
        if (watch.isPassedOn) server.write(chunk);
        return watch.act();
      }
      if (COMMIT.test(chunk.toString('latin1'))) {
        cuts.commits += 1;
        swallowing = chance.unit() < cutAfterCommit;
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!swallowing) return void client.write(chunk);
      // The server has answered, so it has committed; the client never learns it.
      cuts.afterCommit += 1;
      cut();
    });
    for (const socket of [client, server]) socket.on('error', cut).on('close', cut);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  const cutAll = () => {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  };
  return {
    port: address.port,
    /** The same URL with the proxy in place of the server. */
    urlOf(serverUrl: string) {
      const url = new URL(serverUrl);
      url.host = `127.0.0.1:${address.port}`;
      return url.href;
    },
    cuts,
    /** Part of the commits whose answer is swallowed together with the connection. */
    cutAfterCommits(probability: number) {
      cutAfterCommit = probability;
    },
    /** From now on the server is gone with its nth message, and stays away. `undefined` brings it back. */
    cutAtMessage(count: number | undefined) {
      messages = 0;
      messagesLeft = count;
    },
    /** Counts anew; with the nth message something happens to the server, before or after it has the message. */
    atMessage(next: Watch | undefined) {
      messages = 0;
      watch = next;
    },
    /** Messages of clients since the last `cutAtMessage` or `atMessage`. */
    messages: () => messages,
    cutAll,
    /** Takes connections and passes nothing on, as a network that drops everything; until it is called with false. */
    silence(on: boolean) {
      isSilent = on;
      for (const { client, server } of pairs)
        for (const socket of [client, server]) on ? socket.pause() : socket.resume();
    },
    moveTo(host: string, port: number) {
      target = { host, port };
      cutAll();
    },
    async stop() {
      listener.close();
      cutAll();
      if (listener.listening) await once(listener, 'close');
    },
  };
}
