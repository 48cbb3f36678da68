/** `rewards serve`: the whole service on this machine, from start to clean stop. */
import { resolve } from 'node:path';
import type { RequestSummary } from '../../client/bodies.ts';
import type { ServeConfig } from '../../compose/config.ts';
import { crashFromEnvironment } from '../../compose/env.ts';
import type { Emulator } from '../../emulator/create-emulator.ts';
import { type Ready, readyEnvironment } from '../../emulator/state/ready.ts';
import {
  ensureProjectFolder,
  findRunFile,
  type RunInfo,
  removeRunFile,
  writeRunFile,
} from '../../emulator/state/run-file.ts';
import { jsonLog, type LogLevel } from '../../lib/log.ts';
import { unknownVariables } from '../../lib/setting.ts';
import { stopwatch, within } from '../../lib/timers.ts';
import { knownVariables } from '../config/known-variables.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { manifest } from '../machine/manifest.ts';
import { envLines } from '../machine/output.ts';
import { requestEntry } from '../requests/request-line.ts';
import { catchStopSignals, interruptedBy, type StopSignals } from '../terminal/stop-signals.ts';
import { banner, logLine } from './banner.ts';
import { dataFolder } from './data-folder.ts';
import { oldVariables } from './old-variables.ts';

/** Longest time for a clean stop. After it the process ends anyway, and the chain's watchdog ends the chain. */
const STOP_CAP_MS = 5_000;
const DEFAULT_PORT = 8787;
const DEFAULT_RPC_PORT = 8545;

interface ServeOptions {
  port?: number;
  rpcPort?: number;
  rpcUrl?: string;
  blockTime: number;
  splitHosts?: boolean;
  ephemeral?: boolean;
  persistTo?: string;
  seed?: string[];
  clock?: number;
  freeze?: boolean;
  databaseUrl?: string;
  ownDomain?: string;
  addressRequests: number;
  errorDialect: 'current' | 'earlier';
  logLevel: LogLevel;
}

/** Prints what is ready, stays until a signal, and resolves with 0 after a clean stop. */
export const serve: Handler<ServeOptions> = async (context, options) => {
  const elapsedMs = stopwatch();
  const signals = catchStopSignals(context.runtime);
  noteVariables(context, options);
  const config = configOf(context, options);
  const neighbour = await otherStack(context, config);
  const emulator = await createdEmulator(context, config);
  const starting = startOrClear(emulator);
  const ready = await Promise.race([starting, signals.first]);
  if (typeof ready === 'string') {
    await stopWithin(stopped(context, emulator), signals);
    return interruptedBy(ready);
  }
  noteOtherPorts(context, { ready, config });
  if (neighbour) {
    context.note(
      `another stack runs at ${neighbour.urls.events}; commands without --target will now find this one (--name keeps both)`,
    );
  }
  const runFile = await announceOnDisk(context, ready);
  announce(context, { ready, config, tookMs: elapsedMs() });
  emulator.onRequest(requestPrinter(context));

  const signal = await signals.first;
  context.note('stopping; a second signal stops at once');
  if (runFile) await removeRunFile(runFile, context.runtime.pid);
  const clean = await stopWithin(stopped(context, emulator), signals);
  if (isStream(context))
    context.runtime.stdout.write(`${JSON.stringify({ type: 'shutdown', signal, clean })}\n`);
  return clean ? exitCodes.done : interruptedBy(signal);
};

/** Says which variables have no effect here, and what was probably meant. */
function noteVariables(context: CommandContext, options: ServeOptions): void {
  const { env } = context.runtime;
  const old = oldVariables(env, options);
  for (const note of old) context.note(note);
  for (const { variable, message, fix } of unknownVariables(env, knownVariables(context)))
    if (!old.some((note) => note.startsWith(`${variable} `))) context.note(`warning: ${message}: ${fix}`);
}

function configOf(context: CommandContext, options: ServeOptions): ServeConfig {
  const { runtime } = context;
  if (options.ephemeral && options.persistTo !== undefined) {
    throw usageError('--ephemeral and --persist-to exclude each other.', 'Leave one of them out.');
  }
  if (options.databaseUrl !== undefined && !/^postgres(?:ql)?:\/\//i.test(options.databaseUrl)) {
    throw usageError(
      '--database-url is not the address of a Postgres database.',
      'Give an address that begins with postgres://, or leave it out to keep the data in a file.',
    );
  }
  return {
    bindAddress: '127.0.0.1',
    port: options.port ?? DEFAULT_PORT,
    portExplicit: options.port !== undefined,
    splitHosts: options.splitHosts ?? false,
    ephemeral: options.ephemeral ?? false,
    dataDir: dataFolder(context, options.persistTo),
    seedFiles: (options.seed ?? []).map((file) => resolve(runtime.cwd, file)),
    clockStartMs: options.clock,
    frozen: options.freeze ?? false,
    rpcUrl: options.rpcUrl,
    rpcPort: options.rpcPort ?? (options.port === 0 ? 0 : DEFAULT_RPC_PORT),
    rpcPortExplicit: options.rpcPort !== undefined,
    blockTimeSeconds: options.blockTime,
    databaseUrl: options.databaseUrl,
    ownDomain: options.ownDomain,
    addressRequestsMax: options.addressRequests,
    errorDialect: options.errorDialect,
    log: jsonLog({ level: options.logLevel, now: () => runtime.clock.now(), write: logWriter(context) }),
  };
}

