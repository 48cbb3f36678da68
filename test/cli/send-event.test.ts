import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { writeRunFile } from '../../src/stack/run-file.ts';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';
import { runInfo, stubService } from './stub-service.ts';

type Answer = ReturnType<Parameters<typeof stubService>[0]>;

const reward = {
  success: true,
  eventId: '3f0c0c8e-0000-4000-8000-000000000000',
  message: 'Rewarded',
  rewardAmount: 100,
  eventType: 'account_creation',
  walletCreated: true,
  walletAddress: '0x70997970c51812dc3a010c7d01b50e0d17dc79C8',
  transactionHash: `0xa1b2${'0'.repeat(60)}`,
};
const cooldown = {
  success: false,
  error: 'Cooldown active',
  details: {
    reason: 'cooldown',
    message: 'The cooldown of account_creation is 24h.',
    cooldownSeconds: 86_400,
    remainingSeconds: 86_398,
    retryAt: '2026-11-21T09:41:07Z',
  },
};

let answer: Answer;
let service: Awaited<ReturnType<typeof stubService>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  service = await stubService(() => answer);
  project = await temporaryDirectory();
  await writeRunFile(project.path, runInfo(service.url));
});
afterAll(async () => {
  await service.close();
  await project.remove();
});
beforeEach(() => {
  answer = { status: 200, headers: { 'x-request-id': 'req_1' }, body: reward };
  service.asked.length = 0;
});

const sendEvent = (...args: string[]) => rewards(['send-event', ...args], { cwd: project.path });
const alice = ['account_creation', '--user', 'alice@demo.example'];

describe('send-event', () => {
  test('a reward: one line, exit 0, brand and domain from the stack', async () => {
    const { code, stdout, stderr } = await sendEvent(...alice);
    expect({ code, stderr }).toEqual({ code: exitCodes.done, stderr: '' });
    expect(stdout).toMatch(
      /^200 {2}\+100 RWT {2}alice@demo\.example -> 0x7099…79C8 \(wallet created\) {2}tx 0xa1b2… {2}\d+m?s\n$/,
    );
    expect(JSON.parse(service.asked[0]?.body ?? '')).toEqual({
      brandId: runInfo('').brands[0]?.brandId,
      domain: 'demo.example',
      eventType: 'account_creation',
      userEmail: 'alice@demo.example',
    });
  });

  test('json: the service’s own body, unchanged', async () => {
    const { code, stderr, envelope } = await rewardsJson(['send-event', ...alice], { cwd: project.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(envelope).toEqual({
      ok: true,
      data: { status: 200, headers: expect.objectContaining({ 'x-request-id': 'req_1' }), body: reward },
      meta: {
        command: 'send-event',
        durationMs: expect.any(Number),
        target: service.url,
        requestId: 'req_1',
      },
    });
  });

  test('env: lines for a shell', async () => {
    const { stdout } = await sendEvent(...alice, '-o', 'env');
    expect(stdout).toContain('STATUS=200\nBODY_SUCCESS=true\n');
    expect(stdout).toContain('BODY_REWARD_AMOUNT=100\n');
    expect(stdout).not.toContain('HEADERS');
  });

  test('a refusal: exit 1, nothing on stdout, why and when it would pass on stderr', async () => {
    answer = { status: 429, body: cooldown };
    const { code, stdout, stderr } = await sendEvent(...alice);
    expect({ code, stdout }).toEqual({ code: exitCodes.refused, stdout: '' });
    expect(stderr).toContain('429  Cooldown active\n  event   account_creation for alice@demo.example');
    expect(stderr).toContain('why     The cooldown of account_creation is 24h.');
    expect(stderr).toContain('passes  2026-11-21T09:41:07Z, in 23h59m58s (rewards clock advance 23h59m58s)');
  });

  test('a refusal in json', async () => {
    answer = { status: 429, body: cooldown };
    const { code, stderr, envelope } = await rewardsJson(['send-event', ...alice], { cwd: project.path });
    expect({ code, stderr }).toEqual({ code: exitCodes.refused, stderr: '' });
    expect(envelope).toMatchObject({
      ok: false,
      error: {
        code: 'E_REFUSED',
        message: 'Cooldown active',
        hint: expect.any(String),
        retryable: true,
        details: { status: 429, reason: 'cooldown', retryAt: '2026-11-21T09:41:07Z' },
      },
      data: { status: 429, body: cooldown },
      meta: { command: 'send-event' },
    });
  });

  test('a list of messages is shown line by line', async () => {
    answer = {
      status: 400,
      body: { success: false, error: 'Invalid event data', details: ['userEmail: bad', 'brandId: bad'] },
    };
    const { code, stderr } = await sendEvent(...alice);
    expect(code).toBe(exitCodes.refused);
    expect(stderr).toMatch(/why {5}userEmail: bad\n {2}why {5}brandId: bad/);
  });

  test('a failure of the service may be tried again', async () => {
    answer = { status: 503, text: 'gone' };
    const { code, envelope } = await rewardsJson(['send-event', ...alice], { cwd: project.path });
    expect(code).toBe(exitCodes.refused);
    expect(envelope).toMatchObject({
      error: { code: 'E_SERVICE_FAILED', retryable: true },
      data: { status: 503, body: 'gone' },
    });
  });

  test('--expect turns the awaited refusal into success, and all else into failure', async () => {
    answer = { status: 429, body: cooldown };
    const awaited = await sendEvent(...alice, '--expect', '429:cooldown');
    expect(awaited).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^429 {2}cooldown, as expected/),
    });
    expect((await sendEvent(...alice, '--expect', '4xx')).code).toBe(0);
    const other = await sendEvent(...alice, '--expect', '429:max_claims_reached');
    expect(other).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(other.stderr).toContain('429:cooldown, not 429:max_claims_reached');
    answer = { status: 200, body: reward };
    expect((await sendEvent(...alice, '--expect', '429')).code).toBe(exitCodes.refused);
  });

  test('headers: origin, idempotency key, API key from a file', async () => {
    const keyFile = join(project.path, 'key');
    await writeFile(keyFile, 'rk_dev_a_b\n');
    await sendEvent(
      ...alice,
      '--origin',
      'https://demo.example',
      '--idempotency-key',
      'k1',
      '--api-key-file',
      'key',
    );
    expect(service.asked[0]?.headers).toMatchObject({
      origin: 'https://demo.example',
      'idempotency-key': 'k1',
      authorization: 'Bearer rk_dev_a_b',
    });
    expect(JSON.parse(service.asked[0]?.body ?? '')).not.toHaveProperty('domain');
  });

  test('--file from standard input, with changes on top', async () => {
    const stdin = '{"eventType":"form_submit","metadata":{"a":1}}';
    await rewards(['send-event', '--file', '-', '--set', 'metadata.b=2'], { cwd: project.path, stdin });
    expect(JSON.parse(service.asked[0]?.body ?? '')).toMatchObject({
      eventType: 'form_submit',
      metadata: { a: 1, b: 2 },
    });
  });

  test.each([
    { args: ['--file', 'missing.json'], said: 'missing.json cannot be read (ENOENT)' },
    { args: ['--file', 'cut.json'], said: 'cut.json:2:11: ' },
    { args: ['--file', 'list.json'], said: 'not hold a JSON object' },
    { args: ['account_creation'], said: '--user' },
    { args: [...alice, '--set', 'metadta.x=1'], said: 'Did you mean metadata?' },
    { args: [...alice, '--expect', 'yes'], said: '--expect yes' },
    { args: [...alice, '--api-key-file', 'missing'], said: 'missing cannot be read' },
  ])('$args: exit 2, and nothing is sent', async ({ args, said }) => {
    await writeFile(join(project.path, 'cut.json'), '{\n  "type": x}');
    await writeFile(join(project.path, 'list.json'), '[]');
    const { code, stderr } = await sendEvent(...args);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(said);
    expect(service.asked).toEqual([]);
  });
});

