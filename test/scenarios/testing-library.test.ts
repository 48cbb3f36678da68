/** The package's export `rewards/testing`: its steps, its clock, what it says when something is wrong, and the example of the documentation. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stepKinds } from '../../src/scenario/steps/all-steps.ts';
import { differences, expectFits, startStack } from '../../src/testing/library.ts';
import type { Stack } from '../../src/testing/library-types.ts';
import { asInstalled } from './as-installed.ts';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);

describe('a stack', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ clock: { start: '2030-01-07T09:00:00Z', frozen: true } });
  });
  afterAll(() => stack?.stop());

  test('has every step of the table', () => {
    const apart = ['clock', 'fault', 'note'];
    const names = Object.keys(stepKinds).filter((kind) => !apart.includes(kind));
    const missing = names
      .map((kind) => kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
      .filter((name) => typeof stack[name as keyof Stack] !== 'function');
    expect(missing).toEqual([]);
  });

  test('events, refusals and the clock', async () => {
    const first = await stack.event({ type: 'rate_experience', user: 'alice' });
    expectFits(first, { status: 200, body: { rewardAmount: 50, transactionHash: { $match: 'hash' } } });
    expectFits(await stack.event({ type: 'rate_experience', user: 'alice' }), { status: 409 });
    expect(await stack.clock.now()).toEqual(new Date('2030-01-07T09:00:00Z'));
    const moved = await stack.clock.until('cooldown:alice@demo.example/rate_experience');
    expect(moved.now).toBe('2030-01-07T10:00:00.000Z');
    expectFits(await stack.event({ type: 'rate_experience', user: 'alice' }), { status: 200 });
    expect(await stack.chain({ rwtOf: 'alice' })).toMatchObject({ balance: '100', delta: '100' });
  });

  test('what stands before a colon is a platform, also where no id follows', async () => {
    const answer = await stack.pregenerate({ user: 'discord:' });
    expectFits(answer, { status: 400, body: { error: 'Missing required fields' } });
    expectFits(await stack.checkIn({ user: 'discord:', brandKey: true }), { status: 400 });
  });

  test('a relayed call, a fault and the way out of it', async () => {
    const call = {
      contract: 'token',
      function: 'transferWithAuthorization',
      args: ['me', stack.brand.id, 1],
    } as const;
    const send = () => stack.relay({ as: 'alice', call: { ...call, args: [...call.args] } });
    expectFits(await send(), { status: 200, body: { status: 'confirmed' } });
    expect(await stack.faults.set({ seam: 'node', effect: 'away' })).toMatchObject({ seam: 'node' });
    expectFits(await send(), { status: { $gte: 500 } });
    await stack.faults.clear();
    await stack.eventually(async () => expectFits(await send(), { status: 200 }));
  });

  test('what comes later is waited for, in the time of the stack', async () => {
    const deliveries = await stack.eventually(async () => {
      const { count } = await stack.inbox({ user: 'alice@demo.example' });
      return count > 0 && count;
    });
    expect(deliveries).toBeGreaterThan(0);
    let tries = 0;
    await expect(stack.eventually(() => tries++ < 0, '20s')).rejects.toThrow(
      'it did not become true within 20s',
    );
    expect((await stack.clock.now()).getTime()).toBeGreaterThanOrEqual(Date.parse('2030-01-07T10:00:20Z'));
  });

  test('a snapshot brings all of it back: balance, block and clock', async () => {
    const taken = await stack.snapshot();
    const [before, at] = [await stack.chain({ rwtOf: 'bob' }), await stack.clock.now()];
    expectFits(await stack.event({ type: 'complete_survey', user: 'bob' }), { status: 200 });
    await stack.clock.advance('24h');
    expect(await stack.chain({ rwtOf: 'bob' })).not.toEqual(before);
    const restored = await stack.restore(taken.name);
    expect(restored.chain).toEqual({ block: taken.chain.block, hash: taken.chain.hash });
    expect(await stack.chain({ rwtOf: 'bob' })).toEqual(before);
    expect((await stack.clock.now()).getTime() - at.getTime()).toBeLessThan(60_000);
    expectFits(await stack.event({ type: 'complete_survey', user: 'bob' }), { status: 200 });
    expect((await stack.verify()).ok).toBe(true);
  });

  test('an input that is wrong is told before anything is sent', async () => {
    await expect(stack.event({ typ: 'x' } as never)).rejects.toThrow(
      'stack.event: type must be a text; Unrecognized key: "typ"',
    );
    await expect(stack.clock.advance('5 minutes')).rejects.toThrow('advance must be a duration such as 61s');
    await expect(stack.event({ type: 'x', user: 'nobody' })).rejects.toThrow(
      'there is no user nobody; the users are alice, bob, carol',
    );
  });
});

test('differences name what is meant', () => {
  expect(differences({ a: [1, { b: 2 }], c: 'x' }, { a: [1, { b: { $gt: 2 } }], d: 1 })).toEqual([
    { what: 'a[1].b', expected: '$gt 2', got: '2' },
    { what: 'd', expected: '1', got: 'nothing' },
  ]);
  expect(() => expectFits({ status: 409 }, { status: 200 })).toThrow('status: expected 200, got 409');
});

describe('as a package', () => {
  let project: string;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'rewards-testing-'));
    await mkdir(join(project, 'node_modules'));
    await symlink(root, join(project, 'node_modules/rewards'));
    await symlink(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'));
    const page = await readFile(join(root, 'docs/scenarios.md'), 'utf8');
    const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    await writeFile(join(project, 'purchase.test.ts'), example);
    await writeFile(join(project, 'package.json'), '{ "type": "module" }');
    await writeFile(join(project, 'vitest.config.js'), asInstalled);
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  test('the example of docs/scenarios.md passes in a project of its own', async () => {
    const program = join(root, 'node_modules/vitest/vitest.mjs');
    const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|REWARDS_|NODE_ENV$)/.test(name));
    const { stdout } = await run(
      process.execPath,
      [program, 'run', '--root', project, '--reporter', 'json'],
      {
        cwd: project,
        env: Object.fromEntries(kept),
      },
    );
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ success: true, numPassedTests: 1 });
  });

  test('and its types fit the declaration that the package has', async () => {
    const config = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: 'nodenext',
        target: 'es2023',
        skipLibCheck: true,
        types: [],
        lib: ['es2023', 'dom'],
      },
      include: ['purchase.test.ts'],
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', project], { cwd: project });
    expect(stdout).toBe('');
  });
});
