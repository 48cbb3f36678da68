/** Whose brand a command means, pages on this machine, and what a missed expectation tells: against a real emulator. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

const second = `0x${'5e'.repeat(20)}`;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  const args = ['--ephemeral', '--port', '0', '--rpc-port', '0', '--own-domain', 'chat.example'];
  stack = await serveHere([...args, '--error-dialect', 'earlier'], { cwd: project.path });
  const named = ['--brand-name', 'Second', '--domain', 'second.example', '--domain', 'localhost'];
  await here('brand', 'create', second, ...named, '--escrow', '1000');
  await here(
    'brand',
    'rule',
    second,
    'visit',
    '--reward',
    '3',
    '--max-claims',
    'unlimited',
    '--cooldown',
    '0',
  );
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const here = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const visit = (user: string) => ['send-event', 'visit', '--user', user];

describe('--brand', () => {
  test.each(['second.example', 'localhost', second])(
    'takes %s, in every command that names a brand',
    async (name) => {
      const sent = await here(...visit(`${name}@people.example`), '--brand', name);
      expect(sent.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 3 } });
      const balance = await here('wallet', 'balance', `${name}@people.example`, '--brand', name);
      expect(balance.envelope.data).toMatchObject({ status: 200, body: { balance: 3 } });
      const relay = ['relay', 'token', 'transfer', 'me', '1', '--as', 'alice@demo.example', '--brand', name];
      expect((await here(...relay, '--expect', '403')).code).toBe(0);
    },
  );

  test('with an unknown domain: said, with the command that lists them', async () => {
    const { code, envelope } = await here(...visit('a@people.example'), '--brand', 'nobody.example');
    expect(code).toBe(exitCodes.refused);
    expect(envelope.error).toMatchObject({
      message: 'No brand here has the domain nobody.example.',
      hint: expect.stringContaining('rewards brand list'),
    });
  });
});

describe('--target', () => {
  const away = { env: { REWARDS_CONTROL_TOKEN: '' } };
  beforeAll(() => {
    away.env.REWARDS_CONTROL_TOKEN = stack.ready.controlToken;
  });

  test('an emulator elsewhere is asked for its brand', async () => {
    const sent = await rewardsJson(
      ['send-event', 'form_submit', '--user', 'b@people.example', '--target', stack.ready.urls.events],
      away,
    );
    expect(sent.envelope.data).toMatchObject({ status: 200 });
    const other = [...visit('c@people.example'), '--brand', 'second.example'];
    const named = await rewardsJson([...other, '--target', stack.ready.urls.events], away);
    expect(named.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 3 } });
  });

  test('our own, written otherwise, brings its brand along', async () => {
    const url = `${stack.ready.urls.events.replace('127.0.0.1', 'localhost')}/`;
    const sent = await here('send-event', 'form_submit', '--user', 'd@people.example', '--target', url);
    expect(sent.envelope.data).toMatchObject({ status: 200 });
  });

  test('no service answers there: said as such, not that the brand is missing', async () => {
    const { code, envelope } = await rewardsJson([
      ...visit('e@people.example'),
      '--target',
      'http://127.0.0.1:1',
    ]);
    expect(code).toBe(exitCodes.unreachable);
    expect(envelope.error).toMatchObject({ code: 'E_UNREACHABLE' });
    expect(envelope.error.message).toContain('127.0.0.1:1');
  });
});

test('--expect that is missed shows the refusal as it is shown without it', async () => {
  const event = ['send-event', 'account_creation', '--user', 'f@people.example'];
  expect((await here(...event)).code).toBe(0);
  const missed = await rewards([...event, '--expect', '200'], { cwd: project.path });
  expect(missed.code).toBe(exitCodes.refused);
  expect(missed.stderr).toMatch(/^error: The answer is 409:\S+, not 200 as expected\./);
  for (const row of ['event', 'check', 'more']) expect(missed.stderr).toMatch(new RegExp(`^  ${row} `, 'm'));
  const relay = ['relay', 'token', 'transfer', 'me', '1', '--as', 'alice@demo.example', '--expect', '200'];
  expect((await rewards(relay, { cwd: project.path })).stderr).toMatch(
    /^error: The answer is 403:\S+, not 200 as expected\. .*\n {2}\S+/,
  );
});

test('a page on this machine is told to name its brand with data-domain', async () => {
  const { brandId } = stack.ready.brands[0];
  const response = await fetch(`${stack.ready.urls.events}/rewards-api/manual-event`, {
    method: 'POST',
    body: JSON.stringify({
      brandId,
      eventType: 'form_submit',
      userEmail: 'g@people.example',
      domain: 'shop.localhost',
    }),
  });
  expect(response.status).toBe(403);
  expect(((await response.json()) as { message: string }).message).toContain('data-domain="demo.example"');
  const explained = await rewards(['requests', 'explain', 'latest'], { cwd: project.path });
  expect(explained.stdout).toContain('data-domain="demo.example"');
});

test('a list of domains with a wrong entry: the refusal names that entry', async () => {
  const { envelope } = await here('brand', 'set', second, 'domains=second.example,co.uk,third.example');
  expect(envelope.error.hint).toMatch(/^domains must be a domain of its own.*, not "co\.uk"$/);
});

test('serve takes --own-domain and --error-dialect as start does', async () => {
  const { envelope } = await here('wallet', 'pregenerate', 'discord:123456789012345678', '--username', 'al');
  const wallet = await here('wallet', 'show', 'discord:123456789012345678');
  expect(envelope.ok).toBe(true);
  expect(wallet.envelope.data.body.user).toMatch(/@chat\.example$/);
  const event = ['send-event', 'account_creation', '--user', 'h@people.example'];
  await here(...event);
  await here('clock', 'advance', '61s');
  const { body } = (await here(...event)).envelope.data;
  expect(body).toMatchObject({ error: 'Duplicate reward', details: { reason: 'cooldown_not_expired' } });
});
