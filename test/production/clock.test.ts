/** Production beside a database whose clock is another: refused at the start, an alarm later, and business goes by the database. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { saveEventRule } from '../../src/ledger/brands/brands.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { onServer, postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.skipIf(postgresMissing() !== undefined)("a database's clock", () => {
  let kit: ProductionKit;
  let postgres: TestPostgres;
  beforeAll(async () => {
    kit = await startProductionKit();
    postgres = await startPostgres();
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await saveEventRule(database.db, {
      brandId,
      eventType: 'cool',
      position: 1,
      active: true,
      rewardAmount: 5,
      cooldownMs: 90_000,
      maxClaims: -1,
      maxTotalClaims: -1,
      detail: { eventId: 'cool', isCustom: false, detectionMethod: 'form', detectionConfig: {} },
    });
    await database.close();
    const name = new URL(postgres.url).pathname.slice(1);
    // The function of ours hides the server's own.
    await onServer(postgres.url, `alter database ${name} set search_path = public, pg_catalog`);
  });
  afterAll(async () => {
    await postgres.stop();
    await kit.stop();
  });
  const isAheadBy = (seconds: number) =>
    onServer(
      postgres.url,
      `create or replace function public.clock_timestamp() returns timestamptz language sql volatile
       as $$ select pg_catalog.clock_timestamp() + interval '${seconds} seconds' $$`,
    );

  test.each([
    [7, 'behind'],
    [-7, 'ahead of'],
  ])('%i s ahead of this machine: start refuses, with the difference', async (seconds, side) => {
    await isAheadBy(seconds);
    const env = kit.environment(postgres.url);
    const { envelope, code } = await rewardsJson(['start', '--check'], { env });
    expect([code, envelope.error.code]).toEqual([5, 'E_PROD_CLOCK']);
    expect(envelope.error.message).toMatch(new RegExp(`clock is [67] s ${side} the database's`));
  });

  test('it moves while the service runs: an alarm, and cooldowns go by it', async () => {
    await isAheadBy(0);
    const service = await startProduction(kit.environment(postgres.url));
    try {
      const cool = { brandId, eventType: 'cool', userEmail: 'alice@shop.example' };
      expect((await service.event(cool)).status).toBe(200);
      const early = await service.event(cool);
      expect([early.status, early.body.details.reason]).toEqual([409, 'duplicate']);
      await isAheadBy(91);
      expect((await service.event(cool)).status).toBe(200);
      await until('the alarm', async () => service.logLines().some(({ alarm }) => alarm === 'clock_differs'));
      await isAheadBy(0);
      const over = ({ alarm, message }: { alarm?: string; message?: string }) =>
        alarm === 'clock_differs' && message === 'alarm is over';
      await until('its end', () => service.logLines().some(over));
    } finally {
      await service.stop();
    }
  });
});
