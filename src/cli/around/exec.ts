/** `rewards exec`: runs a command with a stack of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Environment } from '../../compose/env.ts';
import { formatDuration } from '../../lib/duration.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import { type Ready, readyEnvironment } from '../../stack/ready.ts';
import type { CommandContext, Handler, Runtime, StopSignal } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { createdEmulator, startOrClear, stopped, stopWithin } from '../run/run-emulator.ts';
import { noteVariables, type ServeOptions, serveConfig } from '../run/serve-config.ts';
import { catchStopSignals, interruptedBy, type StopSignals } from '../terminal/stop-signals.ts';

/** What the shell answers for a command that it does not find, or may not run. */
const NOT_FOUND = 127;
const NOT_RUN = 126;
/** How long what the command has left behind may take to end by itself. */
const LEFTOVERS_MS = 2_000;
const LOOK_EVERY_MS = 20;
/** npm forwards Ctrl-C to a child that has it from the terminal already; two signals this close count as one. */
const ECHO_MS = 100;

/**
 * Waits on a pipe from this process, which closes however this process ends. The command's process group, or, where it
 * shares ours, the command and what descends from it, is asked to end and two seconds later killed.
 */
const WATCHER = `
trap '' HUP INT TERM
read -r line && exit 0
family() {
  for one in $(ps -A -o pid=,ppid= 2>/dev/null | awk -v parent="$1" '$2 == parent { print $1 }'); do family "$one"; done
  echo "$1"
}
if [ "$2" = group ]; then all="-$1"; else all=$(family "$1"); fi
kill -s TERM -- $all
sleep 2
kill -s KILL -- $all
`;

interface Command {
  runtime: Pick<Runtime, 'onSignal' | 'stderr' | 'cwd' | 'atTerminal'>;
  command: readonly string[];
  env: Environment;
}

/** Resolves with the exit code: the command's own; 128 and the number of the signal that ended it; 127 or 126 when it did not start. */
async function runChild({ runtime, command, env }: Command): Promise<number> {
  const [file = '', ...args] = command;
  // At a terminal it shares our process group, or it could not read from there; Ctrl-C then reaches it by itself.
  const shared = runtime.atTerminal === true || process.platform === 'win32';
  const child = spawn(file, args, {
    cwd: runtime.cwd,
    env,
    stdio: 'inherit',
    detached: !shared,
    // npm and its like are .cmd files there, which only a shell runs.
    shell: process.platform === 'win32',
  });
  const ended = endOf(child);
  const { pid } = child;
  if (pid === undefined) return notStarted(await ended, { file, runtime });
  const watcher = watch(pid, { shared });
  const release = passSignalsOn({ runtime, pid, shared });
  const { code, signal } = await ended;
  if (!shared) await endLeftovers(pid);
  release();
  watcher.over();
  return signal ? 128 + constants.signals[signal] : (code ?? 1);
}

interface End {
  code?: number | null;
  signal?: NodeJS.Signals | null;
  error?: NodeJS.ErrnoException;
}

const endOf = (child: ChildProcess) =>
  new Promise<End>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => resolve({ error }));
  });

function notStarted(
  { error }: End,
  { file, runtime }: { file: string; runtime: Command['runtime'] },
): number {
  const missing = error?.code === 'ENOENT';
  runtime.stderr.write(
    missing
      ? `rewards exec: ${file}: command not found\n`
      : `rewards exec: ${file}: cannot be run (${error?.code})\n`,
  );
  return missing ? NOT_FOUND : NOT_RUN;
}

/** A small process that ends the command when this one is gone, even by SIGKILL. */
function watch(pid: number, { shared }: { shared: boolean }): { over: () => void } {
  if (process.platform === 'win32') return { over() {} };
  const args = ['-c', WATCHER, 'sh', String(pid), shared ? 'family' : 'group'];
  const watcher = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  return { over: () => void watcher.stdin.end('over\n') };
}

/** Sends the stop signals that reach this process to the command as well, until the returned function is called. */
function passSignalsOn({
  runtime,
  pid,
  shared,
}: Pick<Command, 'runtime'> & { pid: number; shared: boolean }) {
  const sinceMs = new Map<StopSignal, () => number>();
  return runtime.onSignal((signal) => {
    // The terminal has sent it to the command too.
    if (shared && signal === 'SIGINT') return;
    const lastMs = sinceMs.get(signal);
    if (lastMs && lastMs() < ECHO_MS) return;
    sinceMs.set(signal, stopwatch());
    send(shared ? pid : -pid, signal);
  });
}

/** Ends what the command has left in its process group. */
async function endLeftovers(pid: number): Promise<void> {
  if (!send(-pid, 'SIGTERM')) return;
  const elapsedMs = stopwatch();
  while (send(-pid, 0)) {
    if (elapsedMs() >= LEFTOVERS_MS) return void send(-pid, 'SIGKILL');
    await delay(LOOK_EVERY_MS);
  }
}

/** False when the process has ended. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

export const exec: Handler<ServeOptions & { command: string[] }> = async (
  context,
  { command, ...options },
) => {
  if (command[0] === '') throw usageError('The command is empty.', 'Write it after --, such as -- npm test.');
  const elapsedMs = stopwatch();
  const signals = catchStopSignals(context.runtime);
  noteVariables(context, options);
  const config = serveConfig(context, { ...options, port: 0, rpcPort: 0, ephemeral: true });
  const emulator = await createdEmulator(context, config);
  const ready = await Promise.race([startOrClear(emulator), signals.first]);
  const end = () => stopWithin(stopped(context, emulator), signals);
  if (typeof ready === 'string') {
    await end();
    return interruptedBy(ready);
  }
  context.note(
    `stack ready in ${formatDuration(elapsedMs())} at ${ready.urls.events}; it ends with the command`,
  );
  // Until here a signal meant the stack; from now on it is the command's, and the stack ends after it. They stay caught:
  // one that comes while the command begins or has just ended would kill this process, and leave the command alone.
  const code = await runChild({ runtime: context.runtime, command, env: environmentOf(context, ready) });
  await stopWithin(stopped(context, emulator), laterSignals(context));
  return code;
};

/** The command's own rewards commands take the stack for their target. */
const environmentOf = ({ runtime }: CommandContext, ready: Ready) => ({
  ...runtime.env,
  ...readyEnvironment(ready),
  REWARDS_TARGET: ready.urls.events,
});

/** Signals that arrive while the stack ends: the first of them cuts it short, since the command is over. */
function laterSignals({ runtime }: CommandContext): StopSignals {
  const signals = catchStopSignals(runtime);
  return { ...signals, second: signals.first };
}
