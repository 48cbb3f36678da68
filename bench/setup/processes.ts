/** Starts the processes that are measured, and reads how much processor time they have used. */
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Hex } from 'viem';
import type { Load, LoadResult } from '../load/load.ts';

const besideThis = (file: string) => new URL(file, import.meta.url).pathname;

/** Processor time of a process since it began, in milliseconds. */
export function processorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime and stime, in ticks of which Linux has 100 a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // `[[dd-]hh:]mm:ss.cc`, where there is no /proc.
    const text = execFileSync('ps', ['-o', 'cputime=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1_000;
  }
}

export type Generator = Awaited<ReturnType<typeof startGenerator>>;

export async function startGenerator() {
  const child = fork(besideThis('./generator.mjs'));
  let answer: (result: LoadResult) => void = () => {};
  child.on('message', (result) => answer(result as LoadResult));
  const ended = failed(child, 'the load generator');
  ended.catch(() => {});
  return {
    /** One load at a time. */
    run(load: Load): Promise<LoadResult> {
      const result = new Promise<LoadResult>((resolve) => {
        answer = resolve;
      });
      child.send(load);
      return Promise.race([result, ended]);
    },
    stop: () => end(child),
  };
}

/** One of the servers of `bench/baselines`; `about` is the file or address of its database. */
export async function startBaseline(
  name: 'sqlite-server' | 'postgres-server' | 'answering-server',
  about = '',
) {
  const child = fork(besideThis(`./${name}.mjs`), [about]);
  const [{ port }] = (await Promise.race([
    once(child, 'message'),
    failed(child, `the baseline ${name}`),
  ])) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => end(child) };
}

/** Settings of nobody else reach what is measured. */
export const environmentWith = (env: Record<string, string>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('REWARDS_'))),
  ...env,
});

export const program = () => process.env.REWARDS_BENCH_PROGRAM ?? besideThis('../bin/rewards.js');

export interface Ready {
  urls: { events: string; rpc: string; control: string };
  /** Of `serve` alone. */
  controlToken: string;
  contracts: { escrow: Hex };
}

/**
 * `rewards start` or `rewards serve`, once it is ready. Where its processor time goes is written into the folder
 * `profile` when it stops.
 */
export async function startProgram(
  args: string[],
  { env, cwd, profile }: { env: Record<string, string>; cwd: string; profile?: string | undefined },
) {
  const profiled = profile ? ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', profile] : [];
  const child = spawn(process.execPath, [...profiled, program(), ...args, '-o', 'json'], {
    env: environmentWith(env),
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reader = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(reader, 'line'), failed(child, `rewards ${args[0]}`)]);
  const ready = JSON.parse(String(line)) as Partial<Ready>;
  if (!ready.urls) throw new Error(`rewards ${args[0]} did not start: ${line}`);
  return {
    ...(ready as Ready),
    url: ready.urls.events,
    pid: child.pid ?? 0,
    stop: () => end(child),
  };
}

async function failed(child: ChildProcess, name: string): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`${name} ended with ${code}`);
}

/** Ends a process that was started here, and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
