/** When webhooks are sent, and how they are signed, does not depend on the clock of the machine that delivers them. */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, readTime } from '../../src/ledger/database/database.ts';
import { webhookAttempts, webhookDeliveries } from '../../src/ledger/schema/webhooks.ts';
import { addEndpoint, lockEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { attemptPausesMs } from '../../src/rules/webhook-schedule.ts';
import { freshAddress, freshKey, postgresMissing } from '../kits/databases/databases.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { seededChance } from '../kits/run/seeded-chance.ts';
import { until } from '../kits/service/clock.ts';
import { bundleScript, ended, printed, type Script } from '../ledger/child.ts';
import { withDatabase } from './own-database.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const EVENTS = 8;
const SEEDS = [1, 2, 3];

/** Machines whose clocks are off by up to three days, or jump by up to ten minutes, each way. */
const clocksOf = (seed: number): [string, number[]][] => {
  const chance = seededChance(seed);
  const [behind, ahead] = [1 + chance.below(72), 1 + chance.below(72)];
  const jumpSeconds = (10 + chance.below(590)) * chance.pick([-1, 1]);
  return [
    [`is ${behind} hours behind (seed ${seed})`, [-behind * HOUR_MS]],
    [`is ${ahead} hours ahead (seed ${seed})`, [ahead * HOUR_MS]],
    [`jumps by ${jumpSeconds} seconds (seed ${seed})`, [0, jumpSeconds * 1_000]],
  ];
};

let script: Script;
beforeAll(async () => {
  script = await bundleScript("import '../webhooks/deliverer-process.ts';");
});
afterAll(() => script.remove());

/** Events of a brand whose receiver answers as the test says. */
async function queued(database: Database, answer: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer);
  const brandId = freshAddress();
  const id = freshKey('we');
  await addEndpoint(database.db, {
    id,
    brandId,
    url: `http://127.0.0.1:${receiver.port}/`,
    types: [],
    isDefault: false,
    secret: SECRET,
    createdAt: 0,
  });
  const events = Array.from({ length: EVENTS }, () => {
    const eventId = freshKey('evt_');
    return { id: eventId, brandId, type: 'reward.distributed' as const, subject: eventId, body: '{}' };
  });
  await database.atomically((tx) => queueWebhookEvents(tx, events, database.now));
  return { receiver, id };
}

describe.each(['SQLite file', 'Postgres'] as const)('%s', (kind) => {
  describe.skipIf(kind === 'Postgres' && postgresMissing())('a machine whose clock', () => {
    test.each<[string, number[]]>(SEEDS.flatMap(clocksOf))(
      '%s tries what failed again by the schedule, and signs with the right time',
      async (_, skewMs) => {
        await withDatabase(kind, async (where, database) => {
          const { receiver, id } = await queued(database, (_, response) => response.writeHead(500).end());
          const child = script.start([where, JSON.stringify({ skewMs })]);
          await printed(child, 'delivering');
          const deliveries = () => database.db.select().from(webhookDeliveries);
          await until('each was tried', async () => (await deliveries()).every(({ tries }) => tries > 0));
          child.kill('SIGKILL');
          await ended(child);
          const nowMs = await readTime(database);
          const attempts = await database.db.select().from(webhookAttempts);
          for (const { at } of attempts) expect(Math.abs(nowMs - at)).toBeLessThan(60_000);
          for (const { eventId, tries, nextAttemptAt } of await deliveries()) {
            const last = Math.max(...attempts.filter((one) => one.eventId === eventId).map(({ at }) => at));
            const usual = attemptPausesMs[tries] ?? 0;
            expect((nextAttemptAt - last) / usual).toBeGreaterThanOrEqual(0.8);
            expect((nextAttemptAt - last) / usual).toBeLessThanOrEqual(1.2);
          }
          const endpoint = await lockEndpoint(database.db, id);
          expect(Math.abs(nowMs - (endpoint?.failingSince ?? 0))).toBeLessThan(60_000);
          // Receivers refuse what is five minutes off.
          for (const { headers, body } of receiver.received)
            expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual({});
          await receiver.stop();
        });
      },
    );

    test.each(SEEDS)(
      'is wrong leaves a pause that was asked for as long as it was (seed %i)',
      async (seed) => {
        const [[, behind], [, ahead]] = clocksOf(seed) as [[string, number[]], [string, number[]]];
        const skewMs = seededChance(seed).pick([behind, ahead]);
        await withDatabase(kind, async (where, database) => {
          const { receiver, id } = await queued(database, (_, response) =>
            response.writeHead(429, { 'retry-after': '600' }).end(),
          );
          const child = script.start([where, JSON.stringify({ skewMs })]);
          await printed(child, 'delivering');
          const pausedUntil = async () => (await lockEndpoint(database.db, id))?.pausedUntil ?? 0;
          await until('it was asked for', async () => (await pausedUntil()) > 0);
          child.kill('SIGKILL');
          await ended(child);
          const leftMs = (await pausedUntil()) - (await readTime(database));
          expect(leftMs).toBeGreaterThan(0);
          expect(leftMs).toBeLessThanOrEqual(600_000);
          await receiver.stop();
        });
      },
    );
  });
});
