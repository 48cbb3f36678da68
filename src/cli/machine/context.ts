/** Everything that a command gets; only main.ts touches the process itself. */
import type { Environment } from '../../compose/env.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Sink } from '../terminal/streams.ts';
import type { ColorChoice, Style } from '../terminal/style.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { CommandResult, OutputFormat } from './output.ts';

/** The process, as the program sees it. */
export interface Runtime {
  argv: readonly string[];
  /** What was typed to run this program: `rewards` or `npx rewards`. */
  program: string;
  /** Runs this program once more; absent where it runs inside another program. */
  self?: { node: string; script: string };
  /** Writes the commands in a hint as they are typed here. */
  typed?: (text: string) => string;
  env: Environment;
  /** Variables of ours that are set and empty, which `env` leaves out. */
  emptyVariables?: readonly string[];
  cwd: string;
  pid: number;
  stdout: Sink;
  stderr: Sink;
  readStdin: () => Promise<string>;
  /** Asks on the terminal for one line; absent where stdin or stderr is not a terminal. */
  ask?: (question: string) => Promise<string>;
  /** Whether stdin is a terminal. */
  atTerminal?: boolean;
  /** Where stdin, stdout and stderr are one, for what draws on it. */
  terminal?: Terminal;
  /** Calls `listener` at each stop signal until the returned function is called. */
  onSignal: (listener: (signal: StopSignal) => void) => () => void;
  clock: Clock;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The options that every command has. */
export interface GlobalSettings {
  output: OutputFormat;
  quiet: boolean;
  color: ColorChoice;
  /** False: the command must not ask on the terminal. */
  input: boolean;
  target?: string;
  name?: string;
  timeout: number;
}

export interface CommandContext {
  runtime: Runtime;
  settings: GlobalSettings;
  style: { stdout: Style; stderr: Style };
  /** Prints a line for people on stderr, except with --quiet. */
  note: (text: string) => void;
  /** The environment variables of the options of all commands. */
  optionVariables: readonly string[];
  /** The envelope's fields beside the data; a command fills them in as it learns them. */
  about: { target: string | null; requestId?: string };
}

/**
 * Runs a command. Returns the result to print, or only the exit code when the command printed by itself;
 * throws a CliError when it cannot go on.
 */
export type Handler<Options> = (context: CommandContext, options: Options) => Promise<CommandResult | number>;
