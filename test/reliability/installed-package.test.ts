/** What users get from the registry: the packed package, installed with what it needs at run time and nothing else. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { startLife } from './processes/program.ts';

const root = new URL('../../', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'rewards-installed-'));
const installed = join(folder, 'node_modules/rewards');
// 78 MB on Linux, of which Anvil has 44, and a tenth more.
const SIZE_MAX_MB = 85;

beforeAll(() => {
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--ignore-scripts'], { cwd, encoding: 'utf8' });
  // Built before the tests; `prepare` would do it again.
  const [packed] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const tarball = join(folder, packed.filename);
  npm(folder, 'install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', tarball);
  rmSync(tarball);
  // Where its maintainers' build cannot be fetched, npm compiles SQLite for minutes: the one of the tests is the same.
  const binary = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
  mkdirSync(join(folder, binary, '..'), { recursive: true });
  cpSync(join(root, binary), join(folder, binary));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the installed package stays small', () => {
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  expect(bytes / 1e6).toBeLessThan(SIZE_MAX_MB);
});

test('the installed package tells its version and finds its Anvil', () => {
  const rewards = (...args: string[]) => {
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(installed, 'bin/rewards.js'), ...args],
      options,
    );
    // Where doctor finds a port taken, it ends with 1 and reports on stderr.
    return stdout || stderr;
  };
  expect(rewards('--version')).toBe(`${packageJson.version}\n`);
  expect(rewards('doctor')).toMatch(/^ok +anvil/m);
});

test('other programs import what it exports, with its types', () => {
  const script = `
    const { createSite } = await import('rewards/site');
    const { startStack } = await import('rewards/testing');
    const { verifyWebhook } = await import('rewards/webhooks');
    console.log([createSite, startStack, verifyWebhook].map((one) => typeof one).join(' '));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  expect(said.toString()).toBe('function function function\n');
  for (const name of ['site', 'testing', 'webhooks'])
    expect(existsSync(join(installed, `dist/${name}.d.ts`))).toBe(true);
  const files = readdirSync(installed, { recursive: true }).map(String);
  expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'README.md']));
});

test('the installed package serves', async () => {
  const life = startLife(['--ephemeral', '--port', '0'], {
    cwd: folder,
    program: join(installed, 'bin/rewards.js'),
  });
  try {
    const ready = await life.ready;
    if (!ready) throw new Error(`rewards serve ended before it was ready: ${life.stderr()}`);
    const health = await fetch(`${ready.urls.events}/rewards-api/health`);
    expect([health.status, await health.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'healthy' }),
    ]);
    // A file of the package.
    expect((await fetch(`${ready.urls.events}/sdk.js`)).status).toBe(200);
  } finally {
    await life.stop('SIGTERM');
  }
});