describe('the target', () => {
  test('nothing running: exit 3 and what to do', async () => {
    const empty = await temporaryDirectory();
    const { code, stderr } = await rewards(['send-event', ...alice], { cwd: empty.path });
    expect(code).toBe(exitCodes.unreachable);
    expect(stderr).toContain('rewards serve');
    await writeRunFile(empty.path, { ...runInfo(service.url), pid: 2 ** 22 + 1 });
    const stale = await rewards(['send-event', ...alice], { cwd: empty.path });
    expect(stale.code).toBe(exitCodes.unreachable);
    expect(stale.stderr).toContain('left over from process');
    await empty.remove();
  });

  test('--target and REWARDS_TARGET, where the brand has to be said', async () => {
    const away = { cwd: '/' };
    const noBrand = await rewards(['send-event', ...alice, '--target', service.url], away);
    expect(noBrand).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining('--brand') });
    const brand = ['--brand', `0x${'1'.repeat(40)}`];
    const env = { REWARDS_TARGET: service.url.replace('http://', '') };
    expect((await rewards(['send-event', ...alice, ...brand], { ...away, env })).code).toBe(0);
    // The address of the stack that runs here brings its brand along.
    expect((await sendEvent(...alice, '--target', service.url)).code).toBe(0);
  });

  test('--name picks one of several; without it their names are listed', async () => {
    const several = await temporaryDirectory();
    await writeRunFile(several.path, runInfo(service.url, { name: 'one' }));
    const without = await rewards(['send-event', ...alice], { cwd: several.path });
    expect(without).toMatchObject({
      code: exitCodes.unreachable,
      stderr: expect.stringContaining('--name: one'),
    });
    expect((await rewards(['send-event', ...alice, '--name', 'one'], { cwd: several.path })).code).toBe(0);
    expect((await rewards(['send-event', ...alice, '--name', 'two'], { cwd: several.path })).code).toBe(3);
    await several.remove();
  });

  test('unreachable and too slow: exit 3, told apart by their codes', async () => {
    const brand = ['--brand', `0x${'1'.repeat(40)}`];
    const nobody = await rewardsJson(['send-event', ...alice, ...brand, '--target', 'http://127.0.0.1:1']);
    expect(nobody).toMatchObject({
      code: exitCodes.unreachable,
      envelope: {
        ok: false,
        error: { code: 'E_UNREACHABLE', retryable: true },
        meta: { target: 'http://127.0.0.1:1' },
      },
    });
    answer = undefined;
    const slow = await rewardsJson(['send-event', ...alice, '--timeout', '200ms'], { cwd: project.path });
    expect(slow).toMatchObject({ code: exitCodes.unreachable, envelope: { error: { code: 'E_TIMEOUT' } } });
  });
});
