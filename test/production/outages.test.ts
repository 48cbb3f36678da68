/** The log while the database or a node is away: why, once, and how long it took, once. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { serverMissing, startPostgresServer } from '../kits/databases/postgres-server.ts';
import { freePort } from '../kits/network/free-port.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  productionOf,
  type Started,
  sqliteLedger,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
beforeEach(async () => {
  kit = await startProductionKit();
});
afterEach(() => kit.stop());
const { start } = productionOf(() => kit);

/** Lines about the state of things outside, without those of single requests. */
const aboutStates = (of: Started) =>
  of
    .logLines()
    .filter(({ level, message }) => level !== 'info' || / back after | works again /.test(message));

describe.skipIf(serverMissing())('a Postgres of its own', () => {
  test('a database that is stopped and started is two lines: why, and for how long', async () => {
    const postgres = await startPostgresServer();
    try {
      const database = openPostgres(postgres.url);
      await prepareLedger(database);
      await database.close();
      const service = await start(postgres.url);
      const { event, admin } = service;
      expect((await event({ brandId, userEmail: 'first@shop.example' })).status).toBe(200);

      await postgres.halt();
      await until('readyz to say so', async () => (await admin('/readyz')).status === 503);
      expect((await event({ brandId, userEmail: 'second@shop.example' })).status).toBe(503);
      await until('the loss to be said', () => aboutStates(service).length > 0);
      await postgres.goOn();
      await until('readyz to be well again', async () => (await admin('/readyz')).status === 200);
      expect((await event({ brandId, userEmail: 'third@shop.example' })).status).toBe(200);
      await service.stop();

      const [away, back, ...more] = aboutStates(service);
      expect(more).toEqual([]);
      expect(away).toMatchObject({
        level: 'error',
        message: expect.stringMatching(/^the database is away: (?:ECONN|57P0\d: |Connection terminated)/),
      });
      expect(back).toMatchObject({
        level: 'info',
        why: away.why,
        awayMs: expect.any(Number),
        message: expect.stringMatching(/^the database is back after \d/),
      });
      expect(service.log()).not.toMatch(/select |insert |params|127\.0\.0\.1:/);
    } finally {
      await postgres.stop();
    }
  });
});

/** Passes requests on to Anvil from a port of its own, which can be closed. */
async function doorTo(url: string, port: number): Promise<{ url: string; close: () => Promise<void> }> {
  const door: Server = createServer((request, response) => {
    const onward = connect(Number(new URL(url).port), '127.0.0.1', () => {
      const head = [`POST / HTTP/1.1`, 'host: node', 'connection: close', 'content-type: application/json'];
      onward.write(`${head.join('\r\n')}\r\ncontent-length: ${request.headers['content-length']}\r\n\r\n`);
      request.pipe(onward, { end: false });
    });
    onward.pipe(response.socket as NodeJS.WritableStream);
    onward.on('error', () => response.destroy());
  }).listen(port, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      door.close();
      door.closeAllConnections();
      await once(door, 'close');
    },
  };
}

test('a node that goes and comes is two lines, though the other node answers meanwhile', async () => {
  const ledger = await sqliteLedger(kit.folder, 'nodes');
  const port = await freePort();
  let door = await doorTo(kit.anvil.url, port);
  const service = await start(ledger, { REWARDS_RPC_URL: `${door.url},${kit.anvil.url}` });
  await door.close();
  await until('the loss to be said', () => aboutStates(service).length === 1);
  expect((await service.event({ brandId, userEmail: 'first@shop.example' })).status).toBe(200);
  door = await doorTo(kit.anvil.url, port);
  await until('the return to be said', () => aboutStates(service).length === 2);
  await service.stop();
  await door.close();
  expect(aboutStates(service)).toMatchObject([
    {
      level: 'warn',
      node: 1,
      message: expect.stringMatching(/^chain node 1 is away: (?:ECONNRE(?:FUSED|SET)|UND_ERR_SOCKET)$/),
    },
    { level: 'info', node: 1, message: expect.stringMatching(/^chain node 1 is back after \d/) },
  ]);
});
