/** Save, do forty mixed things, restore: everything is as it was saved. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { redeemBody, WALLPAPERS } from '../../kits/chain/redeeming.ts';
import { relayKitOf } from '../../kits/chain/wallet.ts';
import { until } from '../../kits/service/clock.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let stack: TestService;
beforeAll(async () => {
  // At noon: no day ends meanwhile.
  stack = await startTestService({ clockStartMs: Date.UTC(2031, 0, 15, 12) });
});
afterAll(() => stack.stop());

const control = () => stack.ready.urls.control;
const read = async (path: string) => (await stack.request(`${control()}${path}`)).body;
const pageOf = (path: string, init: RequestInit = {}) =>
  fetch(`${stack.ready.urls.site}${path}`, { ...init, redirect: 'manual' });

/** What people see of a stack from outside. */
async function seen() {
  const users = stack.ready.users.map(({ address }) => address);
  const head = await stack.chain.getBlock();
  // A stack that has only been started may have fewer than eight.
  const last = Array.from({ length: 8 }, (_, back) => head.number - BigInt(back)).filter((n) => n >= 0n);
  const blocks = await Promise.all(last.map((blockNumber) => stack.chain.getBlock({ blockNumber })));
  return {
    balances: await Promise.all(users.map((address) => stack.balanceOf(address))),
    escrow: await stack.escrowOf(stack.brand.brandId),
    blocks: blocks.map(({ hash }) => hash),
    deliveries: (await read('/webhooks/deliveries?limit=500')).deliveries,
    sessions: await read('/processor/sessions'),
    siteUsers: (await read('/site/users')).users,
    brand: await read(`/brands/${stack.brand.domain}`),
    streak: (
      await stack.request(
        `/streak/status?brandId=${stack.brand.brandId}&userIdentifier=alice@demo.example&platform=web`,
      )
    ).body,
  };
}

async function fortyThings(): Promise<number> {
  let done = 0;
  const ok = ({ status, body }: { status: number; body: unknown }, what: string) => {
    expect(status, `${what}: ${JSON.stringify(body)}`).toBeLessThan(300);
    done += 1;
  };
  const { brandId, domain } = stack.brand;
  for (let i = 0; i < 14; i += 1) ok(await stack.event({ userEmail: `new${i}@shop.example` }), 'event');
  for (let i = 0; i < 4; i += 1) {
    const pages = { successUrl: `https://${domain}/`, cancelUrl: `https://${domain}/` };
    const wish = { brandId, amount: 1_000, userEmail: `new${i}@shop.example`, ...pages };
    const made = await stack.post('/rewards-api/create-checkout', wish);
    ok(made, 'checkout');
    ok(await stack.control(`/processor/sessions/${made.body.sessionId}/pay`, {}), 'payment');
    if (i < 2) ok(await stack.control(`/processor/sessions/${made.body.sessionId}/refund`, {}), 'refund');
  }
  const perk = redeemBody(stack, 'new0@shop.example', WALLPAPERS.id);
  ok(await stack.post('/perks/redeem', perk), 'redemption');
  const person = { brandId, userIdentifier: 'alice@demo.example', platform: 'web', streakType: 'daily' };
  ok(await stack.post('/streak/record-activity', person), 'check-in');
  for (const advance of ['61s', '25h', '1h']) ok(await stack.control('/clock', { advance }), 'clock');
  ok(await stack.post('/streak/record-activity', person), 'check-in');
  const kit = await relayKitOf(stack.ready);
  for (let i = 0; i < 2; i += 1) {
    const user = kit.users.alice;
    ok(await kit.relay(user, kit.purchase(user.address)), 'relay');
  }
  for (const login of ['dora', 'emil', 'frida'])
    ok(
      await stack.control('/site/users', {
        login,
        email: `${login}@shop.example`,
        password: 'a long enough one',
      }),
      'site user',
    );
  ok(await stack.control('/site/hooks/page_load', { user: 'alice' }), 'site visit');
  expect((await pageOf('/')).status).toBe(200);
  ok(await stack.change(`/brands/${domain}`, { name: 'One name' }), 'setting');
  ok(await stack.change(`/brands/${domain}`, { name: 'Another name' }), 'setting');
  ok(
    await stack.control('/mints', { to: stack.ready.users[0]?.address, amount: 7, reason: 'a gift' }),
    'mint',
  );
  ok(await stack.control('/webhooks/endpoints', { brand: domain, url: `${control()}/inbox` }), 'endpoint');
  ok(await stack.control('/clock', { freeze: true }), 'freeze');
  return done;
}

test('rows, balances, blocks, outbox, site and clock are those of the save after forty other things', async () => {
  await stack.event({ userEmail: 'alice@demo.example' });
  await stack.control('/site/hooks/page_load', { user: 'bob' });
  await until('every webhook is delivered', async () => {
    const { deliveries } = await read('/webhooks/deliveries?limit=500');
    return deliveries.length > 1 && deliveries.every(({ state }: { state: string }) => state === 'delivered');
  });
  const saved = await stack.control('/snapshot', { name: 'before' });
  expect(saved.status).toBe(201);
  const before = await seen();

  expect(await fortyThings()).toBeGreaterThanOrEqual(40);
  const difference = await read('/snapshots/before/diff');
  expect(difference.isSame).toBe(false);
  expect(difference.lines.length).toBeGreaterThan(8);
  expect(await seen()).not.toEqual(before);

  const restored = await stack.control('/restore', { name: 'before' });
  expect(restored.status, JSON.stringify(restored.body)).toBe(200);
  expect(await seen()).toEqual(before);
  const after = await read('/snapshots/before/diff');
  expect(after).toMatchObject({ isSame: true, tables: [], blocks: 0 });
  const { nowMs, frozen } = await read('/clock');
  expect(frozen).toBe(false);
  expect(nowMs).toBeGreaterThanOrEqual(saved.body.clock.nowMs);
  expect(nowMs - saved.body.clock.nowMs).toBeLessThan(60_000);

  const parent = await stack.chain.getBlock();
  const answer = await stack.event({ userEmail: 'new0@shop.example' });
  expect(answer).toMatchObject({ status: 200, body: { rewardAmount: 100 } });
  const next = await stack.chain.getBlock();
  expect(next.parentHash).toBe(parent.hash);
  expect(next.timestamp).toBeGreaterThan(parent.timestamp);
  expect(await read('/verify')).toMatchObject({ ok: true, differences: [] });
}, 60_000);
