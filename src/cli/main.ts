/** Connects the program to its process; the only file of the command line that touches the process. */
import { createInterface } from 'node:readline/promises';
import { emptyVariables, readEnvironment } from '../compose/env.ts';
import { systemClock } from '../lib/clock.ts';
import { every } from '../lib/timers.ts';
import { typedProgram } from './machine/as-typed.ts';
import type { StopSignal } from './machine/context.ts';
import { problemOf } from './machine/errors.ts';
import { exitCodes } from './machine/exit-codes.ts';
import { problemText } from './machine/output.ts';
import { runCli } from './machine/run-cli.ts';
import { createSink } from './terminal/streams.ts';
import { plainStyle } from './terminal/style.ts';
import { terminalOf } from './terminal/terminal.ts';

const env = readEnvironment();
const stdout = createSink(process.stdout);
const stderr = createSink(process.stderr);
const terminal = terminalOf(process);

void main();

async function main(): Promise<never> {
  const exitCode = await runCli({
    argv: process.argv.slice(2),
    program: typedProgram(env, process.argv[1] ?? ''),
    self: { node: process.execPath, script: process.argv[1] ?? '' },
    env,
    emptyVariables: emptyVariables(),
    cwd: process.cwd(),
    pid: process.pid,
    stdout,
    stderr,
    readStdin,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
    atTerminal: process.stdin.isTTY === true,
    ...(terminal && { terminal }),
    onSignal,
    clock: systemClock(),
  });
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  // Exits here, since an idle keep-alive connection would keep the event loop, and the process, alive for seconds.
  process.exit(stdout.failure ? outputFailed(stdout.failure) : exitCode);
}

/** Says on stderr why the result is missing; returns the exit code. */
function outputFailed({ code }: NodeJS.ErrnoException): number {
  const problem = problemOf('E_OUTPUT', {
    message: `The output cannot be written (${code}); what the command has done, it has done.`,
  });
  process.stderr.write(`${problemText(problem, plainStyle)}\n`);
  return exitCodes.precondition;
}

async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return text;
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

function onSignal(listener: (signal: StopSignal) => void): () => void {
  const signals: StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, listener);
  const unwatch = watchNpm(() => listener('SIGTERM'));
  return () => {
    unwatch();
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * npm passes a signal to the shell that runs this program; the shell dies of it without passing it on. So when npm
 * started this program, the end of its parent counts as a stop signal.
 */
function watchNpm(onGone: () => void): () => void {
  if (!/(^|[\s/'"])rewards(['"\s]|$)/.test(env.npm_lifecycle_script ?? '')) return () => {};
  const parent = process.ppid;
  const stop = every(100, () => {
    if (process.ppid === parent) return;
    stop();
    onGone();
  });
  return stop;
}
