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

/** One change of a file's text. */
export interface Change {
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
  /** Test files that have to notice it, as globs. */
  tests: readonly string[];
}

export type Outcome = 'noticed' | 'survived' | 'untried';

// What tests of the core read; the rest stays where it is.
const COPIED = ['src', 'test', 'fixtures', 'scripts', 'bin', 'docs', 'bench'];
const FILES = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md'];
// Contracts, and what is generated from them.
const COMPILED = ['src/chain/contracts', 'test/solidity'];
// For a change that makes a test wait for ever.
const MINUTES_MAX = 10;

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
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1'];
  const passes = async (tests: readonly string[]): Promise<boolean> =>
    (await run([...vitest, '--config=test/reliability/mutation/vitest.config.ts'], tests)) === 0;

  /** `untried` when the text is not there exactly once, or the contract does not compile. */
  const tryChange = async ({ file, find, replace, tests }: Change): Promise<Outcome> => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    if (text.split(find).length !== 2) return 'untried';
    const isContract = file.endsWith('.sol');
    try {
      writeFileSync(
        path,
        text.replace(find, () => replace),
      );
      if (isContract && (await run(['scripts/compile-contracts.js'])) !== 0) return 'untried';
      return (await passes(tests)) ? 'survived' : 'noticed';
    } finally {
      if (isContract)
        for (const name of COMPILED) cpSync(join(root, name), join(folder, name), { recursive: true });
      else writeFileSync(path, text);
    }
  };
  /** The end of what the last run of tests printed. */
  const lastWords = () => readFileSync(log, 'utf8').slice(-3_000);
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
