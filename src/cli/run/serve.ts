/** `rewards serve`: the whole service on this machine, from start to clean stop. */
import type { RequestSummary } from '../../contract/control/requests.ts';
import type { Emulator } from '../../emulator/create-emulator.ts';
import type { ServeConfig } from '../../emulator/serve-config.ts';
import { stopwatch, turnOfEventLoop } from '../../lib/timers.ts';
import { createLogFile } from '../../stack/log-file.ts';
import type { Ready } from '../../stack/ready.ts';
import { findRunFile, type RunInfo, removeRunFile, writeRunFile } from '../../stack/run-file.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { manifest } from '../machine/manifest.ts';
import { clientFor } from '../service/target.ts';
import { requestEntry } from '../talk/requests/view.ts';
import { asideOf, createProgress } from '../terminal/progress.ts';
import { catchStopSignals, interruptedBy } from '../terminal/stop-signals.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { attachView, sayPlain, type View, wantsView } from '../view/attach-view.ts';
import { announce } from './detach.ts';
import { createdEmulator, startOrClear, stopped, stopWithin } from './run-emulator.ts';
import { noteVariables, type ServeOptions, serveConfig, snapshotPath } from './serve-config.ts';
import { workbenchOf } from './workbench.ts';

/** Prints what is ready, stays until a signal, and resolves with 0 after a clean stop. */
export const serve: Handler<
  ServeOptions & { detach?: boolean; plain?: boolean; exportOnExit?: string | true }
> = async (context, options) => {
  if (options.detach) return (await import('./detach.ts')).serveDetached(context, options);
  const elapsedMs = stopwatch();
  const signals = catchStopSignals(context.runtime);
  noteVariables(context, options);
  const logFile = createLogFile();
  const progress = createProgress(context);
  const config = serveConfig(asideOf(progress, context), options, logFile.write);
  const neighbour = await otherStack(context, config);
  let isStarting = true;
  const emulator = await createdEmulator(context, {
    ...config,
    undo: true,
    workbench: workbenchOf(context),
    onBlocks: (phase, { block, of }) => void (isStarting && progress.show(phase, block, of)),
  });
  const starting = startOrClear(emulator);
  const ready = await Promise.race([starting, signals.first]).finally(() => {
    isStarting = false;
    progress.clear();
  });
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
  const time = () => new Date(context.runtime.clock.now()).toISOString();
  const { pid, urls, dataDir } = ready;
  logFile.open(dataDir, { type: 'start', time: time(), program: manifest.version, pid, url: urls.events });
  const terminal = wantsView(context, options);
  if (terminal) sayPlain(context);
  announce(context, { ready, config, tookMs: elapsedMs() });
  // Its loading holds up nothing.
  const view = terminal && ownView(context, { terminal, ready });
  emulator.onRequest(requestPrinter(context));
  emulator.onRequest((request) => logFile.write(`${JSON.stringify({ type: 'request', ...request })}\n`));
  // Its brands may be others now, and commands take the first.
  emulator.onReplaced((now) => void announceOnDisk(context, now));

  const signal = await signals.first;
  (await view)?.close();
  logFile.write(`${JSON.stringify({ type: 'stop', time: time(), signal })}\n`);
  context.note('stopping; a second signal stops at once');
  if (runFile) await removeRunFile(runFile, context.runtime.pid);
  if (options.exportOnExit) await exported(context, emulator, options);
  const clean = await stopWithin(stopped(context, emulator), signals);
  if (isStream(context))
    context.runtime.stdout.write(`${JSON.stringify({ type: 'shutdown', signal, clean })}\n`);
  return clean ? exitCodes.done : interruptedBy(signal);
};

/** The view of the stack of this process, which it asks as others do. */
function ownView(
  context: CommandContext,
  { terminal, ready }: { terminal: Terminal; ready: Ready },
): Promise<View> {
  const { runtime, settings } = context;
  const env = { ...runtime.env, REWARDS_CONTROL_TOKEN: ready.controlToken };
  const asOthers = {
    ...context,
    runtime: { ...runtime, env },
    settings: { ...settings, target: ready.urls.events },
  };
  const { call } = clientFor(ready, asOthers);
  return attachView(asOthers, {
    terminal,
    call,
    emulator: call,
    ledger: { allowSqlite: false },
    isOwn: true,
  });
}

/** Saves the stack before it ends; what fails is said, and ends it all the same. */
async function exported(
  context: CommandContext,
  emulator: Emulator,
  options: ServeOptions & { exportOnExit?: string | true },
): Promise<void> {
  const wanted = options.exportOnExit === true ? 'last-exit' : (options.exportOnExit ?? 'last-exit');
  const path = snapshotPath(context, wanted, options);
  try {
    await emulator.exportSnapshot(path);
    context.note(`saved ${path}`);
  } catch (error) {
    context.note(`no snapshot was saved: ${error instanceof Error ? error.message : error}`);
  }
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

/** Writes the run file and returns its path. Where it cannot be written, other commands only need --target. */
async function announceOnDisk(
  { runtime, settings, note }: CommandContext,
  ready: Ready,
): Promise<string | undefined> {
  try {
    return await writeRunFile(runtime.cwd, { ...ready, program: manifest.version, name: settings.name });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    note(`no run file (${reason}); other commands need --target ${ready.urls.events}`);
    return undefined;
  }
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

/** Writes a line for each request, for people or as JSON, at the end of its turn of the event loop. */
function requestPrinter({ runtime, settings, style }: CommandContext): (request: RequestSummary) => void {
  const { output: format, quiet } = settings;
  if (format === 'env' || (format === 'text' && quiet)) return () => {};
  let lines = '';
  const print = () => {
    runtime.stdout.write(lines);
    lines = '';
  };
  return (request) => {
    if (runtime.stdout.backlogBytes > BACKLOG_MAX_BYTES) return;
    // What one block has paid is answered in one turn, and shares a write.
    if (lines === '') void turnOfEventLoop().then(print);
    lines += `${requestEntry(request, { format, style: style.stdout })}\n`;
  };
}

const isStream = ({ settings }: CommandContext) => settings.output === 'json' || settings.output === 'jsonl';

const portOf = (url: string) => Number(new URL(url).port);
