/** The site of docs/examples, as a program of its own against a real stack: what it imports is the package's export. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readyEnvironment } from '../../src/stack/ready.ts';
import { freePort } from '../kits/network/free-port.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

const root = new URL('../..', import.meta.url).pathname;
const example = 'docs/examples/site/site.js';

let service: TestService;
let bakery: ChildProcess;
let folder: string;
let url: string;
beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'rewards-bakery-'));
  url = `http://127.0.0.1:${await freePort()}`;
  bakery = spawn(process.execPath, [example], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      BAKERY_URL: url,
      BAKERY_STORE: join(folder, 'bakery.sqlite'),
      ...readyEnvironment(service.ready),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: bakery.stdout ?? process.stdin });
  const [line] = (await once(lines, 'line')) as [string];
  expect(line).toBe(`open ${url}/bread`);
});
afterAll(async () => {
  if (bakery?.exitCode === null) bakery.kill('SIGKILL');
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const order = (email: string, headers: Record<string, string> = { origin: url }) =>
  fetch(`${url}/bread`, { method: 'POST', headers, body: new URLSearchParams({ email }) });

test('its own page has what shortcodes show, and an order on it earns a reward', async () => {
  const before = await (await fetch(`${url}/bread`)).text();
  expect(before).toContain('<h1>Rye bread, 4 dollars</h1>');
  expect(before).toContain('Log in to see your balance');
  expect(before).not.toContain('[rewards_');
  expect(before).toMatch(/<link rel="stylesheet" href="\/assets\/site\.[0-9a-f]{12}\.css">/);

  expect(await (await order('ada@bakery.example')).text()).toContain('Thank you: 4 RWT are yours.');
  const { body } = await service.post('/rewards-api/user-balance', {
    brandId: service.brand.brandId,
    userIdentifier: 'ada@bakery.example',
  });
  expect(body).toMatchObject({ success: true });
  expect(JSON.stringify(body)).toContain('"balance":4');

  // She has an account of this site, and one identity everywhere.
  const entered = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ login: 'ada', password: 'bread-and-butter' }),
  });
  expect(entered.status).toBe(200);
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const after = await (await fetch(`${url}/bread`, { headers: { cookie } })).text();
  expect(after).toMatch(/<h2 id="rewards-balance-title">[\s\S]*\b4\b[\s\S]*RWT/);
  expect(after).not.toContain('Log in to see your balance');
});

test('what its page does not send is refused', async () => {
  expect((await order('bob@bakery.example', { origin: 'https://elsewhere.example' })).status).toBe(403);
  expect((await order('b'.repeat(2_000))).status).toBe(413);
});

test('the plugin answers everything else, and knows the callers of its REST API', async () => {
  const checkIn = await fetch(`${url}/wp-json/rewards/v1/checkin`, { method: 'POST' });
  expect([checkIn.status, await checkIn.json()]).toMatchObject([401, { code: 'not_logged_in' }]);
  expect((await fetch(`${url}/leaderboard`)).status).toBe(200);
});

test('its types are those of the package', async () => {
  const flags = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--skipLibCheck'];
  const target = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--ignoreConfig'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['node_modules/typescript/bin/tsc', ...flags, ...target, example],
    { cwd: root },
  ).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  expect(stdout).toBe('');
});

test('a stop ends it cleanly, with its store in one file', async () => {
  bakery.kill('SIGTERM');
  const [code] = (await once(bakery, 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(await readdir(folder)).toEqual(['bakery.sqlite']);
});
