/** Clients that other people's generators make of our descriptions: they compile strictly, lose no type, and every endpoint can be called through them. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDocument } from '../../../src/http/openapi.ts';
import { WALLPAPERS } from '../../kits/chain/redeeming.ts';
import { relayKitOf } from '../../kits/chain/wallet.ts';
import { leaveOut } from '../../kits/run/left-out.ts';
import { programMissing } from '../../kits/run/programs.ts';
import { serve } from '../../kits/service/cli.ts';
import { clientOf, someone } from '../../kits/service/service.ts';
import { operationsOf, validatorOf } from '../api-description.ts';

const here = new URL('.', import.meta.url).pathname;
const hosts = ['events', 'register', 'relay', 'services'] as const;
type Host = (typeof hosts)[number];
type RelayKit = Awaited<ReturnType<typeof relayKitOf>>;

let folder: string;
let stack: Awaited<ReturnType<typeof serve>>;
const apis = {} as Record<Host, ApiDocument>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rewards-clients-'));
  stack = await serve(['--port', '0', '--split-hosts', '--ephemeral'], { cwd: folder });
  for (const host of hosts) {
    const answer = await fetch(`${stack.ready.urls[host]}/openapi.json`);
    apis[host] = (await answer.json()) as ApiDocument;
  }
  const { brand, change } = clientOf(stack.ready);
  await change(`/brands/${brand.brandId}`, { 'streakMilestones.1': 5 });
  const kit = await relayKitOf(stack.ready);
  await prepare('typescript', kit);
  await prepare('python', kit);
});
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a tool in a folder; what it printed is in the error when it fails. */
async function run(cwd: string, command: string, args: string[]): Promise<string> {
  const finished = promisify(execFile)(command, args, { cwd, maxBuffer: 1e8 });
  const { stdout } = await finished.catch((error: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error([error.message, error.stdout, error.stderr].join('\n').slice(0, 10_000));
  });
  return stdout;
}

/** Why a generator cannot be installed here; fails where everything must be there. */
async function notInstalled(what: string, install: Promise<unknown>): Promise<string | undefined> {
  try {
    await install;
    return undefined;
  } catch (cause) {
    return leaveOut(what, 'let npm and pip reach their registries', { cause });
  }
}

/** A folder with the calls and the descriptions, and what the calls must know. */
async function prepare(kind: 'typescript' | 'python', { users, purchase }: RelayKit): Promise<void> {
  const cwd = join(folder, kind);
  await cp(join(here, kind), cwd, { recursive: true });
  for (const host of hosts) await writeFile(join(cwd, `${host}.json`), JSON.stringify(apis[host]));
  const { brandId, domain, apiKey } = clientOf(stack.ready).brand;
  const world = {
    ...stack.ready.urls,
    controlToken: stack.ready.controlToken,
    brandId,
    domain,
    apiKey,
    userToken: users.alice.token,
    person: someone(),
    platformUser: kind === 'python' ? '223456789012345678' : '123456789012345678',
    perkId: WALLPAPERS.id,
    relayCall: { ...purchase(users.alice.address), userAddress: users.alice.address },
  };
  await writeFile(join(cwd, 'world.json'), JSON.stringify(world));
}

/** Holds what the calls were answered with against the descriptions: each operation was called, and did what it says. */
async function judge(cwd: string): Promise<void> {
  const answers: { host: Host; id: string; status: number; body: unknown }[] = JSON.parse(
    await readFile(join(cwd, 'answers.json'), 'utf8'),
  );
  for (const host of hosts) {
    const check = validatorOf(apis[host], { closed: true });
    const uncalled = operationsOf(apis[host]).filter(({ operation }) => {
      const own = answers.filter((answer) => answer.host === host && answer.id === operation.operationId);
      for (const { status, body } of own) {
        const [media] = Object.values(operation.responses[status]?.content ?? {});
        expect(check((media as { schema: object }).schema, body), operation.operationId).toEqual([]);
      }
      return own.length === 0;
    });
    expect(uncalled.map(({ operation }) => operation.operationId)).toEqual([]);
  }
}

/** For what hangs: two compilers run, and the packages come from elsewhere. */
const timeout = 240_000;

// Both at once: installing waits for others.
test.concurrent('openapi-typescript', { timeout }, async (context) => {
  const cwd = join(folder, 'typescript');
  const npm = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  const reason = await notInstalled('openapi-typescript', run(cwd, 'npm', npm));
  if (reason) return context.skip(reason);
  const generator = 'node_modules/.bin/openapi-typescript';
  await Promise.all(hosts.map((host) => run(cwd, generator, [`${host}.json`, '-o', `${host}.ts`])));
  await run(cwd, 'node_modules/.bin/tsc', []);
  await run(cwd, process.execPath, ['out/calls.js']);
  await judge(cwd);
});

test.concurrent('openapi-python-client', { timeout }, async (context) => {
  const cwd = join(folder, 'python');
  const bin = join(cwd, 'venv/bin');
  const noPython = programMissing('python3');
  if (noPython) return context.skip(noPython);
  await run(cwd, 'python3', ['-m', 'venv', 'venv']);
  const install = run(cwd, `${bin}/pip`, ['install', '--quiet', '-r', 'requirements.txt']);
  const reason = await notInstalled('openapi-python-client', install);
  if (reason) return context.skip(reason);
  const output = (host: Host) => [
    '--output-path',
    `${host}_client`,
    '--meta',
    'none',
    '--config',
    'generator.yaml',
  ];
  // A warning names what would be missing in the client.
  const generate = (host: Host) => [
    'generate',
    '--fail-on-warning',
    '--path',
    `${host}.json`,
    ...output(host),
  ];
  await Promise.all(hosts.map((host) => run(cwd, `${bin}/openapi-python-client`, generate(host))));
  await run(cwd, `${bin}/mypy`, ['--config-file', 'mypy.ini', '.']);
  await run(cwd, `${bin}/python`, ['calls.py']);
  await judge(cwd);
});
