/** The commands of the program as plain facts, from their declarations. */
import type { Argument, Command, Option } from 'commander';
import type { CommandContext } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { type Kind, kindOfArgument, kindOfOption } from './completion-kinds.ts';
import { fishScript } from './fish-script.ts';
import { bashScript, zshScript } from './posix-script.ts';

/** What can be written in a place: some words, values of the stack, files, or nothing that is known. */
export type Values = { words: readonly string[] } | { kind: Kind } | 'files' | 'unknown';

export interface CommandFacts {
  /** `clock advance`; empty for the program itself. */
  path: string;
  commands: { name: string; summary: string }[];
  options: { names: string[]; summary: string; values?: Values }[];
  arguments: { values: Values; repeats: boolean }[];
}

/** Every command that the help shows, the program first. */
function catalogueOf(program: Command): CommandFacts[] {
  return factsOf(program, '');
}

function factsOf(command: Command, path: string): CommandFacts[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const children = visible.filter((child) => command.commands.includes(child));
  const own: CommandFacts = {
    path,
    commands: visible.map((child) => ({ name: child.name(), summary: child.summary() })),
    options: help.visibleOptions(command).map(optionFacts),
    arguments: command.registeredArguments.map((argument) => argumentFacts(path, argument)),
  };
  return [own, ...children.flatMap((child) => factsOf(child, `${path} ${child.name()}`.trim()))];
}

function optionFacts(option: Option): CommandFacts['options'][number] {
  const { short, long, description, argChoices } = option;
  const names = [short, long].flatMap((name) => name ?? []);
  // A value that may be left out is never the next word.
  if (!option.required) return { names, summary: description };
  const kind = kindOfOption(long ?? '');
  const values: Values = argChoices ? { words: argChoices } : kind ? { kind } : 'files';
  return { names, summary: description, values };
}

function argumentFacts(path: string, argument: Argument): CommandFacts['arguments'][number] {
  const { argChoices, variadic } = argument;
  const kind = kindOfArgument(path, argument.name());
  const isFile = /file|dir|folder|path|command/.test(argument.name());
  const values: Values = argChoices ? { words: argChoices } : kind ? { kind } : isFile ? 'files' : 'unknown';
  return { values, repeats: variadic };
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function printScript(
  { runtime, settings }: CommandContext,
  { shell, program }: { shell: keyof typeof scripts; program: Command },
) {
  const script = scripts[shell](catalogueOf(program));
  if (settings.output !== 'text') return { ok: true as const, data: { shell, script }, text: () => script };
  // Printed here, since a terminal's width must not break its lines.
  runtime.stdout.write(script);
  return exitCodes.done;
}
