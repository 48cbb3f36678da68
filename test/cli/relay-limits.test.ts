/** `rewards relay limits` against a real stack: who has used how much, and when that is over. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0'], { cwd: project.path });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

test('a relayed call is one of the user’s 35 and one of the address’s 100, its gas is the payer’s, its nonce the lane’s', async () => {
  const before = (await json('relay', 'limits')).envelope.data.body;
  await json('relay', 'token', 'approve', 'me', '5', '--as', 'alice');
  const reward = await json('send-event', 'referral', '--user', 'alice@demo.example');
  expect(reward.code).toBe(0);
  const to = '0x00000000000000000000000000000000000000b0';
  const sent = await json('relay', 'token', 'transferWithAuthorization', 'me', to, '5', '--as', 'alice');
  expect(sent.code).toBe(0);
  const { users, addresses, payers, lanes } = (await json('relay', 'limits')).envelope.data.body;
  expect([users.limit, users.windowSeconds, addresses.limit, addresses.windowSeconds]).toEqual([
    35, 3_600, 100, 60,
  ]);
  expect(users.shown[0]).toMatchObject({ used: 1, left: 34 });
  expect(addresses.shown[0].used).toBeGreaterThanOrEqual(2);
  const from = sent.envelope.data.body.from ?? payers.shown[0].address;
  expect(payers.shown.some(({ spentGwei }: { spentGwei: number }) => spentGwei > 0)).toBe(true);
  const nonceOf = (of: typeof lanes) =>
    of.shown.find(({ address }: { address: string }) => address === from)?.nextNonce ?? 0;
  expect(nonceOf(lanes)).toBe(nonceOf(before.lanes) + 1);

  const text = (await plain('relay', 'limits', '--user', 'alice@demo.example')).stdout;
  expect(text).toMatch(/users {2}35 in 1h each\n {2}0x[0-9a-f]{40} {2}1 of 35 {2}back to 35 at 2/);
  await json('clock', 'advance', '1h');
  expect((await json('relay', 'limits')).envelope.data.body.users).toMatchObject({ total: 0, shown: [] });
});

test('an unknown user and a wrong limit are refused with what to do', async () => {
  const unknown = await json('relay', 'limits', '--user', 'nobody@mail.example');
  expect(unknown.envelope.error.message).toContain('nobody@mail.example');
  const wrong = await fetch(`${stack.ready.urls.control}/relay?limit=0`, {
    headers: { authorization: `Bearer ${stack.ready.controlToken}` },
  });
  expect(wrong.status).toBe(400);
});
