import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { writeRunFile } from '../../src/stack/run-file.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { runInfo, stubService } from './stub-service.ts';

const clock = { now: '2026-11-20T09:42:01.000Z', nowMs: 1_795_167_721_000, frozen: false, offsetMs: 61_000 };

let answer: { status?: number; body: unknown };
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
  answer = { body: clock };
  service.asked.length = 0;
});

describe('clock', () => {
  test.each([
    { args: ['show'], asked: 'GET ' },
    { args: ['advance', '61s'], asked: 'POST {"advance":"61s"}' },
    { args: ['set', '2030-01-01T00:00:00Z'], asked: 'POST {"set":"2030-01-01T00:00:00Z"}' },
    { args: ['freeze'], asked: 'POST {"freeze":true}' },
    { args: ['run'], asked: 'POST {"freeze":false}' },
  ])('$args', async ({ args, asked }) => {
    const finished = await rewards(['clock', ...args], { cwd: project.path });
    expect(finished).toMatchObject({
      code: 0,
      stdout: '2026-11-20T09:42:01.000Z  running  1m1s ahead of real time\n',
      stderr: '',
    });
    expect(service.asked.map(({ method, body }) => `${method} ${body}`)).toEqual([asked]);
    expect(service.asked[0]).toMatchObject({
      path: '/_rewards/clock',
      headers: { authorization: 'Bearer control-token' },
    });
  });

  test('what fell due on the way is printed in its order, before the time', async () => {
    const at = '2026-11-20T09:41:05.000Z';
    const fired = [
      { at, kind: 'webhook-retry', what: 'attempt 2 of reward.distributed to http://shop/', id: 'evt_1' },
      { at, kind: 'cooldown', what: 'alice@demo.example may claim purchase of Demo again' },
    ];
    answer = { body: { ...clock, fired, firedMore: 3 } };
    const { stdout } = await rewards(['clock', 'advance', '--until', 'webhook-retry:evt_1'], {
      cwd: project.path,
    });
    expect(service.asked.map(({ body }) => body)).toEqual(['{"until":"webhook-retry:evt_1"}']);
    expect(stdout.split('\n')).toEqual([
      `${at}  webhook-retry  attempt 2 of reward.distributed to http://shop/  evt_1`,
      `${at}  cooldown       alice@demo.example may claim purchase of Demo again`,
      'and 3 more',
      '2026-11-20T09:42:01.000Z  running  1m1s ahead of real time',
      '',
    ]);
  });

  test('json carries the answer', async () => {
    const { envelope } = await rewardsJson(['clock', 'show'], { cwd: project.path });
    expect(envelope).toMatchObject({
      ok: true,
      data: { status: 200, body: clock },
      meta: { command: 'clock show', target: service.url },
    });
  });

  test.each([
    { status: 404, body: { error: 'Not found' }, code: 'E_NOT_EMULATOR', exit: exitCodes.precondition },
    { status: 200, body: { hello: 'world' }, code: 'E_NOT_EMULATOR', exit: exitCodes.precondition },
    { status: 401, body: { error: 'no' }, code: 'E_CONTROL_TOKEN', exit: exitCodes.precondition },
    {
      status: 400,
      body: { error: 'The clock moves only forward' },
      code: 'E_REFUSED',
      exit: exitCodes.refused,
    },
    { status: 500, body: {}, code: 'E_SERVICE_FAILED', exit: exitCodes.refused },
  ])('an answer of $status is $code', async ({ status, body, code, exit }) => {
    answer = { status, body };
    const finished = await rewardsJson(['clock', 'advance', '1s'], { cwd: project.path });
    expect(finished.code).toBe(exit);
    expect(finished.envelope.error.code).toBe(code);
  });

  test('a real stack moves to the end of a cooldown; what it cannot do is said as the command line says it', async () => {
    const own = await temporaryDirectory();
    const around = { cwd: own.path };
    const stack = await serveHere(
      ['--ephemeral', '--port', '0', '--freeze', '--clock', '2030-01-01T00:00:00Z'],
      around,
    );
    const past = await rewardsJson(['clock', 'set', '2029-01-01T00:00:00Z'], around);
    const visit = ['send-event', 'social_share', '--user', 'alice@demo.example'];
    const until = ['clock', 'advance', '--until', 'cooldown:alice@demo.example/social_share'];
    const early = await rewards(until, around);
    const sent = [await rewards(visit, around), await rewards(visit, around)];
    const moved = await rewards(until, around);
    sent.push(await rewards(visit, around));
    await stack.stop();
    await own.remove();
    expect(early.code).toBe(exitCodes.refused);
    expect(early.stderr).toContain('so no cooldown holds');
    expect(sent.map(({ code }) => code)).toEqual([0, exitCodes.refused, 0]);
    expect(moved.stdout).toMatch(
      /^2030-01-02T00:00:00\.000Z {2}cooldown +alice@demo\.example may claim social_share of .* again\n/m,
    );
    expect(moved.stdout).toMatch(/^2030-01-02T00:00:00\.000Z {2}frozen/m);
    expect(past.code).toBe(exitCodes.refused);
    expect(past.envelope.error).toMatchObject({
      code: 'E_REFUSED',
      message: 'The clock is at 2030-01-01T00:00:00.000Z and moves only forward.',
      hint: 'Give a later time; `rewards serve --ephemeral --clock <time>` starts at any.',
    });
  });

  test.each([
    [
      ['advance', '-5m'],
      '-5m goes back, and time moves only forward.',
      '`rewards snapshot restore <name>` brings an earlier state back, with its time.',
    ],
    [['advance', '90'], '90 has no unit.', 'Write `rewards clock advance 90s` for seconds, or m, h or d.'],
    [
      ['advance', 'soon'],
      'soon is not a <duration>. It must be a duration such as 500ms, 90s, 15m or 36h.',
      '`rewards clock advance --help` lists what it takes.',
    ],
    [
      ['set', 'tomorrow'],
      'tomorrow is not a <time>. It must be a time such as 2030-01-01T00:00:00Z.',
      '`rewards clock set --help` lists what it takes.',
    ],
    [
      ['set', '-5m'],
      '-5m is less than nothing, and nothing here can be.',
      '`rewards clock set --help` lists what it takes.',
    ],
  ])('%j', async (args, message, hint) => {
    const { code, envelope } = await rewardsJson(['clock', ...args], { cwd: project.path });
    expect(code).toBe(exitCodes.usage);
    expect(envelope.error).toMatchObject({ code: 'E_USAGE', message, hint });
    expect(service.asked).toEqual([]);
  });
});
