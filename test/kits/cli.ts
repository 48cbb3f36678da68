/** Starts the real program, as a shell would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = new URL('../../bin/rewards.js', import.meta.url).pathname;

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Surroundings {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
}

/** Runs one command to its end. Nothing of this machine's REWARDS_* settings reaches it. */
export async function rewards(args: string[], around: Surroundings = {}): Promise<Finished> {
  const child = start(args, around);
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk;
  });
  child.stdin?.on('error', () => {}).end(around.stdin ?? '');
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, ...output };
}

/** The same with `-o json`, and the one document it printed. */
export async function rewardsJson(args: string[], around: Surroundings = {}) {
  const finished = await rewards([...args, '-o', 'json'], around);
  return { ...finished, envelope: JSON.parse(finished.stdout) };
}

/** A stack started with `rewards serve -o json`; `ready` is its first line. */
export async function serve(args: string[], around: Surroundings & { cwd: string }) {
  const child = start(['serve', '-o', 'json', ...args], around);
  const lines: string[] = [];
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const reader = createInterface({ input: child.stdout ?? process.stdin });
  const firstLine = new Promise<string>((resolve) => reader.once('line', resolve));
  reader.on('line', (line) => lines.push(line));
  const first = await Promise.race([firstLine, closed.then(([code]) => `exited with ${code}: ${stderr}`)]);
  if (!first.startsWith('{')) throw new Error(`serve did not get ready: ${first}`);
  return {
    ready: JSON.parse(first),
    child,
    lines,
    stderr: () => stderr,
    /** Sends a signal and waits for the end. */
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await closed;
      return { code, signal: by };
    },
  };
}

/** A directory of its own for a test; the way to remove it. */
export async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'rewards-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

function start(args: string[], around: Surroundings): ChildProcess {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(REWARDS_|NO_COLOR$|FORCE_COLOR$)/.test(name),
  );
  return spawn(process.execPath, [program, ...args], {
    // The root has no project folder that could be found by accident.
    cwd: around.cwd ?? '/',
    env: { ...Object.fromEntries(kept), ...around.env },
    stdio: 'pipe',
  });
}
