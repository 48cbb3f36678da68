/** `rewards streak` as a shell sees it, against a real stack. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  // At noon: no day ends meanwhile.
  const args = ['--port', '0', '--persist-to', 'data', '--split-hosts', '--clock', '2031-01-15T12:00:00Z'];
  stack = await serveHere(args, { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const ALICE = 'alice@demo.example';

test('check-in, status and claim', async () => {
  await plain('brand', 'set', 'demo.example', 'streakMilestones.1=5');
  const first = await json('streak', 'check-in', ALICE, '--platform', 'web');
  expect(first.code).toBe(exitCodes.done);
  expect(first.envelope).toMatchObject({
    ok: true,
    data: { status: 200, body: { isNewActivity: true, reward: { final: 10 } } },
    meta: { command: 'streak check-in' },
  });
  const again = await plain('streak', 'check-in', ALICE);
  expect([again.code, again.stdout]).toEqual([0, `counted before  ${ALICE}  day 1 of the streak\n`]);
  const other = await plain('streak', 'check-in', 'discord:123456789012345678');
  expect(other.stdout).toMatch(
    /^\+10 RWT {2}discord:123456789012345678 {2}day 1 of the streak {2}0x[0-9a-f]{64}\n {2}5 RWT to claim: rewards streak claim discord:123456789012345678 1\n$/,
  );
  const status = await plain('streak', 'status', ALICE);
  expect(status.stdout).toMatch(/^1 day in a row {2}alice@demo\.example\n/);
  expect(status.stdout).toContain('to claim    5 RWT for 1 day\n'.trimEnd());
  const claimed = await plain('streak', 'claim', ALICE, '1');
  expect([claimed.code, claimed.stdout]).toEqual([
    0,
    expect.stringMatching(/^\+5 RWT {2}alice@demo\.example {2}milestone of 1 day {2}0x/),
  ]);
  const refused = await json('streak', 'claim', ALICE, '1');
  expect([refused.code, refused.envelope.error]).toMatchObject([
    exitCodes.refused,
    { code: 'E_REFUSED', message: 'Milestone already claimed', details: { reason: 'milestone_claimed' } },
  ]);
  const expected = await plain('streak', 'claim', ALICE, '7', '--expect', '400:milestone_not_reached');
  expect(expected.code).toBe(0);
});

test('the days of a user: the last four weeks as marks, a year as data', async () => {
  const user = 'walker@demo.example';
  await plain('streak', 'check-in', user);
  await plain('clock', 'advance', '2d');
  await plain('streak', 'check-in', user);
  const { stdout } = await plain('users', 'show', user);
  expect(stdout).toContain(`  ${'·'.repeat(25)}■·■  active on 2 days of a year; the last four weeks\n`);
  const { envelope } = await json('users', 'show', user);
  const [{ streak }] = envelope.data.body.brands;
  expect(streak).toMatchObject({ today: '2031-01-17', activeDays: ['2031-01-17', '2031-01-15'] });
});

test('settings, as `brand set` takes them', async () => {
  const { stdout } = await plain('streak', 'settings');
  expect(stdout).toContain('timeZone              UTC\n');
  expect(stdout).toContain('streakGrace           1d12h\n');
  expect(stdout).toContain('streakMultipliers     3: 1.1, 7: 1.25, 14: 1.5, 30: 2\n');
  const { envelope } = await json('streak', 'settings', '--brand', 'demo.example');
  expect(envelope.data.body).toMatchObject({ streakPays: 'service', streakTypes: ['daily'], streakBase: 10 });
});
