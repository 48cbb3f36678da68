/** A deliverer that is killed at any moment loses no webhook: another process delivers it under the same id. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookBacklog } from '../../src/ledger/webhooks/due-deliveries.ts';
import { addEndpoint } from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { webhookCrashPoints } from '../../src/lib/crash-points.ts';
import { freshAddress, freshKey, postgresMissing } from '../kits/databases/databases.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { until } from '../kits/service/clock.ts';
import { bundleScript, ended, printed, type Script } from '../ledger/child.ts';
import { withDatabase } from './own-database.ts';

const EVENTS = 12;
let script: Script;
beforeAll(async () => {
  script = await bundleScript("import '../webhooks/deliverer-process.ts';");
});
afterAll(() => script.remove());

describe.each(['SQLite file', 'Postgres'] as const)('%s', (kind) => {
  test
    .skipIf(kind === 'Postgres' && postgresMissing())
    .each(webhookCrashPoints.map((point) => `${point}:${kind === 'Postgres' ? 2 : 1}`))(
    'killed at %s, with two processes after it: all arrive, each under one id',
    async (point) => {
      await withDatabase(kind, async (where, database) => {
        const receiver = await startReceiver();
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
        const events = Array.from({ length: EVENTS }, () => {
          const id = freshKey('evt_');
          const body = JSON.stringify({ id });
          return { id, brandId, type: 'reward.distributed' as const, subject: id, body };
        });
        await database.atomically((tx) => queueWebhookEvents(tx, events, database.now));
        const dying = script.start([where, JSON.stringify({ point })]);
        expect(await ended(dying)).toBeNull();
        const [beside, other] = [script.start([where]), script.start([where])];
        await Promise.all([printed(beside, 'delivering'), printed(other, 'delivering')]);
        const waiting = async () => (await webhookBacklog(database.db, database.now)).waiting;
        await until('nothing waits', async () => (await waiting()) === 0);
        for (const child of [beside, other]) child.kill('SIGKILL');
        await Promise.all([ended(beside), ended(other)]);
        const told = receiver.received.map(({ headers, body }) => [headers['webhook-id'], body.toString()]);
        expect(new Set(told.map(([id]) => id))).toEqual(new Set(events.map(({ id }) => id)));
        for (const [id, body] of told) expect(body).toBe(JSON.stringify({ id }));
        await receiver.stop();
      });
    },
  );
});
