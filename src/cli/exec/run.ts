/** `rewards exec`: a command with a stack of its own. */

import { formatDuration } from '../../lib/duration.ts';
import { stopwatch } from '../../lib/timers.ts';
import { type Ready, readyEnvironment } from '../../stack/ready.ts';
import { runChild } from '../around/exec.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { createdEmulator, startOrClear, stopped, stopWithin } from '../run/run-emulator.ts';
import { noteVariables, type ServeOptions, serveConfig } from '../run/serve-config.ts';
import { catchStopSignals, interruptedBy, type StopSignals } from '../terminal/stop-signals.ts';

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
