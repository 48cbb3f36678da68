/** `rewards site` as a shell sees it, and the control API behind it, against a real stack. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(['site', ...args], { cwd: project.path });
const plain = (...args: string[]) => rewards(['site', ...args], { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  const demo = await readFile(new URL('../../fixtures/demo.yaml', import.meta.url), 'utf8');
  // Its own list of events, and one of a hook that only others fire.
  await writeFile(join(project.path, 'seed.yaml'), demo.replace(/^site:.*(?:\n[ #].*)*/m, SITE));
  stack = await serveHere(['--port', '0', '--ephemeral', '--seed', 'seed.yaml'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

/** The usual events of the demo, and one of a hook of its own. */
const SITE = `site:
  events:
${defaultEvents.map(({ hook, eventName, enabled }) => `    - { hook: ${hook}, event: ${eventName}, enabled: ${enabled} }`).join('\n')}
    - { hook: booking_completed, event: newsletter_subscribe }
`;
const ALICE = 'alice@demo.example';
const control = (path: string, body?: unknown) =>
  fetch(`${stack.ready.urls.control}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${stack.ready.controlToken}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

test('fire sends the event that follows a hook, and says what the service answered', async () => {
  const fired = await json('fire', 'comment_posted', '--user', ALICE);
  expect(fired.code).toBe(exitCodes.done);
  expect(fired.envelope).toMatchObject({
    ok: true,
    data: {
      status: 200,
      body: {
        hook: 'comment_posted',
        user: ALICE,
        events: ['review_submission'],
        calls: [{ eventName: 'review_submission', success: true, status: 200, reward: 50 }],
      },
    },
    meta: { command: 'site fire' },
  });
  const again = await plain('fire', 'comment_posted', '--user', 'alice');
  expect([again.code, again.stdout]).toEqual([exitCodes.refused, '']);
  expect(again.stderr).toMatch(/^409 {2}review_submission {2}alice@demo\.example {2}/);
});

test('a hook of its own is fired by its name', async () => {
  const fired = await json('fire', 'booking_completed', '--user', 'bob@demo.example');
  expect([fired.code, fired.envelope.data.body]).toMatchObject([
    exitCodes.done,
    { hook: 'booking_completed', calls: [{ eventName: 'newsletter_subscribe', success: true, reward: 25 }] },
  ]);
});

test('metadata reaches the service: a purchase by the dollar, of a user without an account', async () => {
  const set = ['--set', 'metadata.order_total=20', '--set', 'metadata.order_id="7"'];
  const bought = await plain('fire', 'order_completed', '--user', 'guest@shop.example', ...set);
  expect([bought.code, bought.stdout]).toEqual([
    0,
    expect.stringMatching(/^\+20 RWT {2}purchase {2}guest@shop\.example/),
  ]);
  const sent = await rewardsJson(['requests', 'show', 'latest'], { cwd: project.path });
  const { metadata } = JSON.parse(sent.envelope.data.body.requestBody);
  expect(metadata).toMatchObject({
    order_total: 20,
    order_id: '7',
    platform: 'site',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  const wrong = await json('fire', 'order_completed', '--user', ALICE, '--set', 'order_total=20');
  expect([wrong.code, wrong.envelope.error.code]).toEqual([exitCodes.usage, 'E_USAGE']);
});

test('a daily visit is sent once in 24 hours; a hook without an enabled event sends nothing', async () => {
  expect((await plain('fire', 'page_load', '--user', ALICE)).stdout).toContain('+5 RWT  daily_visit');
  const second = await json('fire', 'page_load', '--user', ALICE);
  expect([second.code, second.envelope.error]).toMatchObject([
    exitCodes.refused,
    { code: 'E_REFUSED', message: expect.stringContaining('at most once in 24 hours'), retryable: true },
  ]);
  await rewards(['clock', 'advance', '24h'], { cwd: project.path });
  expect((await plain('fire', 'page_load', '--user', ALICE)).code).toBe(0);
  const disabled = await plain('fire', 'login', '--user', ALICE);
  expect([disabled.code, disabled.stderr]).toEqual([
    exitCodes.refused,
    expect.stringContaining('Nothing was sent: no enabled event follows login'),
  ]);
});

test('unknown hooks and users are named, with those there are', async () => {
  const hook = await json('fire', 'page_opened', '--user', ALICE);
  expect([hook.code, hook.envelope.error]).toMatchObject([
    exitCodes.refused,
    { message: 'The site has no hook page_opened', hint: expect.stringContaining('page_load, login') },
  ]);
  const user = await json('fire', 'share', '--user', 'nobody');
  expect(user.envelope.error).toMatchObject({ message: 'The site has no user nobody' });
});

test('test sends a test event, and exits 1 when the service refuses it', async () => {
  const passed = await json('test', '--user', 'tester@demo.example', '--event', 'social_share');
  expect(passed.code).toBe(0);
  expect(passed.envelope.data.body).toMatchObject({ success: true, status: 200, reward: 15 });
  const unnamed = await json('test');
  expect(unnamed.envelope.data.body).toMatchObject({ email: ALICE, eventName: 'daily_visit' });
  const failed = await plain('test', '--user', ALICE, '--event', 'Daily_Visit');
  expect(failed.code).toBe(exitCodes.refused);
  expect(failed.stderr).toContain('The test event Daily_Visit for alice@demo.example failed with 400');
});

test('users are listed and added, and log in with what they were given', async () => {
  const { stdout } = await plain('user', 'list');
  expect(stdout.split('\n').filter(Boolean)).toEqual([
    'alice         alice@demo.example  Alice',
    'bob           bob@demo.example  Bob',
    'carol         carol@demo.example  Carol  administrator',
  ]);
  const added = await rewards(
    ['site', 'user', 'add', 'dora', 'dora@demo.example', '--display-name', 'Dora D', '--password-file', '-'],
    { cwd: project.path, stdin: 'dora-in-demo\n' },
  );
  expect([added.code, added.stdout]).toEqual([0, 'dora          dora@demo.example  Dora D\n']);
  const again = await json('user', 'add', 'dora', 'other@demo.example');
  expect([again.code, again.envelope.error.details.answer.details]).toMatchObject([
    exitCodes.refused,
    { reason: 'invalid_settings', problems: [{ setting: 'login' }] },
  ]);
  const short = await rewardsJson(
    ['site', 'user', 'add', 'eve', 'eve@demo.example', '--password-file', '-'],
    {
      cwd: project.path,
      stdin: 'short',
    },
  );
  expect(short.envelope.error.details.answer.details.problems).toMatchObject([{ setting: 'password' }]);
  expect(short.stdout).not.toContain('"short"');
});

test('an application password lets a program check in; it stands alone on stdout', async () => {
  const made = await plain('user', 'app-password', 'dora', '--for', 'the test');
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^(?:[A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}\n$/);
  expect(made.stderr).toContain('a password of dora for the test; it is not shown again');
  const checkin = (password: string) =>
    fetch(`${stack.ready.urls.site}/wp-json/rewards/v1/checkin`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`dora:${password}`)}` },
    });
  const answer = await checkin(made.stdout.trim());
  expect([answer.status, await answer.json()]).toMatchObject([200, { success: true, alreadyClaimed: false }]);
  expect((await checkin('aaaa bbbb cccc dddd eeee ffff')).status).toBe(401);
  expect((await plain('user', 'app-password', 'nobody')).code).toBe(exitCodes.refused);
});

