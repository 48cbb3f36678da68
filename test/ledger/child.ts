/** Runs a script in a process of its own, so that it can be killed or watched. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { textFiles } from '../../scripts/bundles.js';

const root = new URL('../..', import.meta.url).pathname;

export interface Script {
  start(args: string[], around?: { under?: string[] }): ChildProcess;
  remove(): Promise<void>;
}

/** Bundles `source`, whose imports are relative to this folder. `under` is a program that watches the script. */
export async function bundleScript(source: string): Promise<Script> {
  const dir = await mkdtemp(join(tmpdir(), 'rewards-script-'));
  const outfile = join(dir, 'script.cjs');
  await build({
    stdin: { contents: source, resolveDir: new URL('.', import.meta.url).pathname, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    loader: textFiles,
    external: ['better-sqlite3', 'pg', 'pg-native'],
    logLevel: 'error',
  });
  return {
    start(args, { under = [] } = {}) {
      const [program = process.execPath, ...rest] = [...under, process.execPath, outfile, ...args];
      const env = { ...process.env, NODE_PATH: join(root, 'node_modules') };
      return spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Resolves when the script has printed `text`; rejects when it ends before. */
export function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code} after printing ${output}`)));
  });
}

/** The exit code; null when it was killed. */
export const ended = async (child: ChildProcess): Promise<number | null> =>
  child.exitCode ?? (child.signalCode ? null : ((await once(child, 'exit')) as [number | null])[0]);
