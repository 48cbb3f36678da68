/** `rewards logs`: the log of a stack. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { RequestSummary } from '../../contract/control/requests.ts';
import { delay } from '../../lib/timers.ts';
import { earlierLogFileIn, logFileIn } from '../../stack/log-file.ts';
import { findRunFile, isAlive } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { OutputFormat } from '../machine/output.ts';
import { logLine } from '../run/banner.ts';
import { dataFolder } from '../run/data-folder.ts';
import { requestLine } from '../talk/requests/view.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import type { Style } from '../terminal/style.ts';

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

const linesIn = async (path: string) =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1);

/** The last `count` lines, the oldest first; a file that has just begun is filled up from the one before. */
export async function lastLines(dataDir: string, count: number): Promise<string[]> {
  if (count === 0) return [];
  const lines = await linesIn(logFileIn(dataDir));
  if (lines.length >= count) return lines.slice(-count);
  return [...(await linesIn(earlierLogFileIn(dataDir))), ...lines].slice(-count);
}

/** The lines that are written from now on, also into the file that takes this one's place when it is full. */
export function followLog(dataDir: string) {
  const path = logFileIn(dataDir);
  const open = (at: number | undefined) => {
    const descriptor = openSync(path, 'r');
    const { ino, size } = fstatSync(descriptor);
    return { descriptor, ino, at: at ?? size, decoder: new StringDecoder('utf8'), rest: '' };
  };
  let file = open(undefined);

  const rest = (): string[] => {
    const { size } = fstatSync(file.descriptor);
    const bytes = Buffer.alloc(Math.max(0, size - file.at));
    file.at += readSync(file.descriptor, bytes, 0, bytes.length, file.at);
    const lines = (file.rest + file.decoder.write(bytes)).split('\n');
    file.rest = lines.pop() ?? '';
    return lines;
  };
  const hasMoved = () => {
    try {
      return statSync(path).ino !== file.ino;
    } catch {
      // An ephemeral stack has taken it away; what was written can still be read.
      return false;
    }
  };
  return {
    more(): string[] {
      const moved = hasMoved();
      const lines = rest();
      if (!moved) return lines;
      closeSync(file.descriptor);
      file = open(0);
      return [...lines, ...rest()];
    },
    close: () => closeSync(file.descriptor),
  };
}

/** As it stands in the file for json; a line that is not understood stays as it is. */
function logEntry(line: string, format: OutputFormat, style: Style): string {
  if (format === 'json' || format === 'jsonl') return line;
  const entry = parsed(line);
  if (!entry) return line;
  const at = style.dim(String(entry.time).slice(11, 19));
  if (entry.type === 'request') return requestLine(entry as unknown as RequestSummary, style);
  if (entry.type === 'start')
    return `${at}  ${style.green('started')}  ${entry.url}  ${style.dim(`process ${entry.pid}`)}`;
  if (entry.type === 'stop') return `${at}  ${style.yellow('stopped')}  by ${entry.signal}`;
  return logLine(line, style).trimEnd();
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
