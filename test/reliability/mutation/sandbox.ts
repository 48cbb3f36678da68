/** A copy of the project in which one change at a time is made, judged by tests and taken back. */
import { spawn } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { artifactOf, recompiled } from './recompile-contract.ts';
import { isOfTime, type Verdict } from './verdict.ts';

/** One change of a file's text. */
export interface Change {
  file: string;
  /** Stands in the file exactly once, or at `at`. */
  find: string;
  at?: number;
  replace: string;
  /** Test files that have to notice it, as globs. */
  tests: readonly string[];
}

// What tests of the core read; the rest stays where it is.
const COPIED = ['src', 'test', 'fixtures', 'scripts', 'bin', 'docs', 'bench'];
const FILES = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md'];
// For a change that makes a test wait for ever.
const MINUTES_MAX = 20;

/** Its `passes` says whether tests pass as things are, its `tryChange` what they make of a change. */
export function openSandbox() {
  const root = process.cwd();
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'mutation-'));
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of FILES) cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

  const log = join(folder, 'last-run.log');
  const run = (args: string[], tests: readonly string[] = []) => runNode({ cwd: folder, log, args, tests });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--no-isolate', '--maxWorkers=2'];
  const passes = async (tests: readonly string[]): Promise<boolean> =>
    (await run([...vitest, '--config=test/reliability/mutation/vitest.config.ts'], tests)) === 0;

  /** The end of what the last run of tests printed. */
  const lastWords = () => readFileSync(log, 'utf8').slice(-3_000);

  /** `untried` when the text is not there exactly once; `void` when a contract does not compile, or to the same code. */
  const tryChange = async (change: Change): Promise<Pick<Verdict, 'outcome' | 'by'>> => {
    const { file, find, replace, tests, at } = change;
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    if (at === undefined && text.split(find).length !== 2) return { outcome: 'untried' };
    const start = at ?? text.indexOf(find);
    const changed = text.slice(0, start) + replace + text.slice(start + find.length);
    const isContract = file.endsWith('.sol');
    const written = isContract ? artifactOf(file) : file;
    const before = readFileSync(join(folder, written), 'utf8');
    const after = isContract ? recompiled({ file, source: changed, artifact: before }) : changed;
    if (after === undefined) return { outcome: 'void' };
    try {
      writeFileSync(join(folder, written), after);
      if (await passes(tests)) return { outcome: 'survived' };
      return { outcome: 'noticed', by: isOfTime(lastWords()) ? 'time' : undefined };
    } finally {
      writeFileSync(join(folder, written), before);
    }
  };
  return { passes, tryChange, lastWords, close: () => rmSync(folder, { recursive: true, force: true }) };
}

interface Run {
  cwd: string;
  log: string;
  args: string[];
  tests: readonly string[];
}

/** The exit code; 1 when the process was ended because it took too long. */
function runNode({ cwd, log, args, tests }: Run): Promise<number> {
  const output = openSync(log, 'w');
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', output, output],
    env: { ...process.env, REWARDS_MUTATE_TESTS: tests.join(' ') },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), MINUTES_MAX * 60_000);
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      closeSync(output);
      resolve(code ?? 1);
    });
  });
}
