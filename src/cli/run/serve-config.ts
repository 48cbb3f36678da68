/** What a stack is started with: the options of `serve` and of the commands that start one as it does. */
import { join, resolve } from 'node:path';
import type { Environment } from '../../compose/env.ts';
import type { ServeConfig } from '../../emulator/serve-config.ts';
import { jsonLog, type LogLevel } from '../../lib/log.ts';
import { namesOf, unknownVariables } from '../../lib/setting.ts';
import { knownVariables } from '../check/known-variables.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { logLine } from './banner.ts';
import { dataFolder } from './data-folder.ts';
import { serveSettings } from './serve-settings.ts';

const DEFAULT_PORT = 8787;
const DEFAULT_RPC_PORT = 8545;

export interface ServeOptions {
  port?: number;
  rpcPort?: number;
  rpcUrl?: string;
  blockTime: number;
  splitHosts?: boolean;
  ephemeral?: boolean;
  persistTo?: string;
  seed?: string[];
  import?: string;
  clock?: number;
  freeze?: boolean;
  databaseUrl?: string;
  ownDomain?: string;
  addressRequests: number;
  errorDialect: 'current' | 'earlier';
  logLevel: LogLevel;
}

/** Says which variables have no effect here, and what was probably meant. */
export function noteVariables(context: CommandContext, options: ServeOptions): void {
  const { env } = context.runtime;
  const old = oldVariables(env, options);
  for (const note of old) context.note(note);
  for (const { variable, message, fix } of unknownVariables(env, knownVariables(context)))
    if (!old.some((note) => note.startsWith(`${variable} `))) context.note(`warning: ${message}: ${fix}`);
}

/** Throws E_USAGE for options that exclude each other. `alsoTo` gets every line of the log, in JSON, besides stderr. */
export function serveConfig(
  context: CommandContext,
  options: ServeOptions,
  alsoTo: (line: string) => void = () => {},
): ServeConfig {
  const toStderr = logWriter(context);
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
    importFile: options.import === undefined ? undefined : snapshotPath(context, options.import, options),
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
    log: jsonLog({
      level: options.logLevel,
      now: () => runtime.clock.now(),
      write(line) {
        toStderr(line);
        alsoTo(line);
      },
    }),
  };
}

/** A snapshot by its name among those of the data folder, or by its path. */
export function snapshotPath(
  context: CommandContext,
  snapshot: string,
  { persistTo }: Pick<ServeOptions, 'persistTo'>,
): string {
  if (/[/\\]|\.rewards$/.test(snapshot)) return resolve(context.runtime.cwd, snapshot);
  return join(dataFolder(context, persistTo), 'snapshots', `${snapshot}.rewards`);
}

/** Logs go to stderr in every format: the first line of stdout belongs to what is ready. */
function logWriter({ runtime, settings, style }: CommandContext): (line: string) => void {
  return (line) => runtime.stderr.write(settings.output === 'text' ? logLine(line, style.stderr) : line);
}

/** A person who sets one of these may believe that serve uses this database. */
const OF_PRODUCTION = ['REWARDS_DATABASE_URL', 'REWARDS_DATABASE_URL_FILE'];

/**
 * Throws E_USAGE in a shell that names production's database, unless `options` or a variable of serve name its own;
 * returns a note for each other variable that looks like one of serve's.
 */
function oldVariables(env: Environment, options: { databaseUrl?: string | undefined }): string[] {
  const ofProduction = OF_PRODUCTION.find((name) => env[name] !== undefined);
  if (ofProduction && options.databaseUrl === undefined) {
    throw new CliError('E_USAGE', {
      message: `${ofProduction} is a setting of \`rewards start\`; \`rewards serve\` does not use that database.`,
      fix: `Unset it for this command (\`env -u ${ofProduction} rewards serve\`); to use a database of your own, set REWARDS_DEV_DATABASE_URL.`,
      details: { variable: ofProduction, instead: 'REWARDS_DEV_DATABASE_URL' },
    });
  }
  return serveSettings.flatMap((row) => {
    const { variable } = namesOf(row);
    const old = variable.replace('REWARDS_DEV_', 'REWARDS_');
    const isMeant = env[old] !== undefined && env[variable] === undefined && !OF_PRODUCTION.includes(old);
    return isMeant ? [`${old} is not a variable of serve; it reads ${variable}`] : [];
  });
}