/** Logs go to stderr in every format: the first line of stdout belongs to what is ready. */
function logWriter({ runtime, settings, style }: CommandContext): (line: string) => void {
  return (line) => runtime.stderr.write(settings.output === 'text' ? logLine(line, style.stderr) : line);
}

/** The stack that runs here already. Throws E_DATA_IN_USE when it has the same data. */
async function otherStack(context: CommandContext, config: ServeConfig): Promise<RunInfo | undefined> {
  const { run } = await findRunFile(context.runtime.cwd, context.settings.name);
  if (run && !config.ephemeral && run.dataDir === config.dataDir) {
    throw new CliError('E_DATA_IN_USE', {
      message: `Process ${run.pid} already serves ${config.dataDir} at ${run.urls.events}.`,
      details: { pid: run.pid, dataDir: config.dataDir, url: run.urls.events },
    });
  }
  return run;
}

/** Loaded only here, since it loads the chain, the database and the server. */
async function createdEmulator({ runtime }: CommandContext, config: ServeConfig): Promise<Emulator> {
  try {
    const { createEmulator } = await import('../../emulator/create-emulator.ts');
    return await createEmulator(config, { crash: crashFromEnvironment(runtime.env) });
  } catch (error) {
    if (!isMissingModule(error, 'better-sqlite3')) throw error;
    throw new CliError('E_NATIVE_SQLITE', {}, { cause: error });
  }
}

const isMissingModule = (error: unknown, name: string) =>
  error instanceof Error &&
  /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code)) &&
  error.message.includes(`'${name}'`);

/** Stops what a failed start has started. */
async function startOrClear(emulator: Emulator): Promise<Ready> {
  try {
    return await emulator.start();
  } catch (error) {
    await within(
      STOP_CAP_MS,
      emulator.stop().catch(() => undefined),
    );
    throw error;
  }
}

/** Resolves with whether everything stopped cleanly. */
async function stopped(context: CommandContext, emulator: Emulator): Promise<boolean> {
  try {
    await emulator.stop();
    return true;
  } catch (error) {
    context.note(`not everything stopped cleanly: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

/** Resolves with the stop's result; false when its time ran out or a second signal cut it short. */
async function stopWithin(stop: Promise<boolean>, signals: StopSignals): Promise<boolean> {
  const cut = signals.second.then(() => false);
  return (await Promise.race([within(STOP_CAP_MS, stop), cut])) ?? false;
}

/** Writes the run file and returns its path. Where it cannot be written, other commands only need --target. */
async function announceOnDisk(
  { runtime, settings, note }: CommandContext,
  ready: Ready,
): Promise<string | undefined> {
  try {
    await ensureProjectFolder(runtime.cwd);
    return await writeRunFile(runtime.cwd, { ...ready, program: manifest.version, name: settings.name });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    note(`no run file (${reason}); other commands need --target ${ready.urls.events}`);
    return undefined;
  }
}

function announce(
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

/** Notes a default port that was taken. */
function noteOtherPorts(
  { note }: CommandContext,
  { ready, config }: { ready: Ready; config: ServeConfig },
): void {
  const port = portOf(ready.urls.events);
  if (!config.portExplicit && port !== config.port) note(`port ${config.port} is taken; using ${port}`);
  const rpcPort = portOf(ready.urls.rpc);
  const wanted = config.rpcUrl || config.rpcPortExplicit || config.rpcPort === 0 ? rpcPort : config.rpcPort;
  if (rpcPort !== wanted) note(`port ${wanted} for the chain is taken; using ${rpcPort}`);
}

/** Bytes buffered for a slow reader; beyond that, requests are left out so that memory stays bounded. */
const BACKLOG_MAX_BYTES = 1_000_000;

/** Writes a line for each request, for people or as JSON. */
function requestPrinter({ runtime, settings, style }: CommandContext): (request: RequestSummary) => void {
  const { output: format, quiet } = settings;
  if (format === 'env' || (format === 'text' && quiet)) return () => {};
  return (request) => {
    if (runtime.stdout.backlogBytes > BACKLOG_MAX_BYTES) return;
    runtime.stdout.write(`${requestEntry(request, { format, style: style.stdout })}\n`);
  };
}

const isStream = ({ settings }: CommandContext) => settings.output === 'json' || settings.output === 'jsonl';

const portOf = (url: string) => Number(new URL(url).port);
