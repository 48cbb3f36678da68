/** `rewards scenario export`: every scenario as a test that compiles, and tests that pass and fail as the scenario would. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rewards, rewardsJson, rewardsProcess } from '../kits/service/cli.ts';
import { asInstalled } from './as-installed.ts';

// Six stacks run in a project of its own.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const root = new URL('../..', import.meta.url).pathname;
const fixture = 'test/scenarios/fixtures/export.yaml';
const files = (await readdir(join(root, 'scenarios'), { recursive: true }))
  .filter((path) => path.endsWith('.yaml') && !path.split('/').includes('fixtures'))
  .map((path) => `scenarios/${path}`)
  .sort();

/** Where the tests stand: a project with the package and Vitest. */
let project: string;
const testOf = (file: string) => join(project, `${basename(file, '.yaml')}.test.ts`);
const withOut = (file: string) => ['scenario', 'export', file, '--to', 'vitest', '--out', testOf(file)];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'rewards-export-'));
  await mkdir(join(project, 'node_modules'));
  await symlink(root, join(project, 'node_modules/rewards'));
  await symlink(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'));
  await symlink(join(root, 'fixtures'), join(project, 'fixtures'));
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await writeFile(join(project, 'vitest.config.js'), asInstalled);
  for (const file of [...files, fixture]) {
    const { code, stderr } = await rewards(withOut(file), { cwd: root });
    expect([file, code, file === fixture ? '' : stderr]).toEqual([file, 0, '']);
  }
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** A program of node_modules in the project; its output whether it succeeds or not. */
const inProject = (program: string, args: string[]) =>
  new Promise<{ code: number; stdout: string }>((done) => {
    const kept = Object.entries(process.env).filter(([name]) => !/^(VITEST|REWARDS_|NODE_ENV$)/.test(name));
    execFile(
      process.execPath,
      [join(root, 'node_modules', program), ...args],
      { cwd: project, env: Object.fromEntries(kept), maxBuffer: 1e8 },
      (error, stdout) => done({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });

test('every scenario as a test fits the types of the package', async () => {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2023',
      skipLibCheck: true,
      types: [],
      lib: ['es2023', 'dom'],
      noUnusedLocals: true,
      noUnusedParameters: true,
    },
    include: ['*.test.ts', 'process.d.ts'],
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(
    join(project, 'process.d.ts'),
    'declare const process: { env: Record<string, string | undefined> };',
  );
  const written = (await readdir(project)).filter((name) => name.endsWith('.test.ts'));
  expect(written).toHaveLength(files.length + 1);
  expect(await inProject('typescript/bin/tsc', ['-p', project])).toEqual({ code: 0, stdout: '' });
});

test('exported tests pass, and fail where one expectation is changed', async () => {
  const changes = { cooldown: ["delta: '160'", "delta: '161'"], 'mint-once': ['200: 12', '200: 11'] };
  for (const [name, [from = '', to = '']] of Object.entries(changes)) {
    const text = await readFile(testOf(name), 'utf8');
    expect(text.split(from)).toHaveLength(2);
    await writeFile(join(project, `${name}-changed.test.ts`), text.replace(from, to));
  }
  const text = await readFile(testOf(fixture), 'utf8');
  // What runs at the end fails too, since the fault was not set.
  const twice = text.replace("balance: '50'", "balance: '51'");
  await writeFile(join(project, 'export-changed.test.ts'), twice);
  const names = [...Object.keys(changes), ...Object.keys(changes).map((name) => `${name}-changed`)];
  names.push('export', 'export-changed');
  const paths = names.map((name) => `${name}.test.ts`);
  const { code, stdout } = await inProject('vitest/vitest.mjs', [
    ...['run', '--root', project, '--no-file-parallelism', '--reporter', 'json'],
    ...paths.map((path) => join(project, path)),
  ]);
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{')));
  type Result = { name: string; assertionResults: { status: string; failureMessages: string[] }[] };
  const found = (testResults as Result[]).map(({ name, assertionResults }) => [
    basename(name),
    assertionResults.map(({ status, failureMessages: all }) =>
      [status, ...all.map((message) => message.split('\n')[0])].join(' '),
    ),
  ]);
  expect(code).toBe(1);
  expect(Object.fromEntries(found)).toEqual({
    'cooldown.test.ts': ['passed'],
    'mint-once.test.ts': ['passed'],
    'cooldown-changed.test.ts': ['failed Error: delta: expected "161", got "160"'],
    'mint-once-changed.test.ts': [expect.stringMatching(/^failed AssertionError: expected \{ '200': 12 \}/)],
    'export-changed.test.ts': Array(2).fill(
      'failed Error: balance: expected "51", got "50" Error: cleared: expected 1 entries: [{"seam":"dns"}], got []',
    ),
    'export.test.ts': ['passed', 'passed'],
  });
});

test('the scenario of all forms passes as it is', async () => {
  const { code, stdout } = await rewards(['scenario', 'run', fixture], { cwd: root });
  expect([code, stdout]).toEqual([0, expect.stringContaining('2 passed')]);
});

describe('the command', () => {
  const steps = (text: string) => `version: 1\nname: a file\nsteps:\n${text}`;
  const variable = (name: string) => `\${${name}}`;
  const exported = (text: string) => rewards(['scenario', 'export', '-'], { stdin: steps(text) });

  test('prints the test as the program, and says what it says in another way', async () => {
    const { code, stdout, stderr } = await rewardsProcess(['scenario', 'export', fixture], { cwd: root });
    expect([code, stdout]).toEqual([0, await readFile(testOf(fixture), 'utf8')]);
    expect(stderr).toContain(`${fixture}:23  event form_submit carol is left out, as the scenario skips it`);
    expect(stderr).toContain(`${fixture}:17  the wait of 40s`);
    expect(stderr).toContain(`${fixture}:9  what a test prints is not hidden: buyer`);
    expect(stdout).toContain('// Left out, as the scenario skips it (line 23): not yet');
  });

  test('replaces a file only with --force', async () => {
    const [file = ''] = files;
    const before = await readFile(testOf(file), 'utf8');
    await writeFile(testOf(file), '// mine');
    const again = await rewards(withOut(file), { cwd: root });
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
    expect(await readFile(testOf(file), 'utf8')).toBe('// mine');
    const forced = await rewardsJson([...withOut(file), '--force'], { cwd: root });
    expect(forced.envelope.data).toEqual({
      file,
      to: 'vitest',
      out: resolve(testOf(file)),
      notes: [],
      code: before,
    });
    expect(await readFile(testOf(file), 'utf8')).toBe(before);
    const nowhere = await rewards(['scenario', 'export', file, '--out', '/nowhere/a.test.ts'], { cwd: root });
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('ENOENT')]);
  });

  test('refuses what a test cannot name, with its line', async () => {
    const skipped = await exported(
      `  - id: one\n    skip: not yet\n    mint: {}\n  - mint: { session: "${variable('steps.one.body.sessionId')}" }\n`,
    );
    expect(skipped.code).toBe(1);
    expect([skipped.stdout, skipped.stderr]).toEqual(['', expect.stringContaining('-:7:5')]);
    expect(skipped.stderr).toContain('the step of that id is skipped, or does nothing by itself');
    const unknown = await exported(`  - http: { path: "/${variable('brand.colour')}" }\n`);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining(`${variable('brand.colour')} has no value`),
    ]);
    const split = await exported('  - chain: {}\n    repeat: 2\n    expect: { split: { 200: 2 } }\n');
    expect([split.code, split.stderr]).toEqual([1, expect.stringContaining('chain has no status')]);
  });

  test('a file with problems and a form that is unknown are exit 2', async () => {
    const broken = await exported('  - evnt: {}\n');
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('did you mean event?')]);
    const jest = await rewards(['scenario', 'export', '-', '--to', 'jest'], {
      stdin: steps('  - note: x\n'),
    });
    expect([jest.code, jest.stderr]).toEqual([2, expect.stringContaining('vitest')]);
  });

  test('every text keeps its characters, and none leaves its place', async () => {
    const texts = [`it's "odd"`, 'a `b` \\ \\` c', `'\\"\n*/ //\u2028`, '$', 'plain'];
    const fields = texts.map((text, place) => [`field${place}`, `${text} ${variable('vars.one')}`]);
    const metadata = Object.fromEntries([...texts.map((text) => [text, text]), ...fields]);
    const step = { name: 'one\n  process.exit(3)', event: { type: 'x', metadata } };
    const file = { version: 1, name: texts.join(' '), vars: { one: 1 }, steps: [step] };
    const { code, stdout } = await rewards(['scenario', 'export', '-'], { stdin: JSON.stringify(file) });
    expect([code, stdout]).toEqual([0, expect.stringContaining('// one process.exit(3)\n')]);
    const [, literal = ''] = /metadata: (\{[\s\S]*?\n\s+\}),\n/.exec(stdout) ?? [];
    expect(runInNewContext(`(${literal})`, { vars: { one: 1 } })).toEqual(
      Object.fromEntries([
        ...texts.map((text) => [text, text]),
        ...texts.map((text, place) => [`field${place}`, `${text} 1`]),
      ]),
    );
    const [, title = ''] = /\ntest\(([^\n]*), async/.exec(stdout) ?? [];
    expect(runInNewContext(title)).toBe(file.name);
  });
});
