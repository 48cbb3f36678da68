/** A snapshot brings the whole stack back: rows, balances, blocks, webhooks, site and clock. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let stack: TestService;
beforeAll(async () => {
  stack = await startTestService();
});
afterAll(() => stack.stop());

const read = (path: string) => stack.request(`${stack.ready.urls.control}${path}`);

test('what an ephemeral stack did after a save is gone after the restore, and can be done again', async () => {
  await stack.event({ userEmail: 'alice@demo.example' });
  await stack.atRest();
  const saved = await stack.control('/snapshot', { name: 'base', note: 'one event' });
  expect(saved).toMatchObject({
    status: 201,
    body: { name: 'base', note: 'one event', rows: { rewards: 1 } },
  });
  const head = await stack.chain.getBlock();

  const first = await stack.event({ userEmail: 'bob@demo.example' });
  const { body: difference } = await read('/snapshots/base/diff');
  expect(difference).toMatchObject({
    from: 'base',
    to: 'now',
    isSame: false,
    blocks: 1,
    users: [{ user: 'bob@demo.example', rwt: 100 }],
    lines: expect.arrayContaining(['+1 reward', '+1 webhook', '+100 RWT to bob@demo.example', '+1 block']),
  });

  const restored = await stack.control('/restore', { name: 'base' });
  const { block, hash } = saved.body.chain;
  expect(restored).toMatchObject({ status: 200, body: { from: 'base', chain: { block, hash } } });
  expect((await stack.chain.getBlock()).hash).toBe(head.hash);
  expect((await read('/snapshots/base/diff')).body).toMatchObject({ isSame: true, tables: [] });

  const again = await stack.event({ userEmail: 'bob@demo.example' });
  expect(again).toMatchObject({ status: 200, body: { rewardAmount: 100 } });
  expect(again.body.eventId).not.toBe(first.body.eventId);
  expect((await stack.chain.getBlock()).timestamp).toBeGreaterThan(head.timestamp);
  expect((await read('/verify')).body).toMatchObject({ ok: true, differences: [] });
});

test('snapshots are listed, shown and removed by their names', async () => {
  await stack.control('/snapshot', {});
  expect((await stack.control('/snapshot', { name: 'snapshot-1' })).status).toBe(409);
  expect((await stack.control('/snapshot', { name: 'snapshot-1', replace: true })).status).toBe(201);
  const { body } = await read('/snapshots');
  expect(body.snapshots.map(({ name }: { name: string }) => name)).toEqual(['snapshot-1', 'base']);
  expect((await read('/snapshots/base')).body).toMatchObject({ name: 'base', chain: { id: 31_337 } });
  const removed = await stack.request(`${stack.ready.urls.control}/snapshots/snapshot-1`, {
    method: 'DELETE',
  });
  expect(removed.body).toEqual({ removed: 'snapshot-1' });
  expect((await read('/snapshots/snapshot-1')).status).toBe(404);
});

test.each(['../base', 'now', 'a/b', '', '.hidden', 'x'.repeat(65)])(
  'the name %j is refused',
  async (name) => {
    const answer = await stack.control('/snapshot', { name });
    expect(answer).toMatchObject({ status: 400, body: { details: { reason: 'invalid_snapshot_name' } } });
  },
);
