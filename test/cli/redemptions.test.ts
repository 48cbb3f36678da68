/** `rewards redemptions`: what waits and why, and giving one of them up. */
import { keccak256, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { devPaths } from '../../src/lib/development.ts';
import { devAccount } from '../kits/chain/dev-accounts.ts';
import { perkCall } from '../kits/chain/perks.ts';
import { personWith, redeemBody, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('what waits is listed with the reason; one of them is dropped, once, and its user told', async () => {
  const around = { env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } };
  const at = ['--target', service.ready.urls.events];
  const run = (...args: string[]) => rewardsJson(['redemptions', ...args, ...at], around);
  const waiting = async () => (await run('list', '--waiting')).envelope.data.body.redemptions;
  expect(await waiting()).toEqual([]);
  expect((await rewards(['redemptions', 'list', '--waiting', ...at], around)).stdout).toContain(
    'no redemption waits',
  );

  const { email } = await personWith(service, 50);
  const { address } = devAccount({ path: devPaths.redemption });
  const role = [keccak256(toHex('REDEEMER_ROLE')), address];
  await perkCall(service, 'revokeRole', role);
  const asked = service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
  await until('it was refused', async () => (await waiting())[0]?.refusals > 0);
  const [{ id, nextTryAt, refusal, state }] = await waiting();
  expect([state, refusal]).toEqual(['pending', expect.stringContaining('AccessControlUnauthorizedAccount')]);
  expect(nextTryAt).toMatch(/^\d{4}-.*Z$/);
  const { stdout } = await rewards(['perks', 'redemptions', '--waiting', ...at], around);
  expect(stdout).toMatch(/refused \d+ times: AccessControlUnauthorizedAccount/);
  expect(stdout).toContain(`no transaction yet: ${id}`);

  const dropped = await run('drop', id);
  expect(dropped.envelope.data.body).toMatchObject({
    id,
    state: 'failed',
    failure: 'dropped by the operator',
  });
  expect((await asked).body.details).toMatchObject({ reason: 'redemption_failed', redemptionId: id });
  expect(await waiting()).toEqual([]);
  const again = await run('drop', id);
  expect([again.code, again.envelope.error?.code]).toEqual([1, 'E_REFUSED']);
  expect((await run('drop', 'nobody-s')).envelope.error?.code).toBe('E_REFUSED');
  await perkCall(service, 'grantRole', role);
  const done = await service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
  expect(done.status).toBe(200);
  const kept = await run('drop', done.body.redemptionId);
  expect(JSON.stringify(kept.envelope.error)).toContain('the user has the perk');
});
