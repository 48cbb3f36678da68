/** `rewards snapshot …`, `serve --import` and `--export-on-exit`. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAnvil } from '../../src/chain/development/anvil.ts';
import { commandsIn, rewards, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { clientOf } from '../kits/service/service.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const PORTS = ['--port', '0', '--rpc-port', '0'];
const { here, json, event } = commandsIn(() => project);
const snapshots = () => join(project.path, '.rewards', 'state', 'snapshots');

test('save, diff, restore, list and rm; a file goes to another folder and starts there', async () => {
  const stack = await serveHere(PORTS, { cwd: project.path });
  expect((await event('alice')).code).toBe(0);
  await clientOf(stack.ready).atRest();
  const saved = await here('snapshot', 'save', 'base', '--note', 'alice has her reward');
  expect(saved.stdout).toMatch(/^saved {2}base {2}block \d+, \d+ KB, \d+ ms\n.*base\.rewards\n$/);
  expect((await here('snapshot', 'save', 'base')).stderr).toMatch(/There is a snapshot base already/);
  expect((await event('bob')).code).toBe(0);
  const { stdout: told } = await here('snapshot', 'diff', 'base');
  expect(told).toMatch(/^\+1 reward, .*\+1 webhook, .*\+100 RWT to bob@demo\.example, \+1 block, clock \+/);
  const difference = await json('snapshot', 'diff', 'base', 'now');
  expect(difference.data.body).toMatchObject({ users: [{ user: 'bob@demo.example', rwt: 100 }], blocks: 1 });

  expect((await here('snapshot', 'restore', 'base')).stdout).toMatch(
    /^restored {2}base {2}block \d+, clock /,
  );
  expect((await here('snapshot', 'diff', 'base')).stdout).toMatch(/^nothing is different {2}clock \+/);
  expect((await event('bob')).code).toBe(0);
  expect((await here('snapshot', 'list')).stdout).toMatch(/^base {2}taken .* alice has her reward\n$/);
  await copyFile(join(snapshots(), 'base.rewards'), join(project.path, 'sent.rewards'));
  expect((await here('snapshot', 'rm', 'base')).stdout).toBe('removed  base\n');
  expect((await here('snapshot', 'restore', './sent.rewards')).code).toBe(0);
  expect((await event('bob')).code).toBe(0);
  await stack.stop();

  const elsewhere = join(project.path, 'colleague');
  await mkdir(elsewhere);
  const other = await serveHere([...PORTS, '--import', '../sent.rewards'], { cwd: elsewhere });
  const again = (user: string) =>
    rewards(['send-event', 'account_creation', '--user', `${user}@demo.example`], { cwd: elsewhere });
  expect([(await again('alice')).code, (await again('bob')).code]).toEqual([1, 0]);
  expect((await rewards(['verify'], { cwd: elsewhere })).code).toBe(0);
  await other.stop();
}, 60_000);

test('a stack saves itself at its end, and what an import replaces is kept', async () => {
  const first = await serveHere([...PORTS, '--ephemeral', '--export-on-exit', 'evening'], {
    cwd: project.path,
  });
  expect((await event('alice')).code).toBe(0);
  await first.stop('SIGINT');
  expect(first.stderr()).toMatch(/saved .*evening\.rewards/);
  expect(existsSync(join(snapshots(), 'evening.rewards'))).toBe(true);

  const second = await serveHere(PORTS, { cwd: project.path });
  expect((await event('bob')).code).toBe(0);
  await second.stop();
  const third = await serveHere([...PORTS, '--import', 'evening'], { cwd: project.path });
  expect([(await event('alice')).code, (await event('bob')).code]).toEqual([1, 0]);
  expect((await here('snapshot', 'restore', 'before-import')).code).toBe(0);
  expect([(await event('bob')).code, (await event('alice')).code]).toEqual([1, 0]);
  await third.stop();

  const none = await serveHere([...PORTS, '--import', 'never-saved'], { cwd: project.path });
  expect(none.ready.error).toMatchObject({
    code: 'E_SNAPSHOT',
    message: expect.stringMatching(/^There is no file .*never-saved\.rewards$/),
  });
  expect(existsSync(join(project.path, '.rewards', 'state', 'ledger.sqlite'))).toBe(true);
}, 60_000);

test('where the chain is a node of your own, a snapshot is refused with the reason', async () => {
  const anvil = await startAnvil({ bindAddress: '127.0.0.1', port: 0, blockTimeSeconds: 0 });
  try {
    const stack = await serveHere(['--port', '0', '--ephemeral', '--rpc-url', anvil.rpcUrl], {
      cwd: project.path,
    });
    const saved = await here('snapshot', 'save', 'base');
    expect([saved.code, saved.stderr]).toEqual([
      1,
      expect.stringMatching(/chain of this stack is a node of your own/),
    ]);
    const undone = await here('undo');
    expect([undone.code, undone.stderr]).toEqual([1, expect.stringMatching(/[Uu]ndo|snapshot|change/)]);
    expect((await event('alice')).code).toBe(0);
    await stack.stop();
  } finally {
    await anvil.stop();
  }
}, 60_000);

test('what a kill left of a snapshot that was being saved is gone with the next start', async () => {
  const first = await serveHere(PORTS, { cwd: project.path });
  expect((await here('snapshot', 'save', 'base')).code).toBe(0);
  await first.stop();
  const left = join(snapshots(), 'later.rewards.part');
  await copyFile(join(snapshots(), 'base.rewards'), left);
  const second = await serveHere(PORTS, { cwd: project.path });
  expect([existsSync(left), existsSync(join(snapshots(), 'base.rewards'))]).toEqual([false, true]);
  await second.stop();
}, 60_000);
