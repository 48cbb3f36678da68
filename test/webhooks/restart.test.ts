/** What a process had under way when it was killed goes out as soon as it is back, and a slow receiver keeps its lease. */
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookDeliveries } from '../../src/ledger/schema/webhooks.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { freshAddress, freshKey, postgresMissing } from '../kits/databases/databases.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { seededChance } from '../kits/run/seeded-chance.ts';
import { rewardsJson, serve, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { bundleScript, ended, printed, type Script } from '../ledger/child.ts';
import { withDatabase } from './own-database.ts';

const HOUR_MS = 3_600_000;
const SEEDS = [1, 2, 3];
/** Of one endpoint at once. */
const UNDER_WAY_MAX = 4;
/** Where a process holds a lease, and the ledger does not know yet that the webhook was delivered. */
const HELD_AT = ['webhook.leased', 'webhook.posting', 'webhook.answered', 'webhook.before-record'] as const;

test.each(SEEDS)(
  'serve, killed with webhooks under way: after the restart they go out at once, whatever their leases say (seed %i)',
  async (seed) => {
    const chance = seededChance(seed);
    const underWay = 1 + chance.below(UNDER_WAY_MAX);
    const events = underWay + chance.below(6);
    const leasedForMs = (1 + chance.below(48)) * HOUR_MS;
    const project = await temporaryDirectory();
    let isWell = false;
    const receiver = await startReceiver((_, response) => {
      if (isWell) response.writeHead(200).end('ok');
    });
    const start = () =>
      serve(['--port', '0', '--rpc-port', '0', '--persist-to', 'data'], { cwd: project.path });
    const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
    try {
      let stack = await start();
      const [brand] = stack.ready.brands;
      const url = `http://127.0.0.1:${receiver.port}/hook`;
      const added = await json('webhooks', 'endpoints', 'add', brand?.domain ?? '', url);
      expect(added.code).toBe(0);
      const { id } = added.envelope.data.body;
      for (let event = 0; event < events; event += 1) {
        const user = `user${event}@people.example`;
        expect((await json('send-event', 'account_creation', '--user', user)).code).toBe(0);
      }
      await until('some are under way', () => receiver.received.length >= underWay);
      await stack.stop('SIGKILL');
      const ledger = new SqliteDatabase(join(project.path, 'data', 'ledger.sqlite'));
      const { changes } = ledger
        .prepare('update webhook_deliveries set lease_until = lease_until + ? where lease_until > 0')
        .run(leasedForMs);
      ledger.close();
      expect(changes).toBeGreaterThanOrEqual(underWay);
      isWell = true;
      stack = await start();
      await until('all are delivered', async () => {
        const { envelope } = await json('webhooks', 'deliveries', 'list', '--endpoint', id);
        const { deliveries } = envelope.data.body;
        return (
          deliveries.length === events &&
          deliveries.every(({ state }: { state: string }) => state === 'delivered')
        );
      });
      await stack.stop();
    } finally {
      await receiver.stop();
      await project.remove();
    }
  },
);

test('serve, killed with a webhook for its inbox and started at another port: it is tried only where the inbox is now', async () => {
  const project = await temporaryDirectory();
  const start = (env: Record<string, string>) =>
    serve(['--port', '0', '--rpc-port', '0', '--persist-to', 'data'], { cwd: project.path, env });
  const dies = { REWARDS_CRASH_AT: 'webhook.posting:1' };
  try {
    const first = await start(dies);
    // Whether the caller hears of it before the kill does not matter here.
    await rewardsJson(['send-event', 'account_creation', '--user', 'late@people.example'], {
      cwd: project.path,
    });
    await until('it is killed', () => first.child.signalCode === 'SIGKILL');
    const second = await start({});
    await until('it is delivered', async () => {
      const { envelope } = await rewardsJson(['webhooks', 'deliveries', 'list'], { cwd: project.path });
      const { deliveries } = envelope.data.body;
      return deliveries.length === 1 && deliveries[0].state === 'delivered';
    });
    await second.stop();
    const ledger = new SqliteDatabase(join(project.path, 'data', 'ledger.sqlite'), { readonly: true });
    const attempts = ledger.prepare('select status, why from webhook_attempts').all();
    ledger.close();
    expect(attempts).toEqual([{ status: 200, why: null }]);
  } finally {
    await project.remove();
  }
});

describe.each(['SQLite file', 'Postgres'] as const)('%s', (kind) => {
  let script: Script;
  beforeAll(async () => {
    script = await bundleScript("import '../webhooks/deliverer-process.ts';");
  });
  afterAll(() => script.remove());

  test.skipIf(kind === 'Postgres' && postgresMissing()).each(SEEDS)(
    'a lease is renewed while its receiver takes longer, and ends soon when its process is killed (seed %i)',
    async (seed) => {
      const chance = seededChance(seed);
      const leaseMs = 700 + chance.below(900);
      const point = `${HELD_AT[(seed + chance.below(2)) % HELD_AT.length]}:1`;
      await withDatabase(kind, async (where, database) => {
        let answer = () => {};
        let isWell = false;
        const receiver = await startReceiver((_, response) => {
          if (isWell) return void response.writeHead(200).end();
          answer = () => void response.writeHead(200).end();
        });
        const brandId = freshAddress();
        await addEndpoint(database.db, {
          id: freshKey('we'),
          brandId,
          url: `http://127.0.0.1:${receiver.port}/`,
          types: [],
          isDefault: false,
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          createdAt: 0,
        });
        const queue = async () => {
          const id = freshKey('evt_');
          const event = { id, brandId, type: 'reward.distributed' as const, subject: id, body: '{}' };
          await database.atomically((tx) => queueWebhookEvents(tx, [event], database.now));
        };
        const only = async () => (await database.db.select().from(webhookDeliveries))[0];
        await queue();
        const first = script.start([where, JSON.stringify({ leaseMs })]);
        await printed(first, 'delivering');
        const other = script.start([where, JSON.stringify({ leaseMs })]);
        await printed(other, 'delivering');
        await until('it is under way', () => receiver.received.length === 1);
        const began = (await only())?.leaseUntil ?? 0;
        await until('its lease is renewed again and again', async () => {
          return ((await only())?.leaseUntil ?? 0) > began + 2 * leaseMs;
        });
        // The other process has left it alone for longer than a lease.
        expect(receiver.received).toHaveLength(1);
        answer();
        await until('it is delivered', async () => (await only())?.state === 'delivered');
        for (const child of [first, other]) child.kill('SIGKILL');
        await Promise.all([ended(first), ended(other)]);

        await database.db.delete(webhookDeliveries);
        await queue();
        const dying = script.start([where, JSON.stringify({ leaseMs, point })]);
        isWell = true;
        expect(await ended(dying)).toBeNull();
        const next = script.start([where, JSON.stringify({ leaseMs })]);
        await printed(next, 'delivering');
        await until('another process has it', async () => (await only())?.state === 'delivered');
        next.kill('SIGKILL');
        await ended(next);
        await receiver.stop();
      });
    },
  );
});
