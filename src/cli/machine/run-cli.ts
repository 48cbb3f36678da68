/** One run of the program: parse, perform, and answer with an exit code. */
import { type Command, CommanderError } from 'commander';
import type { Runtime } from './context.ts';
import { problemOf } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { negativeOf } from './options.ts';
import { type OutputFormat, outputFormats } from './output.ts';
import { pathOf, perform, print, problemFrom } from './perform.ts';
import { buildProgram } from './program.ts';

/** Resolves with the exit code; everything else has been written to the runtime's streams. */
export async function runCli(runtime: Runtime): Promise<number> {
  let exitCode: number = exitCodes.done;
  const { program, atFault, typed } = buildProgram(runtime, async (command, load) => {
    exitCode = await perform(typing, command, load);
  });
  const typing: Runtime = { ...runtime, typed };
  if (runtime.argv.length === 0) {
    program.outputHelp();
    return exitCode;
  }
  try {
    await program.parseAsync([...runtime.argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    // A group without a verb, such as `clock`: commander has printed the group's help on stderr.
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    const command = pathOf(atFault());
    const problem = error instanceof CommanderError ? usageProblem(error, atFault()) : problemFrom(error);
    return print(
      typing,
      { ok: false, error: problem },
      { settings: { output: wantedFormat(runtime) }, meta: { command, durationMs: 0, target: null } },
    );
  }
}

/** Splits commander's text into the problem and its suggestion. */
function usageProblem(error: CommanderError, command: Command) {
  const [, given] = NEGATIVE.exec(error.message.replace(/^error: /, '')) ?? [];
  const answer = given === undefined ? undefined : negativeOf(command, given);
  if (answer) return problemFrom(answer);
  const [, message = error.message, suggestion] =
    /^(?:error: )?([\s\S]*?)(?:\n\((Did you mean [\s\S]*)\))?$/.exec(error.message) ?? [];
  const help = ['rewards', pathOf(command), '--help'].filter(Boolean).join(' ');
  return problemOf('E_USAGE', {
    message: plainer(message),
    fix: suggestion ?? `\`${help}\` lists what it takes.`,
  });
}

/** A negative number looks like an option that is unknown. */
const NEGATIVE = /^unknown option '(-\d\S*)'$/;

/** Commander's texts about values in plainer words. */
function plainer(message: string): string {
  const [, negative] = NEGATIVE.exec(message) ?? [];
  if (negative !== undefined) return `${negative} is less than nothing, and nothing here can be.`;
  const [, value, argument, mustBe] =
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s.exec(message) ?? [];
  return argument === undefined ? message : `${value} is not a <${argument}>. ${mustBe}`;
}

/** The format asked for on a command line that could not be parsed. */
function wantedFormat({ argv, env }: Runtime): OutputFormat {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  if (words.includes('--json')) return 'json';
  const at = words.findLastIndex((word) => /^(-o|--output)/.test(word));
  const word = words[at]?.replace(/^(--output|-o)=?/, '') || words[at + 1];
  const wanted = at === -1 ? env.REWARDS_OUTPUT : word;
  return outputFormats.find((format) => format === wanted) ?? 'text';
}
