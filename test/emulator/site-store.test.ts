/** The demo site of an emulator: where it is, and what becomes of its store. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';
import { openSiteStore } from '../../src/site/store.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { siteVisitor } from '../kits/site/site-visitor.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const start = (...args: string[]) =>
  serveHere(['--port', '0', '--persist-to', 'data', ...args], { cwd: project.path });
const inData = (file: string) => join(project.path, 'data', file);
const siteFiles = async () =>
  (await readdir(join(project.path, 'data'))).filter((file) => file.startsWith('site.'));

test('the store appears with the first visitor, is one file after a stop, and goes with `reset`', async () => {
  const stack = await start();
  const { site, events } = stack.ready.urls;
  expect(site).toBe(`${events}/site`);
  expect(await siteFiles()).toEqual([]);
  await (await fetch(`${site}/nothing`)).text();
  expect(await siteFiles()).toContain('site.sqlite');
  await stack.stop();
  expect(await siteFiles()).toEqual(['site.sqlite']);

  expect((await rewards(['reset', '--yes', '--persist-to', 'data'], { cwd: project.path })).code).toBe(0);
  expect(existsSync(inData('site.sqlite'))).toBe(false);
});

test('with a port for each host, the site has its own', async () => {
  const stack = await start('--split-hosts');
  const { site, ...others } = stack.ready.urls;
  expect(new URL(site).pathname).toBe('/');
  expect(Object.values<string>(others)).not.toContain(site);
  await (await fetch(`${site}/nothing`)).text();
  expect(await siteFiles()).toContain('site.sqlite');
  // Elsewhere these paths are free.
  expect((await fetch(`${others.events}/site/nothing`)).status).toBe(404);
  await stack.stop();
});

test('what its administrator saved is there after a restart, and the service is found at its new address', async () => {
  const first = await start();
  const carol = siteVisitor(first.ready.urls.site);
  await carol.logIn('carol', 'carol-in-demo');
  // Every event is sent from now on, that at login too.
  const rows = defaultEvents.flatMap(({ hook }, row) => [
    [`hook-${row}`, hook],
    [`enabled-${row}`, 'on'],
  ]);
  const saved = await carol.submit('/admin/settings', '/admin/settings', Object.fromEntries(rows));
  expect(saved.status).toBe(303);
  await first.stop();

  const second = await start();
  expect(second.ready.urls.events).not.toBe(first.ready.urls.events);
  const fired = await rewardsJson(['site', 'fire', 'login', '--user', 'bob'], { cwd: project.path });
  expect(fired.envelope.data.body.calls).toMatchObject([{ eventName: 'daily_login', status: 200 }]);
  // A session outlives the restart as well.
  const back = siteVisitor(second.ready.urls.site);
  for (const [name, value] of carol.cookies) back.cookies.set(name, value);
  expect((await back.get('/admin/settings')).status).toBe(200);
  await second.stop();
});

test('an event that a page has begun to send is answered before a stop ends the service', async () => {
  const stack = await start();
  const alice = siteVisitor(stack.ready.urls.site);
  await alice.logIn('alice', 'alice-in-demo');
  expect((await alice.get('/dashboard')).status).toBe(200);
  await stack.stop();

  const again = await start();
  const { events } = again.ready.urls;
  const answer = await fetch(`${events}/rewards-api/user-balance`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ brandId: again.ready.brands[0].brandId, userIdentifier: 'alice@demo.example' }),
  });
  // The daily visit.
  expect(await answer.text()).toContain('"balance":5');
  await again.stop();
});

test('a store that a newer program wrote stops the start', async () => {
  const stack = await start();
  await (await fetch(`${stack.ready.urls.site}/nothing`)).text();
  await stack.stop();
  const store = openSiteStore(inData('site.sqlite'));
  store.pragma('user_version = 99');
  store.close();
  const refused = await rewardsJson(['serve', '--port', '0', '--persist-to', 'data'], { cwd: project.path });
  expect(refused.code).toBe(exitCodes.precondition);
  expect(refused.envelope.error).toMatchObject({
    code: 'E_LEDGER_NEWER',
    message: expect.stringContaining('site.sqlite is of a newer version of rewards: its version is 99'),
  });
});