test('users of the fixture have the passwords of the ready line', async () => {
  const { users, urls } = stack.ready;
  for (const { login, applicationPassword } of users) {
    const answer = await fetch(`${urls.site}/wp-json/rewards/v1/checkin`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${login}:${applicationPassword}`)}` },
    });
    expect([login, answer.status]).toEqual([login, 200]);
  }
});

test('the control API refuses what it cannot read, and asks for its token', async () => {
  const cases: [path: string, body: unknown, status: number, reason: string | undefined][] = [
    ['/site/hooks/share', 'no JSON', 400, undefined],
    ['/site/hooks/share', {}, 400, 'invalid_settings'],
    ['/site/hooks/share', { user: ALICE, metadata: [1] }, 400, 'invalid_settings'],
    ['/site/hooks/constructor', { user: ALICE }, 404, 'hook_not_found'],
    ['/site/test', { email: '' }, 400, 'invalid_settings'],
    ['/site/test', { event: 'daily_visit' }, 400, 'invalid_settings'],
    ['/site/users', { login: 'fay' }, 400, 'invalid_settings'],
    ['/site/users', { login: 'fay', email: 'fay' }, 400, 'invalid_settings'],
    ['/site/users', { login: 'fay', email: 'fay@demo.example', role: 'king' }, 400, 'invalid_settings'],
    ['/site/users/nobody/application-passwords', {}, 404, 'site_user_not_found'],
  ];
  for (const [path, body, status, reason] of cases) {
    const answer = await control(path, body);
    const said = (await answer.json()) as { details?: { reason?: string } };
    expect([path, body, answer.status, said.details?.reason]).toEqual([path, body, status, reason]);
  }
  const stranger = await fetch(`${stack.ready.urls.control}/site/users`);
  expect(stranger.status).toBe(401);
});
