/** What `rewards` and `rewards --help` print: one screen, with the way to everything else. `help --all` has every command. */
import type { Command } from 'commander';
import { wrapWords } from '../terminal/wrap.ts';

/** What somebody needs on the first day, in the order in which they need it. */
const FIRST_DAY: readonly [line: string, what: string][] = [
  ['serve', 'run the whole service here, with its own chain'],
  ['send-event TYPE --user EMAIL', 'send a customer event: the reward, or why not'],
  ['requests explain latest', 'every check of a request, with its numbers'],
];

/** Of a terminal as it opens; longer lines would be broken within a word. */
const WIDTH = 80;

/** The commands of the first day in full, and the names of all others by group. */
export function firstHelp(program: Command): string {
  const groups = groupsOf(program);
  const lineWidth = Math.max(...FIRST_DAY.map(([line]) => line.length)) + 2;
  const groupWidth = Math.max(...groups.map(([group]) => group.length)) + 4;
  return [
    `Usage: ${program.name()} [options] <command>`,
    '',
    wrapWords(program.description(), WIDTH),
    '',
    'On the first day:',
    ...FIRST_DAY.map(([line, what]) => `  ${line.padEnd(lineWidth)}${what}`),
    '',
    'All commands:',
    ...groups.map(([group, commands]) =>
      wrapWords(`  ${group}`.padEnd(groupWidth) + commands.join(', '), WIDTH, groupWidth),
    ),
    '',
    `  ${program.name()} <command> --help   what it takes; -o json works with every command`,
    `  ${program.name()} help --all         every command, option, variable and exit code`,
    '',
  ].join('\n');
}

/**
 * Declares `help`: of a command, of a verb of it, or with `--all` of the program. `printAll` prints the whole list, where
 * the program's own help is the first screen.
 */
export function declareHelp(program: Command, printAll: () => void): void {
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]', 'the command, and the verb of it')
    .option('--all', 'every command, the options that all of them take, and the exit codes')
    .description('print help for a command')
    .action((words: readonly string[], { all }: { all?: true }) => {
      if (all && words.length === 0) return printAll();
      commandOf(program, words).outputHelp();
    });
}

function commandOf(program: Command, words: readonly string[]): Command {
  let found = program;
  for (const word of words) {
    const next = found.commands.find((command) => command.name() === word);
    if (!next) return found.error(`unknown command '${word}'`, { code: 'commander.unknownCommand' });
    found = next;
  }
  return found;
}

/** The names of commands, by the heading under which they are declared, in that order. */
function groupsOf(program: Command): [group: string, commands: string[]][] {
  const groups = new Map<string, string[]>();
  for (const command of program.commands) {
    const heading = command.helpGroup().replace(/:$/, '');
    groups.set(heading, [...(groups.get(heading) ?? []), command.name()]);
  }
  return [...groups];
}
