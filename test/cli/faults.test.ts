/** `rewards faults` as a shell sees it, and the control API behind it, against a real stack. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { clientOf } from '../kits/service/service.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(['faults', ...args], { cwd: project.path });
const plain = (...args: string[]) => rewards(['faults', ...args], { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--ephemeral'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});
afterEach(() => json('clear'));

const said = () => stack.stderr().split('\n');

test('a fault is set, listed, noted by serve, and cleared', async () => {
  expect((await plain('list')).stdout).toBe(
    'no faults are set; `rewards faults set --help` lists what can fail\n',
  );
  const set = await json('set', 'node=fee-cap', '--times', '3', '--for', '10m');
  expect(set.code).toBe(exitCodes.done);
  const fault = { seam: 'node', effect: 'fee-cap', timesLeft: 3, struck: 0, until: expect.any(String) };
  expect(set.envelope).toMatchObject({ ok: true, data: { status: 201, body: fault } });
  const { id } = set.envelope.data.body;
  const listed = await json('list');
  expect(listed.envelope.data.body).toMatchObject({ faults: [{ id, ...fault }] });
  expect((await plain('list')).stdout).toMatch(
    new RegExp(`^${id} {2}node=fee-cap {2}3 times more {2}until 2\\S+Z {2}struck 0 times\n$`),
  );
  expect((await plain('clear', id)).stdout).toMatch(new RegExp(`^cleared {2}${id} {2}node=fee-cap`));
  const notes = said().filter((line) => line.includes('fee-cap'));
  expect(notes).toEqual([
    expect.stringContaining('fault set: node=fee-cap, 3 times, at most for 10m'),
    expect.stringContaining('fault over: node=fee-cap; it was cleared'),
  ]);
});

test('a fault for a time is over when the clock has passed it', async () => {
  await json('set', 'node=fee-cap', '--for', '1h');
  await rewards(['clock', 'advance', '1h'], { cwd: project.path });
  expect((await json('list')).envelope.data.body.faults).toEqual([]);
  await until('serve says so', () =>
    said().some((line) => line.includes('node=fee-cap; its time has passed')),
  );
});

test('what is not known is refused with what was meant, and with what there is', async () => {
  const seam = await plain('set', 'nodes=away');
  expect(seam.code).toBe(exitCodes.refused);
  expect(seam.stderr).toMatch(/seam must be one of node.*, not "nodes": did you mean node\?/);
  const effect = await plain('set', 'node=slo:3s');
  expect(effect.stderr).toMatch(/effect must be one of away, .*, not "slo:3s": did you mean slow\?/);
  const times = await plain('set', 'node', '--times', '0');
  expect([times.code, times.stderr]).toEqual([exitCodes.usage, expect.stringContaining('--times')]);
  const gone = await plain('clear', 'fault-99');
  expect([gone.code, gone.stderr]).toEqual([
    exitCodes.refused,
    expect.stringContaining('No fault fault-99 is set'),
  ]);
  expect((await json('list')).envelope.data.body.faults).toEqual([]);
});

test('the control API names each field that it does not know, and needs its token', async () => {
  const { ready, post, control, request } = clientOf(stack.ready);
  const faults = `${ready.urls.control}/faults`;
  expect((await post(faults, { seam: 'node' }, { authorization: 'Bearer no' })).status).toBe(401);
  expect((await request(faults, { method: 'DELETE', headers: { authorization: 'Bearer no' } })).status).toBe(
    401,
  );
  const wrong = await control('/faults', { seam: 'node', time: 3, times: 'often' });
  expect([wrong.status, wrong.body.error, wrong.body.message]).toEqual([
    400,
    'Invalid settings',
    'times must be a whole number; time is not a field of this body; its fields are seam, effect, times, for',
  ]);
  expect((await control('/faults', '[]')).status).toBe(400);
  expect((await control('/faults', { seam: 'node' })).body).toMatchObject({
    effect: 'away',
    timesLeft: null,
  });
});

test('the help of faults set has every seam with its effects', async () => {
  const { stdout } = await plain('set', '--help');
  const { body } = (await json('list')).envelope.data;
  for (const { seam, effects } of body.seams)
    for (const { effect, does } of effects) expect(stdout).toMatch(new RegExp(`${seam}=${effect} .*${does}`));
});
