/** A stop of `rewards start` while its database is away: clean, in time, and the log says what was left. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { serverMissing, startPostgresServer } from '../kits/databases/postgres-server.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  productionOf,
  type Started,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;
beforeAll(async () => {
  kit = await startProductionKit();
});
afterAll(() => kit.stop());
const { start, agrees } = productionOf(() => kit);

const isNotReady = (service: Started) => async () => (await service.admin('/readyz')).status === 503;

/** Ends it with SIGTERM: the exit code, and the lines of its log from then on. */
async function stopped(service: Started) {
  const { code } = await service.stop();
  const lines = service.logLines();
  return { code, lines: lines.slice(lines.findIndex(({ message }) => message === 'stopping') + 1) };
}

/** Of each lane that the process had. */
const leftLanes = (of: Started, lines: { level: string; message: string; purpose?: string }[]) => {
  const had = of.logLines().filter(({ message }) => message === 'this process sends for the lane now');
  const left = lines.filter(({ message }) => message.includes('a lane is not given back'));
  return [had, left].map((some) => some.map(({ purpose }) => purpose).sort());
};

describe.skipIf(serverMissing())('a Postgres that was stopped', () => {
  test('a stop is clean and names the lanes that are left; the next process takes them', async () => {
    const postgres = await startPostgresServer();
    try {
      const { url: ledger } = postgres;
      const database = openPostgres(ledger);
      await prepareLedger(database);
      await database.close();
      const service = await start(ledger);
      expect((await service.event({ brandId, userEmail: 'first@shop.example' })).status).toBe(200);
      await postgres.halt();
      await until('readyz to say so', isNotReady(service));
      expect((await service.event({ brandId, userEmail: 'second@shop.example' })).status).toBe(503);

      const { code, lines } = await stopped(service);
      expect(code).toBe(0);
      expect(lines.at(-1)).toMatchObject({ message: 'stopped', clean: true });
      expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
      const [had, left] = leftLanes(service, lines);
      expect(left).toEqual(had);
      expect(left).toContain('payout');

      await postgres.goOn();
      const next = await start(ledger);
      expect((await next.event({ brandId, userEmail: 'third@shop.example' })).status).toBe(200);
      expect(await stopped(next)).toMatchObject({ code: 0 });
      expect(await agrees(ledger)).toMatchObject({ rewards: 2 });
    } finally {
      await postgres.stop();
    }
  });
});
