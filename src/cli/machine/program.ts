/** The list of commands: names, summaries and options. A command's handler is loaded when it runs. */
import { Command, Help } from 'commander';
import { declareCompletion } from '../about/commands.ts';
import { declareAchievements } from '../achievements/declare.ts';
import { declareWait } from '../around/commands.ts';
import { declareLane } from '../check/commands.ts';
import { declareCheckout } from '../checkout/declare.ts';
import { declareConfig } from '../config/declare.ts';
import { declareConstraintUpdater } from '../constraint-updater/declare.ts';
import { declareConstraints } from '../constraints/declare.ts';
import { declareContracts } from '../contracts/declare.ts';
import { declareClock } from '../emulator/commands.ts';
import { declareEnv } from '../env/declare.ts';
import { declareExec } from '../exec/declare.ts';
import { declareFaults } from '../faults/declare.ts';
import { declareInit } from '../init/declare.ts';
import { declareKeys } from '../keys/declare.ts';
import { declareLeaderboard } from '../leaderboard/declare.ts';
import { declareLoad } from '../load/declare.ts';
import { declareLogs } from '../logs/declare.ts';
import { declareMint } from '../mint/declare.ts';
import { declareOpen } from '../open/declare.ts';
import { declareOpenapi } from '../openapi/declare.ts';
import { declarePerks } from '../perks/declare.ts';
import { declareReceiver } from '../receiver/declare.ts';
import { declareRecover } from '../recover/declare.ts';
import { declareRedemptions } from '../redemptions/declare.ts';
import { declareRelay } from '../relay/declare.ts';
import { declareReset } from '../reset/declare.ts';
import { declareDatabase, declareDoctor, declareStart, declareVerify } from '../run/commands.ts';
import { declareSeed } from '../seed/declare.ts';
import { declareSendEvent } from '../send-event/declare.ts';
import { declareServe } from '../serve/declare.ts';
import { declareBrand } from '../setup/commands.ts';
import { declareSite } from '../site/declare.ts';
import { declareSnapshot } from '../snapshot/declare.ts';
import { declareStatus } from '../status/declare.ts';
import { declareStop } from '../stop/declare.ts';
import { declareStreak } from '../talk/commands.ts';
import { declareRequests } from '../talk/requests/commands.ts';
import { declareScenario } from '../talk/scenario/commands.ts';
import { wantsColor } from '../terminal/style.ts';
import { declareToken } from '../token/declare.ts';
import { declareUndo } from '../undo/declare.ts';
import { declareWallet } from '../wallet/declare.ts';
import { declareWebhooks } from '../webhooks/declare.ts';
import { asTyped } from './as-typed.ts';
import type { Runtime } from './context.ts';
import { declareHelp, firstHelp } from './first-help.ts';
import { manifest } from './manifest.ts';
import { durationMs, everyCommand, httpUrl, option, stackName, variableOf } from './options.ts';
import { outputFormats } from './output.ts';
import type { Catalog, Perform } from './verb.ts';

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
  const catalog: Catalog = {
    parent: program,
    lazily:
      (load) =>
      async (...received) => {
        const command = received.at(-1);
        if (command instanceof Command) await perform(command, load);
      },
  };
  declareCommands(program, catalog);
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

function declareCommands(program: Command, catalog: Catalog): void {
  program.commandsGroup('Run it:');
  declareServe(catalog);
  declareStart(catalog);
  declareDatabase(catalog);
  program.commandsGroup('Around your own commands:');
  for (const declare of [
    declareExec,
    declareEnv,
    declareStatus,
    declareWait,
    declareOpen,
    declareLogs,
    declareStop,
  ])
    declare(catalog);
  program.commandsGroup('Check it:');
  declareVerify(catalog);
  declareDoctor(catalog);
  declareConfig(catalog);
  declareLane(catalog);
  declareRedemptions(catalog);
  declareRecover(catalog);
  program.commandsGroup('Talk to it:');
  declareSendEvent(catalog);
  declareRelay(catalog);
  declareRequests(catalog);
  declareWallet(catalog);
  declareStreak(catalog);
  declareLeaderboard(catalog);
  declareCheckout(catalog);
  declareAchievements(catalog);
  declareLoad(catalog);
  declareScenario(catalog);
  declareWebhooks(catalog);
  declareReceiver(catalog);
  declareSite(catalog);
  declareConstraints(catalog);
  declareConstraintUpdater(catalog);
  program.commandsGroup('Set it up:');
  for (const declare of [
    declareInit,
    declareBrand,
    declarePerks,
    declareMint,
    declareSeed,
    declareKeys,
    declareContracts,
  ])
    declare(catalog);
  program.commandsGroup('Steer the emulator:');
  declareClock(catalog);
  declareFaults(catalog);
  declareToken(catalog);
  declareSnapshot(catalog);
  declareUndo(catalog);
  declareReset(catalog);
  program.commandsGroup('Read about it:');
  declareOpenapi(catalog);
  declareCompletion(catalog);
}

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
