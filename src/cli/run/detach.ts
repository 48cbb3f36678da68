/** `rewards serve --detach`: starts the stack as a process of its own and returns once it is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Environment } from '../../compose/env.ts';
import type { ServeConfig } from '../../emulator/serve-config.ts';
import { stopwatch } from '../../lib/timers.ts';
import { logFileIn } from '../../stack/log-file.ts';
import { type Ready, readyEnvironment } from '../../stack/ready.ts';
import type { CommandContext, Runtime } from '../machine/context.ts';
import { CliError, type ErrorCode, errorTable, usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { envLines } from '../machine/output.ts';
import { isObject } from '../service/assignments.ts';
import { catchStopSignals, interruptedBy } from '../terminal/stop-signals.ts';
import { banner } from './banner.ts';
import { type ServeOptions, serveConfig } from './serve-config.ts';

/** Prints what `serve` prints; a stack that cannot start is told as by `serve`. */
export async function serveDetached(context: CommandContext, options: ServeOptions): Promise<number> {
  const { runtime } = context;
  if (!runtime.self) throw usageError('--detach needs a process of its own.', 'Run it from a shell.');
  const elapsedMs = stopwatch();
  const config = serveConfig(context, options);
  const signals = catchStopSignals(runtime);
  const child = startBehind(runtime, runtime.self);
  child.stderr?.setEncoding('utf8').on('data', runtime.stderr.write);
  const first = await Promise.race([firstLine(child), signals.first.then((signal) => ({ signal }))]);
  if ('signal' in first) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    return interruptedBy(first.signal);
  }
  const ready = readyOf(first.line);
  announce(context, { ready, config, tookMs: elapsedMs() });
  context.note(
    `process ${ready.pid} goes on in the background: \`rewards stop\` ends it, \`rewards logs -f\` follows it (${logFileIn(ready.dataDir)})`,
  );
  // From here on the stack's own output goes nowhere: its log file has it all.
  for (const pipe of [child.stdout, child.stderr]) pipe?.destroy();
  child.unref();
  signals.release();
  return exitCodes.done;
}

/** In a session of its own, so that neither Ctrl-C nor the end of the terminal reaches it. */
function startBehind(
  { argv, env, cwd }: Runtime,
  { node, script }: NonNullable<Runtime['self']>,
): ChildProcess {
  const args = argv.filter((word) => word !== '--detach');
  return spawn(node, [script, ...args, '-o', 'json'], {
    cwd,
    env: withoutParent(env),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Without npm's variable: a stack that npm has started ends with npm, and this one must not. */
const withoutParent = ({ npm_lifecycle_script: _, ...env }: Environment) => env;

/** The first line of stdout: what is ready, or the error; empty when it has ended without a word. */
async function firstLine(child: ChildProcess): Promise<{ line: string }> {
  const lines = createInterface({ input: child.stdout as Readable });
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(lines, 'close').then(() => ''),
  ]);
  return { line };
}

function readyOf(line: string): Ready {
  const said = parsed(line);
  if (said.type === 'ready') return said as unknown as Ready;
  const { code, message, hint, details } = isObject(said.error) ? said.error : {};
  const known = typeof code === 'string' && Object.hasOwn(errorTable, code);
  throw new CliError(known ? (code as ErrorCode) : 'E_INTERNAL', {
    message: typeof message === 'string' ? message : 'The stack ended before it was ready.',
    ...(typeof hint === 'string' && { fix: hint }),
    details,
  });
}

function parsed(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}

export function announce(
  { runtime, settings, style }: CommandContext,
  { ready, config, tookMs }: { ready: Ready; config: ServeConfig; tookMs: number },
): void {
  const text = {
    text: () =>
      `${banner(ready, { style: style.stdout, tookMs, ephemeral: config.ephemeral, program: runtime.program, columns: runtime.stdout.columns })}\n`,
    json: () => `${JSON.stringify({ type: 'ready', ...ready })}\n`,
    jsonl: () => `${JSON.stringify({ type: 'ready', ...ready })}\n`,
    env: () => `${envLines(readyEnvironment(ready))}\n`,
  }[settings.output];
  runtime.stdout.write(text());
}
