/** Gives the program the process it runs in; the only file of the command line that touches it. */
import { readEnvironment } from '../compose/env.ts';
import { systemClock } from '../lib/clock.ts';
import { every } from '../lib/timers.ts';
import type { StopSignal } from './machine/context.ts';
import { runCli } from './machine/run-cli.ts';
import { createSink } from './terminal/streams.ts';

const env = readEnvironment();
const stdout = createSink(process.stdout);
const stderr = createSink(process.stderr);

const exitCode = await runCli({
  argv: process.argv.slice(2),
  env,
  cwd: process.cwd(),
  pid: process.pid,
  stdout,
  stderr,
  readStdin,
  onSignal,
  clock: systemClock(),
});
await Promise.all([stdout.flushed(), stderr.flushed()]);
// Not left to the event loop: an idle kept-alive connection would hold the process for seconds.
process.exit(exitCode);

async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return text;
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
 * npm passes a signal on to the shell that it runs us in; that shell dies of it without telling us. So when npm
 * started us, the end of our parent is a stop signal.
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
