/** Every way in which a command can fail: message, fix, exit code. */

import { startErrors } from '../../production/start-errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

interface ErrorEntry {
  exit: ExitCode;
  /** The default message; code that knows more passes its own. */
  message: string;
  /** What the reader can do about it. */
  fix: string;
  /** Whether the same command may succeed later, unchanged. */
  retryable: boolean;
}

/** Production's problems, as sentences. */
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

/** Texts of errors that leave in the same way; what could not be reached may be there later. */
const entries = <Code extends string>(
  exit: ExitCode,
  texts: Record<Code, [message: string, fix: string, retryable?: 'retryable']>,
) =>
  Object.fromEntries(
    Object.entries<(typeof texts)[Code]>(texts).map(([code, [message, fix, retryable]]) => [
      code,
      { exit, message, fix, retryable: exit === exitCodes.unreachable || retryable !== undefined },
    ]),
  ) as Record<Code, ErrorEntry>;

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export const errorTable = {
  ...entries(exitCodes.usage, {
    E_USAGE: ['The command line is not understood.', 'Look at `rewards <command> --help`.'],
    E_FILE: ['A file cannot be read.', 'Check the path and its permissions; `-` reads from standard input.'],
    E_BODY: [
      'The body is not a JSON object.',
      'Give one JSON object with at least brandId, eventType and userEmail.',
    ],
    E_FIXTURE: [
      'A seed file does not fit its schema.',
      'Correct the named lines; fixtures/demo.yaml shows every field.',
    ],
    E_SCENARIO: [
      'A scenario does not fit its format.',
      'Correct the named lines; docs/scenarios.md has every step and every matcher.',
    ],
  }),
  ...entries(exitCodes.refused, {
    E_REFUSED: [
      'The service refused the request.',
      'Look at the details: they name the rule that refused, and when the request would pass.',
    ],
    E_LIMIT_BROKEN: [
      'The service does not keep its limit.',
      'Look at the details; `rewards requests list` shows each answer.',
    ],
    E_SERVICE_FAILED: [
      'The service failed to answer properly.',
      'Read the log of the service, then try again with the same idempotency key.',
      'retryable',
    ],
    E_UNHEALTHY: [
      'A part of the stack does not work.',
      'Look at the log of the stack; a restart of `rewards serve` keeps its data.',
    ],
    E_UNEXPECTED_ANSWER: ['The answer is not the expected one.', 'Compare the answer with --expect.'],
    E_UNEXPECTED_EFFECTS: [
      'The deliveries did not do what was expected.',
      'Look at the deliveries: `rewards requests list` shows what the service answered to each.',
    ],
    E_SCENARIO_FAILED: [
      'A scenario failed.',
      'Look at the named lines: each has what was expected and what came.',
    ],
    E_SCENARIO_UNSUPPORTED: [
      'A scenario cannot run on this target.',
      'Run it without --target, on a stack of its own; or leave it out with --skip-unsupported, and a single step with `if-supported: true`.',
    ],
    E_SIGNATURE: [
      'The signature does not verify.',
      'Add --explain to `rewards webhooks verify`: it names the part that fails.',
    ],
    E_INTERNAL: [
      'This is a defect in rewards.',
      'Report it together with the stack trace; rewards sends no reports by itself.',
    ],
  }),
  ...entries(exitCodes.threshold, {
    E_THRESHOLD: [
      'A threshold was crossed.',
      'Compare the measured values with the thresholds; the run itself completed.',
    ],
  }),
  ...entries(exitCodes.unreachable, {
    E_NOT_RUNNING: [
      'No stack is running here.',
      'Start a stack with `rewards serve`, or name one with --target <url>.',
    ],
    E_UNREACHABLE: [
      'The target cannot be reached.',
      'Check that the target runs and that its address is right.',
    ],
    E_TIMEOUT: ['The target did not answer in time.', 'Allow more with --timeout, such as --timeout 60s.'],
    E_RPC_UNREACHABLE: [
      'The chain node does not answer.',
      'Check --rpc-url, or leave it out to let rewards start its own chain.',
    ],
    E_DATABASE_UNREACHABLE: [
      'The database does not answer.',
      'Check --database-url, or leave it out to keep the data in a file.',
    ],
  }),
  ...entries(exitCodes.precondition, {
    E_PORT_TAKEN: ['The port is taken.', 'Choose another with --port, or any free one with --port 0.'],
    E_LISTEN: [
      'The service cannot listen there.',
      'Name an address of this machine, and a port that its user may take.',
    ],
    E_DATA_IN_USE: [
      'Another stack owns this data directory.',
      'Stop it, or use --persist-to with another directory, or --ephemeral.',
    ],
    E_NOT_EMULATOR: [
      'This target is not an emulator, so it has no controls.',
      'Use a stack started with `rewards serve`.',
    ],
    E_NOT_REPLAYABLE: ['This request cannot be sent again.', 'Choose another with `rewards requests list`.'],
    E_CONTROL_TOKEN: [
      'The control token is missing or wrong.',
      'Run the command in the directory of the stack; REWARDS_CONTROL_TOKEN, where it is set, must be of that stack.',
    ],
    E_NO_USER_KEY: [
      'This stack does not have the key of this user.',
      'Sign with the wallet that holds the key, and pass the signed call with --data.',
    ],
    E_CHAIN_CHANGED: [
      'The data was written for another chain.',
      'Use --ephemeral, or another folder with --persist-to.',
    ],
    E_NO_PERMISSION: [
      'This user may not write to the data folder.',
      'Make it writable, or choose another folder with --persist-to.',
    ],
    E_DISK_FULL: ['The disk is full.', 'Make room, or choose another folder with --persist-to.'],
    E_DISK: [
      'The disk does not take what is written to it.',
      "Look at the system's log for errors of the disk.",
    ],
    E_DATA_FOLDER: ['The data folder is a file.', 'Choose another folder with --persist-to.'],
    E_LEDGER_GARBLED: ['The ledger is damaged.', 'Put a copy back from before, or run `rewards reset`.'],
    E_LEDGER_NEWER: ['The data is of a newer version of rewards.', 'Run the newer version.'],
    E_SNAPSHOT: ['The snapshot cannot be used.', 'Take another copy of the file, or another snapshot.'],
    E_OUTPUT: ['The output cannot be written.', 'Check where it goes: the disk may be full.'],
    E_PRODUCTION_LEDGER: [
      'This ledger belongs to a production service.',
      'Give `rewards serve` a database of its own.',
    ],
    E_REAL_CHAIN: [
      'The node is not of a development chain.',
      'Leave --rpc-url out, or give a development node.',
    ],
    E_MIGRATIONS_PENDING: [
      'The database does not have the newest tables yet.',
      'Run `rewards db migrate` with the same --database-url first.',
    ],
    E_ANVIL_MISSING: [
      'The local chain cannot be started: the anvil program is missing.',
      'Run `npm ci` with optional dependencies, or use --rpc-url with a node of your own.',
    ],
    E_NATIVE_SQLITE: [
      'The SQLite module cannot be loaded.',
      'Run `npm rebuild better-sqlite3` with the Node version you use now.',
    ],
    E_UNSAFE_DATABASE: [
      'The database can lose commits that it acknowledged.',
      'Turn fsync and synchronous_commit on.',
    ],
    E_ANVIL_START: ['The local chain did not start.', 'Run `npx anvil --version` to see why.'],
  }),
  ...(ofStart as Record<keyof typeof startErrors, ErrorEntry>),
};

export type ErrorCode = keyof typeof errorTable;

/** The error that ends a command. */
export interface Problem {
  code: ErrorCode;
  message: string;
  fix: string;
  retryable: boolean;
  details: unknown;
}

/** Thrown to end a command; the table supplies the texts that are not passed. */
export class CliError extends Error {
  readonly problem: Problem;
  constructor(code: ErrorCode, said: Partial<Omit<Problem, 'code'>> = {}, options?: ErrorOptions) {
    super(said.message ?? errorTable[code].message, options);
    this.name = 'CliError';
    this.problem = problemOf(code, said);
  }
}

/** What is wrong with the command line, and what to write in its place. */
export const usageError = (message: string, fix: string) => new CliError('E_USAGE', { message, fix });

/** Completes a problem from the table. */
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

/** Translates an error from a layer below when it carries one of our codes; its own fix comes first. */
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
