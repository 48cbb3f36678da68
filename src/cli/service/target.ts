/** Finds the service that a command talks to: --target, else the stack that runs in this project. */
import { createClient } from '../../client/create-client.ts';
import { type HostUrls, hostUrls } from '../../client/host-urls.ts';
import { findRunFile, namedRuns, type RunInfo } from '../../stack/run-file.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { manifest } from '../machine/manifest.ts';

export interface Target {
  urls: HostUrls;
  controlToken?: string | undefined;
  /** The stack's run file; absent for a service that does not run here. */
  run?: RunInfo | undefined;
}

/** Finds the target and notes it for the envelope; E_NOT_RUNNING when no stack runs here. */
export async function resolveTarget(context: CommandContext): Promise<Target> {
  const { runtime, settings, about } = context;
  const { run, notes } = await findRunFile(runtime.cwd, settings.name);
  const wanted = settings.target;
  const isOurs = run && (wanted === undefined || isOfRun(run, wanted));
  if (wanted !== undefined && !isOurs) {
    about.target = wanted;
    return { urls: hostUrls(wanted), controlToken: runtime.env.REWARDS_CONTROL_TOKEN };
  }
  if (!run) {
    for (const note of notes) context.note(note);
    throw await nothingRuns(context);
  }
  about.target = run.urls.events;
  return { urls: run.urls, controlToken: runtime.env.REWARDS_CONTROL_TOKEN ?? run.controlToken, run };
}

/**
 * The stack that runs here, for commands that need more of it than its address. Throws E_NOT_RUNNING, also where --target
 * names another service.
 */
export async function theRunHere(context: CommandContext): Promise<RunInfo> {
  const { runtime, settings } = context;
  const { run, notes } = await findRunFile(runtime.cwd, settings.name);
  const wanted = settings.target;
  if (run && (wanted === undefined || isOfRun(run, wanted))) return run;
  for (const note of notes) context.note(note);
  if (wanted === undefined) throw await nothingRuns(context);
  throw new CliError('E_NOT_RUNNING', {
    message: `The stack at ${wanted} was not started in this directory or above it.`,
    fix: 'Run the command where `rewards serve` was started, and leave --target out.',
  });
}

const isOfRun = (run: RunInfo, url: string) => Object.values(run.urls).some((one) => isSame(one, url));

/** Whether two addresses reach the same listener: `localhost` is written for 127.0.0.1, and an address may end in a slash. */
function isSame(one: string, other: string): boolean {
  const written = (url: string) => url.replace(/\/+$/, '').replace('//localhost:', '//127.0.0.1:');
  return written(one) === written(other);
}

/** A client for the target, set up from the global options. */
export const clientFor = ({ urls, controlToken }: Target, { settings }: CommandContext) =>
  createClient({
    urls,
    controlToken,
    timeoutMs: settings.timeout,
    userAgent: `rewards-cli/${manifest.version}`,
  });

/** Calls of the target's control API. */
export const callFor = async (context: CommandContext) =>
  clientFor(await resolveTarget(context), context).call;

async function nothingRuns({ runtime, settings }: CommandContext): Promise<CliError> {
  if (settings.name)
    return new CliError('E_NOT_RUNNING', { message: `No stack named ${settings.name} is running here.` });
  const names = await namedRuns(runtime.cwd);
  if (names.length === 0) return new CliError('E_NOT_RUNNING');
  return new CliError('E_NOT_RUNNING', {
    message: 'Only stacks with names are running here.',
    fix: `Choose one with --name: ${names.join(', ')}.`,
    details: { names },
  });
}
