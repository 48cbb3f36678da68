/** `rewards perks redeem` against a service in production, with the brand named by its domain. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres } from '../kits/databases/databases.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { brandId, prepareLedger, startProduction, startProductionKit } from '../kits/service/production.ts';

// Starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000 });

const user = 'alice@people.example';

/** A proxy with TLS in front of the service, as the service sees one. */
async function frontOf(url: string) {
  const front = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https' };
    const asked = request(
      new URL(incoming.url ?? '/', url),
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(asked);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => front.close() };
}

// A ledger on SQLite belongs to its service while that runs.
test.skipIf(postgresMissing())(
  'its database tells whose the domain is, and the service redeems',
  async () => {
    const kit = await startProductionKit();
    const postgres = await startPostgres();
    try {
      const database = openPostgres(postgres.url);
      await prepareLedger(database);
      await database.close();
      const env = kit.environment(postgres.url);
      const run = (...args: string[]) => rewardsJson(args, { env });
      expect((await run('brand', 'set', 'shop.example', 'redemptions=open')).code).toBe(0);
      const wish = ['--perk-name', 'Tote bag', '--category', 'physical', '--cost', '1'];
      expect((await run('perks', 'add', 'shop.example', ...wish)).code).toBe(0);
      const service = await startProduction(env);
      const front = await frontOf(service.ready.urls.events ?? '');
      const redeem = ['perks', 'redeem', user, 'Tote bag', '--brand'];
      const at = ['--target', front.url];
      try {
        expect((await service.event({ brandId, userEmail: user })).status).toBe(200);
        await until('the perk to be redeemed', async () => {
          const { code, envelope } = await run(...redeem, 'shop.example', ...at);
          if (code !== 0) return false;
          expect(envelope).toMatchObject({
            meta: { target: front.url },
            data: { body: { success: true } },
          });
          return true;
        });
        const nobody = await run(...redeem, 'nobody.example', ...at);
        expect([nobody.code, nobody.envelope.error.message]).toEqual([
          1,
          'No brand here has the domain nobody.example.',
        ]);
        const untold = await rewardsJson([...redeem, 'shop.example', ...at]);
        expect(untold.envelope.error).toMatchObject({
          code: 'E_USAGE',
          hint: expect.stringContaining('--database-url-file'),
        });
        const serviceless = await run(...redeem, 'shop.example');
        expect(serviceless.envelope.error).toMatchObject({
          code: 'E_NOT_RUNNING',
          hint: expect.stringContaining('--target'),
        });
      } finally {
        front.close();
        await service.stop();
      }
    } finally {
      await postgres.stop();
      await kit.stop();
    }
  },
);
