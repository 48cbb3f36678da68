/** Options that can also be set by a variable of the environment, named in the help. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../../compose/env.ts';
import { parseDuration } from '../../lib/duration.ts';
import { CliError } from './errors.ts';

// commander has its own way, but that reads the process's environment directly and takes `X=false` for true.
const variables = new WeakMap<Option, string>();

/** The variable that stands in for an option, if it has one. */
export const variableOf = (option: Option) => variables.get(option);

/** One option, in one expression. */
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

/** Gives every option that the command line left open the value of its variable. */
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

/** What an option makes of the text of its variable. Throws E_USAGE, with what it would take. */
export function settingFrom(
  candidate: Option,
  { variable, text }: { variable: string; text: string },
): unknown {
  try {
    if (candidate.isBoolean() || candidate.negate) return truth(text) !== candidate.negate;
    const words = candidate.variadic ? text.split(',') : [text];
    if (!candidate.parseArg) return candidate.variadic ? words : text;
    return words.reduce<unknown>((previous, word) => candidate.parseArg?.(word, previous), undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new CliError('E_USAGE', {
      message: `${variable}=${text} is not accepted: ${error.message}`,
      hint: `Unset ${variable}, or give it what ${candidate.long} takes.`,
    });
  }
}

function truth(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new InvalidArgumentError('It must be true or false.');
}

/** Milliseconds from 500ms, 90s, 15m, 36h, 7d. */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('It must be a duration such as 500ms, 90s, 15m or 36h.');
  return ms;
}

/** A port; 0 means any that is free. */
export const port = (text: string) => wholeNumber(text, { least: 0, most: 65_535 });

/** Whole or broken seconds, not negative. */
export function seconds(text: string): number {
  const value = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : undefined;
  if (value === undefined) throw new InvalidArgumentError('It must be a number of seconds.');
  return value;
}

/** A positive amount of something, with decimals. */
export function amount(text: string): number {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  if (value <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** Milliseconds since 1970 from an RFC 3339 time. */
export function instantMs(text: string): number {
  const form = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
  const ms = form.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a time such as 2030-01-01T00:00:00Z.');
  return ms;
}

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

/** A name that can be part of a file's name. */
export function stackName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(text)) {
    throw new InvalidArgumentError('It must be letters, digits, - and _, at most 50.');
  }
  return text;
}

/** Gathers the values of an option that may be given several times. */
export const gather = (text: string, previous: string[] | undefined) => [...(previous ?? []), text];

/** A whole number between two bounds, as an option's parser. */
export const wholeNumberOf = (least: number, most: number) => (text: string) =>
  wholeNumber(text, { least, most });

function wholeNumber(text: string, { least, most }: { least: number; most: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  }
  return value;
}
