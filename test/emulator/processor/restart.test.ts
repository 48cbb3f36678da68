/** What the emulated processor knows outlives a restart, on both databases: it stands for another company. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stripe } from 'stripe';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { until } from '../../kits/service/clock.ts';
import { startTestService } from '../../kits/service/service.ts';
import { purchase, stripeOf, stripeProblem } from './stripe-kit.ts';

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
        url: 'http://127.0.0.1:9/unreachable',
        events: ['checkout.session.async_payment_succeeded'],
      });
      await before.stop();

      const after = await start();
      const { checkout } = stripeOf(after.ready);
      expect(await checkout.sessions.create(wish, options)).toMatchObject({ id: paid.id });
      expect(await checkout.sessions.retrieve(paid.id)).toMatchObject({
        status: 'complete',
        payment_status: 'unpaid',
        metadata: wish.metadata,
      });
      expect(await checkout.sessions.retrieve(waiting.id)).toMatchObject({
        status: 'open',
        url: `${after.ready.processor.url}/_pay/${waiting.id}`,
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

  test('a character that no database keeps is refused, and an id with it is unknown', async () => {
    const { databaseUrl, stop } = await open();
    const stack = await startTestService({ databaseUrl });
    try {
      const { checkout } = stripeOf(stack.ready);
      const wrongs: Partial<Stripe.Checkout.SessionCreateParams>[] = [
        { metadata: { key: 'a\0b' } },
        { metadata: { 'a\0b': 'v' } },
        { client_reference_id: 'a\0b' },
      ];
      for (const wrong of wrongs)
        expect((await stripeProblem(checkout.sessions.create(purchase(wrong)))).statusCode).toBe(400);
      const { id, url: page } = await checkout.sessions.create(purchase({ customer_email: undefined }));
      const typed = await fetch(page ?? '', {
        method: 'POST',
        body: 'email=a%00@b.example',
        redirect: 'manual',
      });
      expect(typed.status).toBe(303);
      const told = await stack.control(`/processor/sessions/${id}/decline`, { code: 'a\0b' });
      expect([told.status, told.body.message]).toEqual([400, 'code must not have a NUL character']);
      expect((await checkout.sessions.retrieve(id)).status).toBe('open');
      expect((await stripeProblem(checkout.sessions.retrieve('cs_\0'))).statusCode).toBe(404);
      const { url } = stack.ready.processor;
      expect((await fetch(`${url}/_pay/%00`)).status).toBe(404);
      const control = async (path: string) => {
        const { status, body } = await stack.request(`${stack.ready.urls.control}/processor/${path}`);
        return [status, body.deliveries ?? body.events];
      };
      expect(await control('sessions/%00')).toEqual([404, undefined]);
      expect(await control('deliveries?event=%00')).toEqual([200, []]);
      expect(await control('deliveries?endpoint=%00')).toEqual([200, []]);
      expect(await control('events?object=%00')).toEqual([200, []]);
    } finally {
      await stack.stop();
      await stop();
    }
  });
});
