/** Every way in which a command can fail: what to say, what to do about it, how to leave. */

import { startErrors } from '../../production/start-errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

interface ErrorEntry {
  exit: ExitCode;
  /** What failed, used when the place that noticed cannot say it better. */
  message: string;
  /** What the reader can do about it. */
  fix: string;
  /** Whether the same command may succeed later, unchanged. */
  retryable: boolean;
}

/** Those of production, as sentences. */
const ofStart = Object.fromEntries(
  Object.entries(startErrors).map(([code, { exit, message, fix }]): [string, ErrorEntry] => [
    code,
    {
      exit: exitCodes[exit],
      message: sentence(message),
      fix: sentence(fix),
      retryable: exit === 'temporary',
    },
  ]),
);

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export const errorTable = {
  E_USAGE: {
    exit: exitCodes.usage,
    message: 'The command line is not understood.',
    fix: 'Look at `rewards <command> --help`.',
    retryable: false,
  },
  E_FILE: {
    exit: exitCodes.usage,
    message: 'A file cannot be read.',
    fix: 'Check the path and its permissions; `-` reads from standard input.',
    retryable: false,
  },
  E_BODY: {
    exit: exitCodes.usage,
    message: 'The body is no JSON object.',
    fix: 'Give one JSON object with at least brandId, eventType and userEmail.',
    retryable: false,
  },
  E_FIXTURE: {
    exit: exitCodes.usage,
    message: 'A seed file does not fit its schema.',
    fix: 'Correct the named lines; fixtures/demo.yaml shows every field.',
    retryable: false,
  },
  E_REFUSED: {
    exit: exitCodes.refused,
    message: 'The service said no.',
    fix: 'The details say which rule refused and when it would pass.',
    retryable: false,
  },
  E_LIMIT_BROKEN: {
    exit: exitCodes.refused,
    message: 'The limit does not hold as it should.',
    fix: 'The details say what is wrong; `rewards requests list` shows single answers.',
    retryable: false,
  },
  E_THRESHOLD: {
    exit: exitCodes.threshold,
    message: 'A threshold was crossed.',
    fix: 'The values are beside the thresholds; the run itself went through.',
    retryable: false,
  },
  E_SERVICE_FAILED: {
    exit: exitCodes.refused,
    message: 'The service failed to answer properly.',
    fix: 'Read the log of the service, then try again with the same idempotency key.',
    retryable: true,
  },
  E_UNEXPECTED_ANSWER: {
    exit: exitCodes.refused,
    message: 'The answer is not the expected one.',
    fix: 'Compare the answer with --expect.',
    retryable: false,
  },
  E_INTERNAL: {
    exit: exitCodes.refused,
    message: 'This is a defect in rewards.',
    fix: 'Report it together with the stack trace; rewards sends no reports by itself.',
    retryable: false,
  },
  E_NOT_RUNNING: {
    exit: exitCodes.unreachable,
    message: 'Nothing is running here.',
    fix: 'Start a stack with `rewards serve`, or name one with --target <url>.',
    retryable: true,
  },
  E_UNREACHABLE: {
    exit: exitCodes.unreachable,
    message: 'The target cannot be reached.',
    fix: 'Check that it runs and that the address is right.',
    retryable: true,
  },
  E_TIMEOUT: {
    exit: exitCodes.unreachable,
    message: 'The target did not answer in time.',
    fix: 'Allow more with --timeout, such as --timeout 60s.',
    retryable: true,
  },
  E_RPC_UNREACHABLE: {
    exit: exitCodes.unreachable,
    message: 'The chain node does not answer.',
    fix: 'Check --rpc-url, or leave it out to let rewards start its own chain.',
    retryable: true,
  },
  E_DATABASE_UNREACHABLE: {
    exit: exitCodes.unreachable,
    message: 'The database does not answer.',
    fix: 'Check --database-url, or leave it out to keep the data in a file.',
    retryable: true,
  },
  E_PORT_TAKEN: {
    exit: exitCodes.precondition,
    message: 'The port is taken.',
    fix: 'Choose another with --port, or any free one with --port 0.',
    retryable: false,
  },
  E_DATA_IN_USE: {
    exit: exitCodes.precondition,
    message: 'Another stack owns this data directory.',
    fix: 'Stop it, or use --persist-to with another directory, or --ephemeral.',
    retryable: false,
  },
  E_NOT_EMULATOR: {
    exit: exitCodes.precondition,
    message: 'This target is no emulator, so it has no controls.',
    fix: 'Use a stack started with `rewards serve`.',
    retryable: false,
  },
  E_CONTROL_TOKEN: {
    exit: exitCodes.precondition,
    message: 'The control token is missing or wrong.',
    fix: 'Run the command in the directory of the stack, or set REWARDS_CONTROL_TOKEN.',
    retryable: false,
  },
  E_NO_USER_KEY: {
    exit: exitCodes.precondition,
    message: 'The key of this user is not known here.',
    fix: 'Sign with the wallet that holds it, and give what is signed with --data.',
    retryable: false,
  },
  E_CHAIN_CHANGED: {
    exit: exitCodes.precondition,
    message: 'The data was written for another chain.',
    fix: 'Use --ephemeral, or another folder with --persist-to.',
    retryable: false,
  },
  E_MIGRATIONS_PENDING: {
    exit: exitCodes.precondition,
    message: 'The database does not have the newest tables yet.',
    fix: 'Run `rewards db migrate` with the same --database-url first.',
    retryable: false,
  },
  E_ANVIL_MISSING: {
    exit: exitCodes.precondition,
    message: 'The local chain cannot be started: the anvil program is missing.',
    fix: 'Run `npm ci` with optional dependencies, or use --rpc-url with a node of your own.',
    retryable: false,
  },
  E_NATIVE_SQLITE: {
    exit: exitCodes.precondition,
    message: 'The SQLite module cannot be loaded.',
    fix: 'Run `npm rebuild better-sqlite3` with the Node version you use now.',
    retryable: false,
  },
  E_UNSAFE_DATABASE: {
    exit: exitCodes.precondition,
    message: 'The database is set to forget what it acknowledged.',
    fix: 'Turn fsync and synchronous_commit on.',
    retryable: false,
  },
  E_ANVIL_START: {
    exit: exitCodes.precondition,
    message: 'The local chain did not start.',
    fix: 'Run `npx anvil --version` to see why.',
    retryable: false,
  },
  ...(ofStart as Record<keyof typeof startErrors, ErrorEntry>),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** What keeps a command from going on. */
export interface Problem {
  code: ErrorCode;
  message: string;
  fix: string;
  retryable: boolean;
  details: unknown;
}

/** Ends a command that cannot go on; the table gives what is not said here. */
export class CliError extends Error {
  readonly problem: Problem;
  constructor(code: ErrorCode, said: Partial<Omit<Problem, 'code'>> = {}, options?: ErrorOptions) {
    super(said.message ?? errorTable[code].message, options);
    this.name = 'CliError';
    this.problem = problemOf(code, said);
  }
}

/** Fills what is not said from the table. */
export function problemOf(code: ErrorCode, said: Partial<Omit<Problem, 'code'>> = {}): Problem {
  const { message, fix, retryable } = errorTable[code];
  return {
    code,
    message: said.message ?? message,
    fix: said.fix ?? fix,
    retryable: said.retryable ?? retryable,
    details: said.details ?? null,
  };
}

/** What an error from a layer below means, when it carries one of our codes; its own advice comes first. */
export function codedProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (!Object.hasOwn(errorTable, error.code)) return undefined;
  const { fix, details } = error as { fix?: unknown; details?: unknown };
  return problemOf(error.code as ErrorCode, {
    message: error.message,
    ...(typeof fix === 'string' && { fix }),
    details,
  });
}
