/** `rewards config show` as a shell sees it: every setting, its value, and where it comes from. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settingsOf } from '../../src/cli/check/commands.ts';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';

const SECRET = 'hunter2';
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder.remove());

interface Setting {
  setting: string;
  value: string | null;
  source: string;
  origin: string | null;
  needed: boolean;
}

async function show(args: string[], env: Record<string, string> = {}) {
  const { code, envelope, stdout } = await rewardsJson(['config', 'show', ...args], {
    env,
    cwd: folder.path,
  });
  const settings: Setting[] = envelope.data.settings;
  const of = (name: string) => settings.find(({ setting }) => setting === name);
  return { code, envelope, settings, of, stdout };
}

describe('rewards config show', () => {
  test('lists every setting of start, with its default, and says what a start would need', async () => {
    const { code, settings, of, envelope } = await show([]);
    expect(code).toBe(exitCodes.done);
    expect(envelope.data).toMatchObject({ command: 'start', problems: [] });
    expect(settings).toHaveLength(settingsOf.start?.length ?? 0);
    expect(of('port')).toMatchObject({ value: '8787', source: 'default', origin: null, needed: false });
    expect(of('duplicate-window')).toMatchObject({ value: '60s', source: 'default' });
    expect(of('allow-sqlite')).toMatchObject({ value: 'false', source: 'default' });
    const needed = settings.filter((one) => one.needed).map(({ setting }) => setting);
    expect(needed).toEqual([
      'database-url',
      'rpc-url',
      'chain-id',
      'token-address',
      'escrow-address',
      'perks-address',
      'points-sale-address',
      'deployment-block',
      'payout-key',
      'wallets-xpub',
      'public-host',
      'trust-proxy',
    ]);
  });

  test('says where a value comes from: option before variable before default', async () => {
    const env = { REWARDS_PORT: '9001', REWARDS_HOST: '0.0.0.0', REWARDS_PUBLIC_HOST: 'a.example,b.example' };
    const { code, of } = await show(['--port', '9002', '--block-poll', '5s', '--allow-sqlite'], env);
    expect(code).toBe(0);
    expect(of('port')).toMatchObject({ value: '9002', source: 'option', origin: '--port' });
    expect(of('block-poll')).toMatchObject({ value: '5s', source: 'option' });
    expect(of('allow-sqlite')).toMatchObject({ value: 'true', source: 'option' });
    expect(of('host')).toMatchObject({ value: '0.0.0.0', source: 'environment', origin: 'REWARDS_HOST' });
    expect(of('public-host')).toMatchObject({ value: 'a.example,b.example', source: 'environment' });
    expect(of('admin-port')).toMatchObject({ value: '9464', source: 'default' });
  });

  test('--origin: a line for each setting of serve and of start, which programs can cut', async () => {
    const env = {
      REWARDS_DEV_BLOCK_TIME: '2',
      REWARDS_DEV_DATABASE_URL: `postgres://a:${SECRET}@127.0.0.1/a`,
    };
    const serve = await rewards(['config', 'show', 'serve', '--origin', '--port', '9000'], { env });
    expect(serve.code).toBe(exitCodes.done);
    const lines = serve.stdout.trim().split('\n');
    expect(lines).toHaveLength(settingsOf.serve?.length ?? 0);
    expect(lines).toContain('option:--port\tport=9000');
    expect(lines).toContain('environment:REWARDS_DEV_BLOCK_TIME\tblock-time=2');
    expect(lines).toContain('environment:REWARDS_DEV_DATABASE_URL\tdatabase-url=set');
    expect(lines).toContain('default\tpersist-to=.rewards/state');
    expect(serve.stdout).not.toContain(SECRET);

    const file = join(folder.path, 'rpc-url');
    await writeFile(file, `https://node.example/${SECRET}\n`);
    const start = await rewards(['config', 'show', '--origin'], { env: { REWARDS_RPC_URL_FILE: file } });
    expect(start.stdout).toContain(`file:${file} (REWARDS_RPC_URL_FILE)\trpc-url=set\n`);
    expect(start.stdout).not.toContain(SECRET);
  });

  test('never shows a secret, wherever it stands', async () => {
    const file = join(folder.path, 'database-url');
    await writeFile(file, `postgres://rewards:${SECRET}@127.0.0.1/rewards\n`);
    const key = 'ab'.repeat(32);
    const env = {
      REWARDS_DATABASE_URL_FILE: file,
      REWARDS_PAYOUT_KEY: key,
      REWARDS_RPC_URL: `https://node.example/${SECRET}`,
    };
    const { code, of, stdout } = await show([], env);
    expect(code).toBe(0);
    const fromFile = { value: 'set', source: 'file', origin: `${file} (REWARDS_DATABASE_URL_FILE)` };
    expect(of('database-url')).toMatchObject(fromFile);
    const fromVariable = { value: 'set', source: 'environment', origin: 'REWARDS_PAYOUT_KEY' };
    expect(of('payout-key')).toMatchObject(fromVariable);
    expect(of('mint-key')).toMatchObject({ value: null, source: 'default' });
    const onServe = await show(['serve'], {
      REWARDS_DEV_DATABASE_URL: `postgres://rewards:${SECRET}@127.0.0.1/rewards`,
      REWARDS_DEV_RPC_URL: `https://user:${SECRET}@node.example`,
    });
    expect(onServe.code).toBe(exitCodes.usage);
    expect(onServe.of('database-url')).toMatchObject({ value: 'set' });
    expect(onServe.envelope.error.message).toContain('REWARDS_DEV_RPC_URL is not accepted');
    for (const format of ['text', 'env']) {
      const { stdout: text, stderr } = await rewards(['config', 'show', '-o', format], { env });
      for (const shown of [text, stderr, stdout, onServe.stdout]) {
        expect(shown).not.toContain(SECRET);
        expect(shown).not.toContain(key);
      }
    }
  });

  test('names everything that is not understood, and how to put it right', async () => {
    const { code, envelope, of } = await show(['--in-flight-max', 'many'], {
      REWARDS_PORT: 'eighty',
      REWARDS_ALLOW_SQLITE: 'perhaps',
      REWARDS_ESCROW_ADDRESS: '0x12',
      REWARDS_PAYOUT_KEY: 'correct horse',
      REWARDS_WORKERS: 'api,nobody',
      REWARDS_DATABASE_URL_FILE: '/nowhere/at/all',
      REWARDS_CONFIRMATION: '3',
    });
    expect(code).toBe(exitCodes.usage);
    expect(envelope.error.code).toBe('E_SETTINGS');
    const problems: { problem: string; fix: string }[] = envelope.data.problems;
    expect(problems.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^REWARDS_ALLOW_SQLITE=perhaps is not accepted: It must be true or false/),
      expect.stringMatching(/^REWARDS_PORT=eighty is not accepted/),
      expect.stringMatching(/^--in-flight-max=many is not accepted: It must be a whole number from 1 to 512/),
      expect.stringMatching(/^--workers api,nobody is not understood/),
      'REWARDS_CONFIRMATION is set, but rewards does not read it',
    ]);
    expect(problems.at(-1)?.fix).toBe('did you mean REWARDS_CONFIRMATIONS?');
    for (const { fix } of problems) expect(fix).not.toBe('');
    expect(of('port')).toMatchObject({ value: 'eighty', source: 'environment' });

    // What can only be judged together is said once each for itself is understood.
    const keyFile = join(folder.path, 'relay-key');
    await writeFile(keyFile, 'correct horse\n', { mode: 0o400 });
    const formed = await show([], {
      REWARDS_ESCROW_ADDRESS: '0x12',
      REWARDS_PAYOUT_KEY: 'correct horse',
      REWARDS_DATABASE_URL_FILE: '/nowhere/at/all',
      REWARDS_RELAY_KEY_FILE: keyFile,
    });
    expect(formed.code).toBe(exitCodes.usage);
    expect(formed.envelope.data.problems.map(({ problem }: { problem: string }) => problem)).toEqual([
      'REWARDS_DATABASE_URL_FILE: /nowhere/at/all cannot be read (ENOENT)',
      'REWARDS_PAYOUT_KEY is not a private key: 64 hexadecimal digits',
      `REWARDS_RELAY_KEY_FILE: ${keyFile} is not a private key: 64 hexadecimal digits`,
      'REWARDS_ESCROW_ADDRESS is not an address',
    ]);
    expect(formed.stdout).not.toContain('horse');
  });

  test('shows those of serve, as text for people and as variables for shells', async () => {
    const env = { REWARDS_DEV_BLOCK_TIME: '2', REWARDS_DEV_SEED: 'a.yaml,b.yaml', REWARDS_PORT: '9001' };
    const { settings } = await show(['serve'], env);
    expect(settings).toHaveLength(settingsOf.serve?.length ?? 0);
    const text = await rewards(['config', 'show', 'serve', '--port', '0'], { env });
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^port +0 +option --port$/m);
    expect(text.stdout).toMatch(/^block-time +2 +environment REWARDS_DEV_BLOCK_TIME$/m);
    expect(text.stdout).toMatch(/^log-level +warn +default$/m);
    const shell = await rewards(['config', 'show', 'serve', '-o', 'env'], { env });
    expect(shell.stdout).toBe('REWARDS_DEV_SEED=a.yaml,b.yaml\nREWARDS_DEV_BLOCK_TIME=2\n');
  });
});
