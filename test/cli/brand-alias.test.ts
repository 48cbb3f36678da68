/** `rewards brand alias` as a shell sees it: other names of a brand's users. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });
const line = (...args: string[]) => ['brand', 'alias', ...args, '--target', service.ready.urls.events];
const run = (...args: string[]) => rewardsJson(line(...args), around());
const say = async (...args: string[]) => (await rewards(line(...args), around())).stdout;

test('an alias is added, listed with both wallets, and removed; what is no pair is refused', async () => {
  const brand = service.brand.domain;
  const [alias, user] = ['wordpress_77@rewards.localhost', someone()];
  expect(await say(brand)).toContain('no aliases');
  const { body } = await service.event({ userEmail: user });
  const added = await run(brand, alias, user.toUpperCase());
  expect([added.code, added.envelope.data.body]).toMatchObject([
    0,
    { alias, user, userWallet: body.walletAddress, aliasWallet: null },
  ]);
  expect(await say(brand)).toMatch(new RegExp(`^${alias} +is +${user} +${body.walletAddress}`));

  const taken = await run(brand, alias, someone());
  expect([taken.code, JSON.stringify(taken.envelope)]).toEqual([1, expect.stringContaining('already')]);
  expect((await run(brand, 'nobody', user)).code).toBe(1);
  const usage = [
    await run(brand, alias),
    await run(brand, alias, user, '--remove'),
    await run(brand, '--remove'),
  ];
  expect(usage.map(({ code, envelope }) => [code, envelope.error.code])).toEqual(
    Array(3).fill([2, 'E_USAGE']),
  );

  const removed = await run(brand, alias, '--remove');
  expect(removed.envelope.data.body).toEqual({ removed: alias });
  expect(await say(brand)).toContain('no aliases');
});
