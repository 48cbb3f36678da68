/** The commands around a stack that runs: its variables, its health, its pages, its end. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/machine/exit-codes.ts';
import { programMissing } from '../../kits/run/programs.ts';
import {
  program,
  rewards,
  rewardsJson,
  rewardsProcess,
  serve,
  temporaryDirectory,
} from '../../kits/service/cli.ts';
import { aliveOf, descendants } from '../../kits/service/processes.ts';

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serve(['--ephemeral', '--port', '0'], { cwd: project.path });
});
afterAll(async () => {
  if (stack.child.exitCode === null) await stack.stop();
  await project.remove();
});

const here = (...args: string[]) => rewards(args, { cwd: project.path });
const hereJson = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const sh = (script: string, cwd = project.path) =>
  execFileSync('sh', ['-c', script], { cwd, encoding: 'utf8' });

describe('rewards env', () => {
  test('dotenv: what a .env file takes, and nothing else', async () => {
    const { code, stdout, stderr } = await rewardsProcess(['env'], { cwd: project.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(parseEnv(stdout)).toEqual({
      REWARDS_EVENT_HANDLER_URL: stack.ready.urls.events,
      REWARDS_RELAYER_URL: stack.ready.urls.relay,
      REWARDS_REGISTER_URL: stack.ready.urls.register,
      REWARDS_SERVICES_URL: stack.ready.urls.services,
      REWARDS_SITE_URL: stack.ready.urls.site,
      REWARDS_CONTROL_URL: stack.ready.urls.control,
      REWARDS_CONTROL_TOKEN: stack.ready.controlToken,
      REWARDS_RPC_URL: stack.ready.urls.rpc,
      REWARDS_CHAIN_ID: '31337',
      REWARDS_RWT_ADDRESS: stack.ready.contracts.token,
      OIDC_ISSUER: `${stack.ready.urls.events}/_idp`,
      STRIPE_API_BASE: stack.ready.processor.url,
      STRIPE_SECRET_KEY: stack.ready.processor.secretKey,
      STRIPE_WEBHOOK_SECRET: stack.ready.processor.webhookSecret,
      REWARDS_BRAND_ID: stack.ready.brands[0].brandId,
      REWARDS_API_KEY: stack.ready.brands[0].apiKey,
      REWARDS_DOMAIN: 'demo.example',
    });
    const issuer = parseEnv(stdout).OIDC_ISSUER;
    const discovered = await fetch(`${issuer}/.well-known/openid-configuration`);
    expect(await discovered.json()).toMatchObject({ issuer });
    expect((await here('env', '-o', 'env')).stdout).toBe(stdout);
  });

  test('shell: a shell that evaluates it has the variables', async () => {
    const said = sh(
      `eval "$("${process.execPath}" "${program}" env --format shell)"; sh -c 'echo $REWARDS_RPC_URL $REWARDS_DOMAIN'`,
    );
    expect(said).toBe(`${stack.ready.urls.rpc} demo.example\n`);
  });

  test('json, github and powershell; -o json has the envelope', async () => {
    const url = stack.ready.urls.events;
    expect(JSON.parse((await here('env', '--format', 'json')).stdout)).toMatchObject({
      REWARDS_EVENT_HANDLER_URL: url,
    });
    expect((await here('env', '--format', 'github')).stdout).toContain(`REWARDS_EVENT_HANDLER_URL=${url}\n`);
    expect((await here('env', '--format', 'powershell')).stdout).toContain(
      `$env:REWARDS_EVENT_HANDLER_URL = '${url}'\n`,
    );
    expect((await hereJson('env')).envelope).toMatchObject({
      ok: true,
      data: { variables: { REWARDS_EVENT_HANDLER_URL: url } },
      meta: { command: 'env', target: url },
    });
  });

  test('--rename: under the name that a program reads; wrong names are told', async () => {
    const renamed = await here('env', '--rename', 'REWARDS_EVENT_HANDLER_URL=VITE_EVENTS_URL');
    const variables = parseEnv(renamed.stdout);
    expect(variables).toMatchObject({ VITE_EVENTS_URL: stack.ready.urls.events });
    expect(variables).not.toHaveProperty('REWARDS_EVENT_HANDLER_URL');
    for (const [wish, fix] of [
      ['REWARDS_RPC_URI=X', 'Did you mean REWARDS_RPC_URL?'],
      ['REWARDS_RPC_URL', 'Write OLD=NEW'],
      ['REWARDS_RPC_URL=1 2', 'Write OLD=NEW'],
      ['REWARDS_RPC_URL=REWARDS_DOMAIN', 'another new name'],
    ]) {
      const refused = await here('env', '--rename', wish ?? '');
      expect(refused).toMatchObject({
        code: exitCodes.usage,
        stdout: '',
        stderr: expect.stringContaining(fix ?? ''),
      });
    }
  });

  test('nothing runs: exit 3, and nothing on stdout that a file could get', async () => {
    expect(await rewards(['env'])).toMatchObject({
      code: exitCodes.unreachable,
      stdout: '',
      stderr: expect.stringContaining('rewards serve'),
    });
    expect(await here('env', '--target', 'http://127.0.0.1:1')).toMatchObject({
      code: exitCodes.unreachable,
    });
  });
});

describe('rewards status', () => {
  test('every part works: exit 0', async () => {
    const { code, envelope } = await hereJson('status');
    expect(code).toBe(0);
    expect(envelope.data).toMatchObject({
      works: true,
      url: stack.ready.urls.events,
      stack: { pid: stack.ready.pid, name: null, dataDir: stack.ready.dataDir },
    });
    const parts = envelope.data.parts.map(({ part, works }: { part: string; works: boolean }) => [
      part,
      works,
    ]);
    expect(Object.fromEntries(parts)).toEqual({
      service: true,
      ledger: true,
      chain: true,
      identity: true,
      processor: true,
      site: true,
      clock: true,
    });
    expect((await here('status')).stdout).toMatch(/chain {6}works {2}chain 31337, block \d+/);
    const stranger = await rewardsJson(['status', '--target', stack.ready.urls.events]);
    expect(stranger).toMatchObject({ code: 0, envelope: { data: { stack: null, works: true } } });
  });

  test('a node that hangs: exit 1, and the part is named', async () => {
    const anvil = descendants(stack.ready.pid).find(({ command }) => /^\S*anvil /.test(command));
    expect(anvil).toBeDefined();
    process.kill(anvil?.pid ?? 0, 'SIGSTOP');
    try {
      const { code, envelope } = await hereJson('status');
      expect(code).toBe(exitCodes.refused);
      expect(envelope).toMatchObject({ error: { code: 'E_UNHEALTHY' }, data: { works: false } });
      expect(envelope.error.message).toMatch(/^chain: (disconnected|did not answer)/m);
    } finally {
      process.kill(anvil?.pid ?? 0, 'SIGCONT');
    }
    expect((await here('status')).code).toBe(0);
  });

  test('nothing runs: exit 3', async () => {
    expect((await rewards(['status'])).code).toBe(exitCodes.unreachable);
    expect((await rewards(['status', '--target', 'http://127.0.0.1:1'])).code).toBe(exitCodes.unreachable);
  });
});

describe('rewards open', () => {
  test('through a pipe it prints the address, which is signed in', async () => {
    const { code, stdout } = await rewardsProcess(['open'], { cwd: project.path });
    expect(code).toBe(0);
    const answer = await fetch(stdout.trim(), { redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('set-cookie')).toContain('HttpOnly');
    for (const page of ['site', 'docs']) {
      expect((await fetch((await here('open', page)).stdout.trim())).status).toBe(200);
    }
  });

  test('checkout: the page of the newest open one; without one it says so', async () => {
    const none = await hereJson('open', 'checkout');
    expect(none).toMatchObject({ code: exitCodes.refused, envelope: { error: { code: 'E_REFUSED' } } });
    const begun = await hereJson('checkout', 'create', '--amount', '500', '--user', 'alice@demo.example');
    const { envelope } = await hereJson('open', 'checkout');
    expect(envelope.data).toEqual({
      page: 'checkout',
      url: begun.envelope.data.body.checkoutUrl,
      opened: false,
    });
  });

  test.skipIf(programMissing('script'))(
    'a person at a terminal gets the browser, CI and --no-browser do not',
    async () => {
      const bin = join(project.path, 'bin');
      const opened = join(project.path, 'opened');
      await mkdir(bin);
      await writeFile(
        join(bin, 'xdg-open'),
        `#!/bin/sh\necho "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`,
      );
      await chmod(join(bin, 'xdg-open'), 0o755);
      const atTerminal = (command: string) =>
        sh(`PATH="${bin}:$PATH" script -qec '${command}' /dev/null < /dev/null`);
      const open = `"${process.execPath}" "${program}" open site`;
      expect(atTerminal(`env -u CI ${open} --no-browser`)).not.toContain('opened');
      expect(atTerminal(`env CI=true ${open}`)).not.toContain('opened');
      expect(sh(`env -u CI PATH="${bin}:$PATH" ${open}`)).not.toContain('opened');
      await expect(readFile(opened)).rejects.toThrow('ENOENT');
      expect(atTerminal(`env -u CI ${open}`)).toContain('opened');
      await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toBe(`${stack.ready.urls.site}\n`);
    },
  );
});

describe('rewards stop', () => {
  test('ends one stack and waits until it is gone; --all ends the others', async () => {
    const named = await serve(['--ephemeral', '--port', '0', '--name', 'shop'], { cwd: project.path });
    const families = [stack, named].map(({ ready }) => [
      ready.pid,
      ...descendants(ready.pid).map(({ pid }) => pid),
    ]);
    const [first = [], second = []] = families;
    expect((await here('stop', '--all', '--name', 'shop')).code).toBe(exitCodes.usage);

    const { code, envelope } = await hereJson('stop');
    expect(code).toBe(0);
    expect(envelope.data.stopped).toEqual([
      {
        name: null,
        pid: stack.ready.pid,
        url: stack.ready.urls.events,
        dataDir: stack.ready.dataDir,
        gone: true,
      },
    ]);
    expect(aliveOf(first)).toEqual([]);
    expect(aliveOf(second)).toEqual(second);
    expect(await here('stop')).toMatchObject({
      code: exitCodes.unreachable,
      stderr: expect.stringContaining('--name: shop'),
    });

    const all = await rewardsProcess(['stop', '--all'], { cwd: project.path });
    expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('shop') });
    expect(aliveOf(second)).toEqual([]);
    expect(await here('stop', '--all')).toMatchObject({ code: 0, stdout: 'nothing runs here\n' });
  });

  test('a process that has only got the number of an earlier stack is left alone', async () => {
    const file = join(project.path, '.rewards', 'run.json');
    await writeFile(
      file,
      JSON.stringify({
        version: 1,
        pid: process.pid,
        startTime: 'another-start',
        urls: { events: 'http://127.0.0.1:1' },
      }),
    );
    expect((await here('stop')).code).toBe(exitCodes.unreachable);
    expect((await here('stop', '--all')).code).toBe(0);
  });
});
