/** The banner and the pages it leads to: lines that work for any seed, in any width, as the program was called. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { banner } from '../../src/cli/run/banner.ts';
import { plainStyle } from '../../src/cli/terminal/style.ts';
import { programMissing } from '../kits/run/programs.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => project.remove());

const shop = `0x${'51'.repeat(20)}`;
const start = (...args: string[]) =>
  serveHere(['--ephemeral', '--port', '0', '--rpc-port', '0', ...args], { cwd: project.path });
const look = { style: plainStyle, tookMs: 900, ephemeral: true };

test('with a seed of your own, its lines work for the brand that commands take, and no row is empty', async () => {
  const events =
    'old: { reward: 1, active: false }, answer: { reward: 1, channels: [help] }, visit: { reward: 4, maxClaims: 999999 }';
  await writeFile(
    join(project.path, 'shop.yaml'),
    `brands:\n  - { brandId: '${shop}', name: Shop, domains: [shop.example], escrow: 100, events: { ${events} } }\n`,
  );
  const stack = await start('--seed', 'shop.yaml');
  const text = banner(stack.ready, { ...look, columns: 80 });
  const [, typed = ''] = /Try +rewards (send-event visit --user \S+)/.exec(text) ?? [];
  const sent = await rewardsJson(typed.split(' '), { cwd: project.path });
  expect(sent.envelope.data).toMatchObject({ status: 200, body: { rewardAmount: 4 } });
  const curl = text.slice(text.indexOf('curl'));
  if (!programMissing('curl')) {
    // Not synchronously: the service that answers lives in this process.
    const { stdout } = await promisify(execFile)('sh', ['-c', curl]);
    expect(JSON.parse(stdout)).toMatchObject({ rewardAmount: 4 });
  }
  expect(text).not.toMatch(/API key|Secrets/);
  for (const address of Object.values(stack.ready.contracts)) expect(text).toContain(address as string);
  await stack.stop();
});

test('it shows where the site is, with a login for a visitor and one for its administrator', async () => {
  const stack = await start();
  const text = banner(stack.ready, { ...look, columns: 200 });
  expect(text).toContain(
    `Site      ${stack.ready.urls.site}   log in as alice, password alice-in-demo   administrator carol, password carol-in-demo`,
  );
  const answer = await fetch(`${stack.ready.urls.site}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ login: 'alice', password: 'alice-in-demo' }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([200, { success: true }]);
  await stack.stop();
});

test('without a brand it says how to get one', async () => {
  await writeFile(join(project.path, 'empty.yaml'), '# nothing yet\n');
  const stack = await start('--seed', 'empty.yaml');
  expect(banner(stack.ready, look)).toMatch(/Brand +none yet: `rewards brand create` adds one/);
  expect(banner(stack.ready, look)).not.toContain('Try');
  await stack.stop();
});

test('no line is wider than the terminal, except for a single word, and every word stays whole', async () => {
  const stack = await start();
  const wide = banner(stack.ready, { ...look, columns: 1_000 });
  for (const columns of [80, 60]) {
    const text = banner(stack.ready, { ...look, columns });
    const copied = text.indexOf('curl');
    const long = text
      .slice(0, copied)
      .split('\n')
      .filter((line) => line.length > columns);
    expect(long.filter((line) => line.trim().includes(' '))).toEqual([]);
    const words = (of: string) => of.split(/\s+/).filter(Boolean);
    expect(words(text)).toEqual(words(wide));
  }
  await stack.stop();
});

test('hints name the program as it was called', async () => {
  const around = { cwd: project.path, program: 'npx rewards' };
  const nothing = await rewards(['send-event', 'visit', '--user', 'a@b.example'], around);
  expect(nothing.stderr).toContain('`npx rewards serve`');
  const json = await rewardsJson(['send-event', 'visit', '--user', 'a@b.example'], around);
  expect(json.envelope.error.hint).toContain('`npx rewards serve`');
  expect((await rewards(['send-event'], { cwd: project.path })).stderr).not.toContain('npx');
});

test.each([[[]], [['--split-hosts']]])(
  'a browser finds an index at each address, and every reference from there %j',
  async (args) => {
    const stack = await start(...args);
    const { events, register, relay, control } = stack.ready.urls;
    const authorization = `Bearer ${stack.ready.controlToken}`;
    const accept = { headers: { accept: 'text/html,*/*' } };
    const seen = new Set<string>();
    for (const url of [events, `${events}/rewards-api`, register, relay, `${events}/`]) {
      const page = await fetch(url, accept);
      expect([url, page.status]).toEqual([url, 200]);
      for (const [, link = ''] of (await page.text()).matchAll(/href="([^"]+)"/g)) seen.add(link);
    }
    expect(seen.size).toBeGreaterThanOrEqual(5);
    const titles = new Set<string>();
    // The console opens by its link alone.
    const locked = await fetch(`${control}/`, accept);
    expect([locked.status, await locked.text()]).toEqual([401, expect.stringContaining('rewards open')]);
    for (const url of seen) {
      const page = await fetch(url, url.startsWith(control) ? { headers: { authorization } } : {});
      expect([url, page.status]).toEqual([url, 200]);
      const text = await page.text();
      const title = /<title>([^<]+)/.exec(text)?.[1];
      if (!title) continue;
      titles.add(title);
      for (const [, path = ''] of text.matchAll(/href="(\/docs\/[^"]+)"/g)) {
        expect([path, (await fetch(new URL(path, url))).status]).toEqual([path, 200]);
      }
    }
    // The references of four hosts and of the controls, the site and the console.
    expect(titles.size).toBe(7);
    // Programs get what the contract says of an unknown endpoint.
    expect((await fetch(events)).status).toBe(404);
    expect(banner(stack.ready, look)).toContain(`${events}/docs`);
    for (const url of [register, relay]) expect(banner(stack.ready, look)).toContain(url);
    await stack.stop();
  },
);
