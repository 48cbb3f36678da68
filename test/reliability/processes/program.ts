/** The real binary as a process that may be killed at any moment, before it is ready or after. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Ready } from '../../../src/stack/ready.ts';

/** TORTURE_PROGRAM: a copy that nobody builds anew during a long run. */
const builtProgram =
  process.env.TORTURE_PROGRAM ?? new URL('../../../bin/rewards.js', import.meta.url).pathname;

export interface Life {
  child: ChildProcess;
  startedAtMs: number;
  /** Undefined when the process ended before. */
  ready: Promise<Ready | undefined>;
  /** When it was ready; undefined before. */
  readyAtMs: () => number | undefined;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  isOver: () => boolean;
  stderr: () => string;
  stop(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** `rewards serve -o json` with these arguments; `wrapper` is put before it, such as strace; `program`: not the built one. */
export function startLife(
  args: string[],
  around: { cwd: string; env?: Record<string, string>; wrapper?: string[]; program?: string },
): Life {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(REWARDS_|TORTURE_|VITEST|NODE_ENV)/.test(name),
  );
  const [command = '', ...before] = [...(around.wrapper ?? []), process.execPath];
  const child = spawn(
    command,
    [...before, around.program ?? builtProgram, 'serve', '-o', 'json', '--log-level', 'info', ...args],
    {
      cwd: around.cwd,
      env: { ...Object.fromEntries(kept), ...around.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const startedAtMs = Date.now();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-20_000);
  });
  let over = false;
  let readyAtMs: number | undefined;
  const ended = once(child, 'close').then(([code, signal]) => {
    over = true;
    return { code, signal } as { code: number | null; signal: NodeJS.Signals | null };
  });
  const firstLine = new Promise<Ready>((resolve) => {
    createInterface({ input: child.stdout }).once('line', (line) => {
      if (!line.startsWith('{"type":"ready"')) return;
      readyAtMs = Date.now();
      resolve(JSON.parse(line));
    });
  });
  return {
    child,
    startedAtMs,
    ready: Promise.race([firstLine, ended.then(() => undefined)]),
    readyAtMs: () => readyAtMs,
    ended,
    isOver: () => over,
    stderr: () => stderr,
    async stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
