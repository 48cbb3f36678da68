/** `rewards logs`: the log of a stack. */
import { existsSync } from 'node:fs';
import { delay } from '../../lib/timers.ts';
import { logFileIn } from '../../stack/log-file.ts';
import { findRunFile, isAlive } from '../../stack/run-file.ts';
import { followLog, lastLines } from '../logs/read-log.ts';
import { logEntry } from '../logs/view.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { dataFolder } from '../run/data-folder.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';

const LOOK_EVERY_MS = 100;

export const logs: Handler<{ follow?: boolean; lines: number; persistTo?: string }> = async (
  context,
  { follow = false, lines, persistTo },
) => {
  const { runtime, settings } = context;
  const { run } = await findRunFile(runtime.cwd, settings.name);
  const dataDir = persistTo === undefined && run ? run.dataDir : dataFolder(context, persistTo);
  if (!existsSync(logFileIn(dataDir))) {
    throw new CliError('E_NOT_RUNNING', {
      message: `There is no log in ${dataDir}.`,
      fix: 'Start a stack with `rewards serve`, or name the folder of another with --persist-to.',
    });
  }
  const print = printer(context);
  const following = followLog(dataDir);
  print(await lastLines(dataDir, lines));
  if (!follow || run?.dataDir !== dataDir) {
    following.close();
    return exitCodes.done;
  }
  const signals = catchStopSignals(runtime);
  const stopping = new AbortController();
  void signals.first.then(() => stopping.abort());
  for (let alive = true; alive && !stopping.signal.aborted && !runtime.stdout.isClosed; ) {
    // Asked before the lines are read, so that its last ones are printed too.
    alive = await isAlive(run);
    print(following.more());
    if (alive) await delay(LOOK_EVERY_MS, stopping.signal);
  }
  following.close();
  signals.release();
  return exitCodes.done;
};

const printer =
  ({ runtime, settings, style }: CommandContext) =>
  (lines: string[]): void => {
    for (const line of lines) runtime.stdout.write(`${logEntry(line, settings.output, style.stdout)}\n`);
  };
