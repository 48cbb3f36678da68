/** The commands of the program as plain facts, from their declarations. */
import type { Argument, Command, Option } from 'commander';
import { type Kind, kindOfArgument, kindOfOption } from './completion-kinds.ts';

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
export function catalogueOf(program: Command): CommandFacts[] {
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
