/** The list of commands: names, summaries and options. A command's handler is loaded when it runs. */
import { Command, Help } from 'commander';
import { aboutCommands } from '../about/commands.ts';
import { aroundCommands } from '../around/commands.ts';
import { checkCommands } from '../check/commands.ts';
import { emulatorCommands } from '../emulator/commands.ts';
import { runCommands } from '../run/commands.ts';
import { setupCommands } from '../setup/commands.ts';
import { talkCommands } from '../talk/commands.ts';
import { wantsColor } from '../terminal/style.ts';
import { asTyped } from './as-typed.ts';
import type { Runtime } from './context.ts';
import { declareHelp, firstHelp } from './first-help.ts';
import { manifest } from './manifest.ts';
import { durationMs, everyCommand, httpUrl, option, stackName, variableOf } from './options.ts';
import { outputFormats } from './output.ts';
import { declareVerbs, type Perform, type Verbs } from './verb.ts';

/** The whole command tree, the command at which parsing stopped, and the way to write commands as they are typed here. */
export function buildProgram(
  runtime: Runtime,
  perform: Perform,
): { program: Command; atFault: () => Command; typed: (text: string) => string } {
  const program = new Command('rewards');
  let fault = program;
  // Known when all commands are declared, and asked for when one of them runs.
  let typed = (text: string) => text;
  // The program's own help is the first screen, unless all of it is asked for.
  let isWhole = false;
  const isFirst = (command: Command) => command === program && !isWhole;

  program
    .description(manifest.description)
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .configureOutput({
      writeOut: (text) => runtime.stdout.write(typed(text)),
      writeErr: (text) => runtime.stderr.write(typed(text)),
      // Printed with the rest of the output, in the chosen format.
      outputError: () => {},
      getOutHasColors: () => wantsColor({ choice: 'auto', env: runtime.env, isTTY: runtime.stdout.isTTY }),
      getErrHasColors: () => wantsColor({ choice: 'auto', env: runtime.env, isTTY: runtime.stderr.isTTY }),
    })
    .configureHelp({
      showGlobalOptions: true,
      formatHelp: (command, helper) =>
        isFirst(command) ? firstHelp(program) : Help.prototype.formatHelp.call(helper, command, helper),
      optionDescription: (described) => {
        const facts = [
          described.argChoices && `one of ${described.argChoices.join(', ')}`,
          described.defaultValue !== undefined && !described.isBoolean() && !described.negate
            ? `default ${described.defaultValueDescription ?? described.defaultValue}`
            : undefined,
          variableOf(described),
        ].filter(Boolean);
        const text = typed(described.description);
        return facts.length > 0 ? `${text} [${facts.join('; ')}]` : text;
      },
    })
    .addHelpText('after', ({ command }) => (isFirst(command) ? '' : EXIT_CODES));

  for (const global of globalOptions()) program.addOption(global);
  for (const [title, commands] of groups) {
    program.commandsGroup(title);
    declareVerbs(program, commands, perform);
  }
  declareHelp(program, () => {
    isWhole = true;
    program.outputHelp();
  });

  for (const command of everyCommand(program)) {
    command.exitOverride((error) => {
      fault = command;
      throw error;
    });
  }
  typed = asTyped(
    runtime.program,
    program.commands.map((command) => command.name()),
  );
  return { program, atFault: () => fault, typed };
}

/** The groups of the help. */
const groups: readonly (readonly [title: string, commands: Verbs])[] = [
  ['Run it:', runCommands],
  ['Around your own commands:', aroundCommands],
  ['Check it:', checkCommands],
  ['Talk to it:', talkCommands],
  ['Set it up:', setupCommands],
  ['Steer the emulator:', emulatorCommands],
  ['Read about it:', aboutCommands],
];

const EXIT_CODES =
  '\nExit codes: 0 done, 1 the answer is no, 2 usage or file, 3 unreachable or timed out, 5 precondition, 99 a load threshold was crossed, 130/143 interrupted.\nrewards sends no telemetry.';

const globalOptions = () => [
  option('-o, --output <format>', 'how to print', {
    env: 'REWARDS_OUTPUT',
    default: 'text',
    choices: outputFormats,
  }),
  option('--json', 'the same as --output json').implies({ output: 'json' }),
  option('-q, --quiet', 'no notes on stderr', { env: 'REWARDS_QUIET', default: false }),
  option('--color <when>', 'colours', {
    env: 'REWARDS_COLOR',
    default: 'auto',
    choices: ['auto', 'always', 'never'],
  }),
  option('--no-input', 'never ask on the terminal', { env: 'REWARDS_NO_INPUT' }),
  option('--target <url>', 'the service to talk to, instead of the stack that runs here', {
    env: 'REWARDS_TARGET',
    parse: httpUrl,
  }),
  option('--name <stack>', 'name of the stack, when several run here', {
    env: 'REWARDS_NAME',
    parse: stackName,
  }),
  option('--timeout <duration>', 'longest wait for an answer', {
    env: 'REWARDS_TIMEOUT',
    default: 30_000,
    parse: durationMs,
  }).default(30_000, '30s'),
];
