/** Runs the command line: in this process where its streams and signals are all that matters, else as a shell would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StopSignal } from '../../../src/cli/machine/context.ts';
import { runCli } from '../../../src/cli/machine/run-cli.ts';
import type { Sink } from '../../../src/cli/terminal/streams.ts';
import { systemClock } from '../../../src/lib/clock.ts';

/** The built program. */
export const program = new URL('../../../bin/rewards.js', import.meta.url).pathname;

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
  /** How the program was called; `rewards` unless said otherwise. */
  program?: string;
  /** Typed at the terminal when the command asks. */
  answer?: string;
  /** Stderr is a terminal of this width; where the command runs in this process. */
  columns?: number;
}

/** Runs one command to its end, in this process. Nothing of this machine's REWARDS_* settings reaches it. */
export async function rewards(args: string[], around: Surroundings = {}): Promise<Finished> {
  const run = startHere(args, around);
  const code = await run.ended;
  return { code, signal: null, stdout: run.stdout(), stderr: run.stderr() };
}

/** The same with `-o json`, and the one document it printed. */
export async function rewardsJson(args: string[], around: Surroundings = {}) {
  const finished = await rewards([...args, '-o', 'json'], around);
  return { ...finished, envelope: JSON.parse(finished.stdout) };
}

/** Commands in the folder of a project, whose stack they find by themselves. */
export function commandsIn(project: () => { path: string }) {
  const here = (...args: string[]) => rewards(args, { cwd: project().path });
  return {
    here,
    json: async (...args: string[]) => (await rewardsJson(args, { cwd: project().path })).envelope,
    event: (user: string) => here('send-event', 'account_creation', '--user', `${user}@demo.example`),
  };
}

/** Runs one command to its end, as a process of its own. */
export async function rewardsProcess(args: string[], around: Surroundings = {}): Promise<Finished> {
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

/** A command in this process that goes on until it ends by itself or a signal is sent to it. */
export function startHere(args: string[], around: Surroundings = {}) {
  const stdout = textSink();
  const stderr = textSink(around.columns);
  const listeners = new Set<(signal: StopSignal) => void>();
  const ended = runCli({
    argv: args,
    program: around.program ?? 'rewards',
    env: setVariables(environment(around)),
    emptyVariables: Object.entries(around.env ?? {}).flatMap(([name, value]) => (value === '' ? name : [])),
    // The root has no project folder that could be found by accident.
    cwd: around.cwd ?? '/',
    pid: process.pid,
    stdout,
    stderr,
    readStdin: async () => around.stdin ?? '',
    ...(around.answer !== undefined && { ask: async () => around.answer ?? '' }),
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    clock: systemClock(),
  });
  return {
    ended,
    stdout: stdout.text,
    stderr: stderr.text,
    /** The next whole line of stdout that nobody has taken yet. */
    nextLine: stdout.nextLine,
    signal(signal: StopSignal) {
      for (const listener of listeners) listener(signal);
    },
  };
}

/** A stack started in this process with `rewards serve -o json`; `ready` is its first line. */
export async function serveHere(args: string[], around: Surroundings & { cwd: string }) {
  const run = startHere(['serve', '-o', 'json', ...args], around);
  const failed = run.ended.then((code) => `exited with ${code}: ${run.stderr()}`);
  const first = await Promise.race([run.nextLine(), failed]);
  if (!first.startsWith('{')) throw new Error(`serve did not get ready: ${first}`);
  return {
    ready: JSON.parse(first),
    lines: () => run.stdout().split('\n').slice(0, -1),
    stderr: run.stderr,
    /** Sends a signal and waits for the end. */
    async stop(signal: StopSignal = 'SIGTERM') {
      run.signal(signal);
      return { code: await run.ended, signal: null };
    },
  };
}

/** The same as a process of its own. */
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

/** A command as a process of its own that goes on until a signal ends it. */
export function startProcess(args: string[], around: Surroundings = {}) {
  const child = start(args, around);
  const stdout = textSink();
  child.stdout?.setEncoding('utf8').on('data', stdout.write);
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    /** The next whole line of stdout that nobody has taken yet. */
    nextLine: stdout.nextLine,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await closed;
      return { code, signal: by };
    },
  };
}

/** The environment of a process whose listeners come late: so long it is not ready, on a fast machine as on a slow one. */
export async function slowStart(folder: string): Promise<Record<string, string>> {
  const path = join(folder, 'slow-start.cjs');
  await writeFile(
    path,
    `const { Server } = require('node:net');
     const { listen } = Server.prototype;
     Server.prototype.listen = function (...args) {
       setTimeout(() => listen.apply(this, args), 1_500);
       return this;
     };`,
  );
  return { NODE_OPTIONS: `--require=${path}` };
}

/** A directory of its own for a test; the way to remove it. */
export async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'rewards-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

function start(args: string[], around: Surroundings): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    cwd: around.cwd ?? '/',
    env: environment(around),
    stdio: 'pipe',
  });
}

/** This machine's environment without what would change the program's answers. */
function environment({ env }: Surroundings): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      Boolean(entry[1]) && !/^(REWARDS_|NO_COLOR$|FORCE_COLOR$)/.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...env };
}

/** As the program reads them: a variable that is set to nothing counts as not set. */
const setVariables = (env: Record<string, string>) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

function textSink(columns?: number): Sink & { text: () => string; nextLine: () => Promise<string> } {
  let text = '';
  let taken = 0;
  let wake = () => {};
  return {
    isTTY: columns !== undefined,
    columns,
    isClosed: false,
    failure: undefined,
    backlogBytes: 0,
    write(more) {
      text += more;
      wake();
    },
    flushed: async () => {},
    text: () => text,
    async nextLine() {
      for (;;) {
        const end = text.indexOf('\n', taken);
        if (end >= 0) {
          const line = text.slice(taken, end);
          taken = end + 1;
          return line;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
