/** Translates a failed start into a message and a fix, where something outside the program is wrong. */
import { RpcUnreachableError } from '../chain/rpc/rpc.ts';
import { isDatabaseUnavailable } from '../ledger/database/database.ts';
import { diskProblem } from '../ledger/database/disk-problem.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';

/** The same failure with a code and a fix; any other error unchanged. */
export function startProblem(
  error: unknown,
  config: {
    databaseUrl?: string | undefined;
    rpcUrl?: string | undefined;
    /** The data folder, where there is one. */
    dataDir?: string | undefined;
  },
): unknown {
  if (isNativeModuleProblem(error)) {
    return new PreconditionError({
      code: 'E_NATIVE_SQLITE',
      message: `The SQLite module cannot be loaded: ${firstLine(error)}`,
      fix: 'Run `npm rebuild better-sqlite3` with the Node version you use now.',
    });
  }
  if (config.rpcUrl && error instanceof RpcUnreachableError) {
    return new PreconditionError({
      code: 'E_RPC_UNREACHABLE',
      message: `The chain node at ${whereIs(config.rpcUrl)} does not answer.`,
      fix: 'Check --rpc-url, or leave it out to let rewards start its own chain.',
    });
  }
  if (config.databaseUrl && isDatabaseUnavailable(error)) {
    return new PreconditionError({
      code: 'E_DATABASE_UNREACHABLE',
      message: `The database at ${whereIs(config.databaseUrl)} cannot be used: ${firstLine(rootOf(error))}`,
      fix: 'Check --database-url, or leave it out to keep the data in a file.',
    });
  }
  const folder = config.databaseUrl ? `the database at ${whereIs(config.databaseUrl)}` : config.dataDir;
  return (
    (folder !== undefined && !(error instanceof PreconditionError) && diskProblem(error, { folder })) || error
  );
}

/** Host and path of an address, without its secrets. */
export function whereIs(url: string): string {
  if (!URL.canParse(url)) return '(an address that cannot be read)';
  const { host, pathname } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname}`;
}

function isNativeModuleProblem(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    /bindings file|better_sqlite3\.node|better-sqlite3/.test(error.message) &&
    (code === undefined || /^(?:ERR_DLOPEN_FAILED|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND)$/.test(code))
  );
}

/** The first cause of an error. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  // When several addresses were tried, the error of any one explains the failure.
  return root instanceof AggregateError && root.errors.length > 0 ? root.errors[0] : root;
}

const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
