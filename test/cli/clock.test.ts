import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { writeRunFile } from '../../src/emulator/state/run-file.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/cli.ts';
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

  test('what it cannot do is said as the command line says it', async () => {
    const own = await temporaryDirectory();
    const around = { cwd: own.path };
    const stack = await serveHere(
      ['--ephemeral', '--port', '0', '--freeze', '--clock', '2030-01-01T00:00:00Z'],
      around,
    );
    const past = await rewardsJson(['clock', 'set', '2029-01-01T00:00:00Z'], around);
    await stack.stop();
    await own.remove();
    expect(past.code).toBe(exitCodes.refused);
    expect(past.envelope.error).toMatchObject({
      code: 'E_REFUSED',
      message: 'The clock is at 2030-01-01T00:00:00.000Z and moves only forward.',
      hint: 'Give a later time; `rewards serve --ephemeral --clock <time>` starts at any.',
    });
  });

  test.each([
    [['advance', '-5m'], '-5m is less than nothing, and nothing here can be.'],
    [['advance', '5'], '5 is not a <duration>. It must be a duration such as 500ms, 90s, 15m or 36h.'],
    [['set', 'tomorrow'], 'tomorrow is not a <time>. It must be a time such as 2030-01-01T00:00:00Z.'],
  ])('%j', async (args, message) => {
    const { code, envelope } = await rewardsJson(['clock', ...args], { cwd: project.path });
    expect(code).toBe(exitCodes.usage);
    expect(envelope.error).toMatchObject({
      code: 'E_USAGE',
      message,
      hint: `\`rewards clock ${args[0]} --help\` lists what it takes.`,
    });
  });
});
