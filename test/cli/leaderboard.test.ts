/** `rewards leaderboard` as a shell sees it, against a real stack. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(['leaderboard', ...args], { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  // In the middle of a week: none ends meanwhile.
  const args = ['--port', '0', '--ephemeral', '--split-hosts', '--clock', '2031-01-15T12:00:00Z'];
  stack = await serveHere(args, { cwd: project.path });
  const send = (event: string, user: string) => plain('send-event', event, '--user', user);
  for (const [event, user] of [
    ['account_creation', 'ann@demo.example'],
    ['form_submit', 'ann@demo.example'],
    ['form_submit', 'ben@demo.example'],
  ] as const)
    expect((await send(event, user)).code).toBe(exitCodes.done);
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

test('prints the service’s answer as JSON', async () => {
  const { code, envelope } = await json('--metric', 'claims', '--user', 'ben@demo.example');
  expect(code).toBe(exitCodes.done);
  expect(envelope.data.body).toMatchObject({ metric: 'claims', period: 'week', total: 2, userRank: 2 });
  expect(envelope.data.body.leaderboard.map(({ value }: { value: number }) => value)).toEqual([2, 1]);
});

test('shows people a line for each user, and the place of the one who is asked for', async () => {
  const { stdout, code } = await plain(
    'leaderboard',
    '--metric',
    'claims',
    '--period',
    'all',
    '--limit',
    '1',
  );
  expect(code).toBe(exitCodes.done);
  expect(stdout).toMatch(/^claims, all, all platforms: 2 users\n +1 +2 claims +ann {2}ann@demo\.example\n$/);
  const own = await plain('leaderboard', '--metric', 'claims', '--user', 'ben@demo.example');
  expect(own.stdout).toMatch(/\n\n +2 +1 claim +ben {2}ben@demo\.example\n$/);
  const nobody = await plain('leaderboard', '--user', 'new@demo.example');
  expect(nobody.stdout).toMatch(/\n\nnew@demo\.example is not on this board\n$/);
});

test('who leads is told over the weeks, of the stack and as JSON', async () => {
  // Boards count what is final, and the first read waits for nothing.
  await until('both are on it', async () => {
    const { envelope } = await rewardsJson(['brand', 'boards', '--metric', 'claims'], { cwd: project.path });
    return envelope.data.body.users.length === 2;
  });
  const { code, stdout } = await plain('brand', 'boards', 'demo.example', '--metric', 'claims');
  expect(code).toBe(exitCodes.done);
  expect(stdout).toBe(
    '2031-01-13  claims, each week\n         2  ann@demo.example\n         1  ben@demo.example\n',
  );
  const nobody = await plain('brand', 'boards', 'demo.example', '--metric', 'streak');
  expect(nobody.stdout).toBe('nobody is on a board yet\n');
  expect((await plain('brand', 'boards', 'nobody.example')).code).toBe(exitCodes.refused);
});

test('what the service refuses is told with its reason', async () => {
  const { code, envelope } = await json('--period', 'year');
  expect(code).toBe(exitCodes.refused);
  expect(envelope).toMatchObject({ ok: false, data: { status: 400 } });
  expect(JSON.stringify(envelope)).toContain('period: must be one of');
});
