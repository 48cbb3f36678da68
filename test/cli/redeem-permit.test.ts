/** `rewards perks redeem --permit` as a shell sees it, beside the stack whose keys sign. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { clientOf } from '../kits/service/service.ts';

const WALLPAPERS = 'Desktop wallpapers';
let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--persist-to', 'data'], { cwd: project.path });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await project.remove();
});
const run = async (...args: string[]) => (await rewardsJson(args, { cwd: project.path })).envelope;

test('a permit that the user signs pays, once for each command; for another wallet nothing can be signed', async () => {
  const { balanceOf } = clientOf(stack.ready);
  const { data } = await run('send-event', 'referral', '--user', 'alice@demo.example');
  const wallet = data.body.walletAddress as `0x${string}`;
  const before = await balanceOf(wallet);
  const redeem = (user: string, ...more: string[]) =>
    run('perks', 'redeem', user, WALLPAPERS, '--permit', ...more);
  for (let time = 1; time <= 2; time++) {
    const redeemed = await redeem('alice@demo.example');
    expect([redeemed.error, redeemed.data.body.success]).toEqual([undefined, true]);
    expect(await balanceOf(wallet)).toBe(before - 50n * BigInt(time));
  }
  const { redemptions } = (await run('perks', 'redemptions')).data.body;
  expect(redemptions.map(({ consent }: { consent: string }) => consent)).toEqual(['permit', 'permit']);

  const ofBob = await redeem('alice@demo.example', '--as', 'bob@demo.example');
  expect([ofBob.ok, ofBob.error.code]).toEqual([false, 'E_REFUSED']);
  expect(await balanceOf(wallet)).toBe(before - 100n);
});
