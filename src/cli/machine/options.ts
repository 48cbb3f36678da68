/** Options that an environment variable can set too; the help names the variable. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../../compose/env.ts';
import * as kinds from '../../lib/setting.ts';
import { type CliError, usageError } from './errors.ts';

// commander's own way reads the process's environment directly and takes `X=false` for true.
const variables = new WeakMap<Option, string>();

/** The environment variable of an option, if it has one. */
export const variableOf = (option: Option) => variables.get(option);

/** The variables of every option in the tree that a command belongs to. */
export function variablesOf(command: Command): string[] {
  if (command.parent) return variablesOf(command.parent);
  return everyCommand(command).flatMap(({ options }) => options.flatMap((one) => variableOf(one) ?? []));
}

/** A command and all its subcommands. */
export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Builds an option in one expression. */
export function option(
  flags: string,
  description: string,
  more: {
    env?: string;
    default?: unknown;
    choices?: readonly string[];
    parse?: (text: string, previous: never) => unknown;
  } = {},
): Option {
  const made = new Option(flags, description);
  if (more.default !== undefined) made.default(more.default);
  if (more.parse) made.argParser(more.parse as (text: string, previous: unknown) => unknown);
  if (more.choices) made.choices(more.choices);
  if (more.env) variables.set(made, more.env);
  return made;
}

/** Builds the option of a setting. */
export function settingOption(setting: kinds.Setting<unknown>): Option {
  const { flag, help, kind, default: standard, otherwise, secret } = setting;
  const isParsed = kind.mustBe !== undefined && !kind.late && secret !== 'file';
  const made = option(flag, help, {
    env: kinds.namesOf(setting).optionVariable,
    ...(kind.choices && { choices: kind.choices }),
    ...(isParsed && kind !== kinds.onOff && { parse: parserOf(kind) }),
  });
  const value = standard === undefined || kind.late ? standard : kind.parse(standard);
  return made.default(value, standard ?? otherwise);
}

/** Sets every option that the command line does not give from its environment variable. */
export function applyEnvironment(command: Command, env: Environment): void {
  for (let level: Command | null = command; level; level = level.parent) {
    for (const candidate of level.options) {
      const variable = variables.get(candidate);
      const text = variable === undefined ? undefined : env[variable];
      const key = candidate.attributeName();
      const source = level.getOptionValueSource(key);
      if (text === undefined || (source !== undefined && source !== 'default')) continue;
      level.setOptionValueWithSource(key, settingFrom(candidate, { variable: variable ?? '', text }), 'env');
    }
  }
}

/** Parses the text of an option's variable. Throws E_USAGE with the accepted form. */
export function settingFrom(
  candidate: Option,
  { variable, text }: { variable: string; text: string },
): unknown {
  try {
    if (candidate.isBoolean() || candidate.negate) return parserOf(kinds.onOff)(text) !== candidate.negate;
    const words = candidate.variadic ? text.split(',') : [text];
    if (!candidate.parseArg) return candidate.variadic ? words : text;
    return words.reduce<unknown>((previous, word) => candidate.parseArg?.(word, previous), undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw usageError(
      `${variable}=${text} is not accepted: ${error.message}`,
      `Unset ${variable}, or give it a value that ${candidate.long} accepts.`,
    );
  }
}

/** Adapts a kind's parser to commander: a text of another form is refused with `mustBe`. */
const parserOf =
  <Value>({ parse, mustBe }: kinds.Kind<Value>) =>
  (text: string): Value => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${mustBe}.`);
    return value;
  };

export const durationMs = parserOf(kinds.duration);
export const port = parserOf(kinds.port);
export const seconds = parserOf(kinds.seconds);
export const amount = parserOf(kinds.amount);
export const instantMs = parserOf(kinds.instant);
export const stackName = parserOf(kinds.shortName);
export const wholeNumberOf = (least: number, most: number) => parserOf(kinds.wholeNumber(least, most));

/** What a command says of a negative number, which looks like an option. */
const negatives = new WeakMap<Command, (given: string) => CliError>();

/** Sets the answer of a command to a negative number. */
export function answerNegative(command: Command, answer: (given: string) => CliError): Command {
  negatives.set(command, answer);
  return command;
}

/** Undefined where a command has no answer of its own. */
export const negativeOf = (command: Command, given: string) => negatives.get(command)?.(given);

/** The text as it was given, once `parse` has found it to be right: the service reads the same notation. */
export const asGiven = (parse: (text: string) => unknown) => (text: string) => {
  parse(text);
  return text;
};

/** A web address; http is added when the scheme is left out. */
export function httpUrl(text: string): string {
  const full = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an http or https address.');
  if (url.username || url.password)
    throw new InvalidArgumentError('It must not contain a user or a password.');
  return full.replace(/\/+$/, '');
}

/** Text that can stand in a header. */
export function headerText(text: string): string {
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    throw new InvalidArgumentError('It must be plain ASCII without line breaks.');
  }
  return text;
}

/** Gathers the values of an option that may be given several times. */
export const gather = (text: string, previous: string[] | undefined) => [...(previous ?? []), text];
