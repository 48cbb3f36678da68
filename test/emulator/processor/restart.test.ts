/** What the emulated processor knows outlives a restart, on both databases: it stands for another company. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../kits/clock.ts';
import { databaseKinds } from '../../kits/databases.ts';
import { startTestService } from '../../kits/service.ts';
import { purchase, stripeOf } from './stripe-kit.ts';

describe.each(databaseKinds)('on $kind', ({ open }) => {
  test('sessions, payments, answers under a key and what is still to be told are there after a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rewards-processor-'));
    const { databaseUrl, stop } = await open();
    const start = () => startTestService({ dataDir, ephemeral: false, databaseUrl });
    try {
      const before = await start();
      const wish = purchase();
      const options = { idempotencyKey: 'the same after a restart' };
      const paid = await stripeOf(before.ready).checkout.sessions.create(wish, options);
      const waiting = await stripeOf(before.ready).checkout.sessions.create(purchase());
      await before.control(`/processor/sessions/${paid.id}/pay`, { later: true, delay: '3h' });
      const { body: endpoint } = await before.control('/processor/endpoints', {
        ...{ url: 'http://127.0.0.1:9/unreachable', events: ['checkout.session.async_payment_succeeded'] },
      });
      await before.stop();

      const after = await start();
      const { checkout } = stripeOf(after.ready);
      expect(await checkout.sessions.create(wish, options)).toMatchObject({ id: paid.id });
      expect(await checkout.sessions.retrieve(paid.id)).toMatchObject({
        ...{ status: 'complete', payment_status: 'unpaid', metadata: wish.metadata },
      });
      expect(await checkout.sessions.retrieve(waiting.id)).toMatchObject({
        ...{ status: 'open', url: `${after.ready.processor.url}/_pay/${waiting.id}` },
      });
      await after.advance('3h');
      expect((await checkout.sessions.retrieve(paid.id)).payment_status).toBe('paid');
      const path = `${after.ready.urls.control}/processor/deliveries?endpoint=${endpoint.id}`;
      await until('the payment was told', async () => {
        const [delivery] = (await after.request(path)).body.deliveries;
        return delivery?.attempts.length > 0;
      });
      await after.stop();
    } finally {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
