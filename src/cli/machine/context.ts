/** What every command is given, and nothing else: the process itself stays in main.ts. */
import type { Environment } from '../../compose/env.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Sink } from '../terminal/streams.ts';
import type { ColorChoice, Style } from '../terminal/style.ts';
import type { CommandResult, OutputFormat } from './output.ts';

/** The process, as the program sees it. */
export interface Runtime {
  argv: readonly string[];
  env: Environment;
  cwd: string;
  pid: number;
  stdout: Sink;
  stderr: Sink;
  readStdin: () => Promise<string>;
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
  /** False when nothing may be asked on the terminal. */
  input: boolean;
  target?: string;
  name?: string;
  timeout: number;
}

export interface CommandContext {
  runtime: Runtime;
  settings: GlobalSettings;
  style: { stdout: Style; stderr: Style };
  /** A line for people on stderr, unless they asked for quiet. */
  note: (text: string) => void;
  /** The variables that stand in for options, those of all commands together. */
  optionVariables: readonly string[];
  /** What the envelope will say beside the data; a command fills it in as it learns it. */
  about: { target: string | null; requestId?: string };
}

/**
 * A command's work. Returns what there is to print, or the exit code alone when it printed on its own;
 * throws a CliError when it cannot go on.
 */
export type Handler<Options> = (context: CommandContext, options: Options) => Promise<CommandResult | number>;
