/** `rewards undo` takes back the last request that changed something, and says which it was. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { snapshotSettings } from '../../src/emulator/limits.ts';
import { commandsIn, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { clientOf } from '../kits/service/service.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
const { takeMaxMs } = snapshotSettings.undo;
beforeAll(async () => {
  // A busy machine may stand still for longer than a request waits for its state.
  Object.assign(snapshotSettings.undo, { takeMaxMs: 20_000 });
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--rpc-port', '0', '--ephemeral'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
  Object.assign(snapshotSettings.undo, { takeMaxMs });
});

const { here, event } = commandsIn(() => project);

test('one after the other, a restore as well, until nothing is left', async () => {
  const nothing = await here('undo');
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringMatching(/There is nothing to undo/)]);

  expect((await event('alice')).code).toBe(0);
  await here('requests', 'list');
  await clientOf(stack.ready).atRest();
  expect((await here('snapshot', 'save', 'base')).code).toBe(0);
  expect((await event('bob')).code).toBe(0);
  const { envelope: latest } = await rewardsJson(['requests', 'list'], { cwd: project.path });
  const { envelope } = await rewardsJson(['undo'], { cwd: project.path });
  expect(envelope.data.body.undone).toEqual([
    {
      id: latest.data.body.requests[0].id,
      at: expect.any(String),
      method: 'POST',
      path: '/rewards-api/manual-event',
      status: 200,
    },
  ]);
  expect((await here('snapshot', 'diff', 'base')).stdout).toMatch(/^nothing is different/);
  expect((await event('alice')).code).toBe(1);

  expect((await event('bob')).code).toBe(0);
  expect((await here('snapshot', 'restore', 'base')).code).toBe(0);
  expect((await here('undo')).stdout).toMatch(/^took back {2}POST {2}\/_rewards\/restore {2}200/);
  expect((await event('bob')).code).toBe(1);
  expect((await here('undo')).stdout).toMatch(/^took back {2}POST {2}\/rewards-api\/manual-event {2}200/);
  expect((await here('undo')).stdout).toMatch(/manual-event {2}200 .* req_[0-9a-f]+\n/);
  expect((await here('undo')).stderr).toMatch(/There is nothing to undo/);
  expect([(await event('alice')).code, (await event('bob')).code]).toEqual([0, 0]);
  expect((await here('verify')).code).toBe(0);
}, 60_000);

test('back through many states, each as it was, with refused requests and changes of the site among them', async () => {
  const changes = [
    () => event('dave'),
    () => here('site', 'fire', 'comment_posted', '--user', 'bob@demo.example'),
    () => event('erin'),
    () => here('brand', 'set', 'demo.example', 'spendPerDay=7700'),
    () => event('frank'),
  ];
  for (const [index, change] of changes.entries()) {
    await clientOf(stack.ready).atRest();
    expect((await here('snapshot', 'save', `state-${index}`)).code).toBe(0);
    const { code, stderr } = await change();
    expect(code, stderr).toBe(0);
    expect((await event('alice')).code).toBe(1);
  }
  for (const index of [4, 3, 2, 1, 0]) {
    const { code, stderr } = await here('undo');
    expect(code, stderr).toBe(0);
    const { stdout } = await here('snapshot', 'diff', `state-${index}`);
    expect(stdout).toMatch(/^nothing is different/);
  }
  expect((await here('verify')).code).toBe(0);
}, 60_000);
