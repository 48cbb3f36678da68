/** The one path from a parsed command line to printed output and an exit code. */
import type { Command } from 'commander';
import { ClientError } from '../../client/client-error.ts';
import { stopwatch } from '../../lib/timers.ts';
import { styleFor } from '../terminal/style.ts';
import { wrapWords } from '../terminal/wrap.ts';
import type { CommandContext, GlobalSettings, Handler, Runtime } from './context.ts';
import { CliError, codedProblem, type Problem, problemOf } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { applyEnvironment, variablesOf } from './options.ts';
import { type CommandResult, exitCodeOf, problemText, render } from './output.ts';

/** Runs a command's handler, prints what it returns or throws, and resolves with the exit code. */
export async function perform<Options>(
  runtime: Runtime,
  command: Command,
  load: () => Promise<Handler<Options>>,
): Promise<number> {
  const elapsedMs = stopwatch();
  const about: CommandContext['about'] = { target: null };
  let settings: GlobalSettings | undefined;
  let result: CommandResult | number;
  try {
    // Known before the variables are read, so that a problem with one of them is printed in the format that was asked for.
    settings = command.optsWithGlobals<GlobalSettings>();
    applyEnvironment(command, runtime.env);
    settings = command.optsWithGlobals<GlobalSettings>();
    const run = await load();
    result = await run(contextOf(runtime, { command, settings, about }), inputOf<Options>(command));
  } catch (error) {
    result = { ok: false, error: problemFrom(error) };
  }
  if (typeof result === 'number') return result;
  return print(runtime, result, {
    settings,
    meta: { command: pathOf(command), durationMs: Math.round(elapsedMs()), ...about },
  });
}

/** Prints a result in the chosen format; returns its exit code. */
export function print(
  runtime: Runtime,
  result: CommandResult,
  {
    settings,
    meta,
  }: { settings?: Partial<GlobalSettings> | undefined; meta: Parameters<typeof render>[1]['meta'] },
): number {
  const style = stylesOf(runtime, settings?.color);
  const typed = runtime.typed ?? ((text: string) => text);
  const isText = (settings?.output ?? 'text') === 'text';
  // The texts are rewritten as a whole, the other formats in their hints alone: the rest of them is data.
  const shown = result.ok || isText ? result : { ...result, error: typedProblem(result.error, typed) };
  const bytes = render(shown, {
    format: settings?.output ?? 'text',
    meta,
    stdoutStyle: style.stdout,
    stderrStyle: style.stderr,
  });
  if (result.ok && result.into) return printInto(runtime, { ...result.into, text: bytes.stdout }, settings);
  for (const name of ['stdout', 'stderr'] as const) {
    const { columns, write } = runtime[name];
    const text = isText ? typed(bytes[name]) : bytes[name];
    write(isText && columns !== undefined ? wrapWords(text, columns, 2) : text);
  }
  return exitCodeOf(result);
}

/** A secret that is shown once is printed after all where the file fails. */
function printInto(
  runtime: Runtime,
  { name, write, text }: { name: string; write: (text: string) => void; text: string },
  settings: Partial<GlobalSettings> | undefined,
): number {
  const style = stylesOf(runtime, settings?.color).stderr;
  try {
    write(text);
  } catch (error) {
    runtime.stdout.write(text);
    const problem = problemFrom(error);
    runtime.stderr.write(`${problemText(problem, style)}\n`);
    return exitCodeOf({ ok: false, error: problem });
  }
  if (!settings?.quiet) runtime.stderr.write(`${style.yellow('note')}: ${name} is written\n`);
  return exitCodes.done;
}

const typedProblem = (problem: Problem, typed: (text: string) => string): Problem => ({
  ...problem,
  message: typed(problem.message),
  fix: typed(problem.fix),
});

/** The words that name a command on the command line, such as `clock advance`. */
export function pathOf(command: Command): string {
  const words: string[] = [];
  for (let level: Command | null = command; level?.parent; level = level.parent) words.unshift(level.name());
  return words.join(' ');
}

function contextOf(
  runtime: Runtime,
  {
    command,
    settings,
    about,
  }: { command: Command; settings: GlobalSettings; about: CommandContext['about'] },
): CommandContext {
  const style = stylesOf(runtime, settings.color);
  return {
    runtime,
    settings,
    style,
    about,
    optionVariables: variablesOf(command),
    note: (text) => {
      if (!settings.quiet)
        runtime.stderr.write(`${style.stderr.yellow('note')}: ${runtime.typed?.(text) ?? text}\n`);
    },
  };
}

const stylesOf = ({ env, stdout, stderr }: Runtime, choice: GlobalSettings['color'] = 'auto') => ({
  stdout: styleFor({ choice, env, isTTY: stdout.isTTY }),
  stderr: styleFor({ choice, env, isTTY: stderr.isTTY }),
});

/** Options and positional arguments in one record, each under its own name. */
function inputOf<Options>(command: Command): Options {
  const positional = command.registeredArguments.map((argument, index) => [
    argument.name(),
    command.processedArgs[index],
  ]);
  return { ...command.opts(), ...Object.fromEntries(positional) } as Options;
}

/** Translates a thrown value into a problem for the user. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof CliError) return error.problem;
  if (error instanceof ClientError) {
    const details = { origin: error.origin, kind: error.kind };
    if (error.kind === 'timeout') return problemOf('E_TIMEOUT', { message: error.message, details });
    const fix =
      error.kind === 'broken'
        ? { fix: 'The request may have taken effect: check before you repeat it.' }
        : {};
    return problemOf('E_UNREACHABLE', { message: error.message, details, ...fix });
  }
  const coded = codedProblem(error);
  if (coded) return coded;
  const stack = error instanceof Error ? error.stack : undefined;
  return problemOf('E_INTERNAL', {
    message: stack ?? `A value that is not an Error was thrown: ${String(error)}`,
    details: { stack },
  });
}
