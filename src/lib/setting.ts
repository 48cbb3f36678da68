/** A setting of a command as one row: flag, kind, default, help. Its other names follow from the flag. */

import { formatDuration, parseDuration } from './duration.ts';
import { nearest } from './text/nearest.ts';

/** How a text becomes a value. */
export interface Kind<Value> {
  /** Undefined when the text is not such a value. */
  parse: (text: string) => Value | undefined;
  /** The end of the sentence `It must be …` for a refused text; absent where any text is accepted. */
  mustBe?: string;
  choices?: readonly string[];
  /** Takes any number of values; an empty list by default. */
  many?: true;
  /** The command checks the text itself, with its own messages; the command line passes it on unchanged. */
  late?: true;
}

export interface Setting<Value> {
  /** As the help shows it, such as `-p, --port <n>`. */
  flag: string;
  kind: Kind<Value>;
  help: string;
  /** As one would write it. */
  default?: string;
  /** What applies without a value and without a default, in words. */
  otherwise?: string;
  /** Never shown. `file`: the flag names a file that holds it, so does NAME_FILE, and NAME holds it itself. */
  secret?: 'file' | 'value';
  /** How its variable begins. Default: `REWARDS_`. */
  variablePrefix?: string;
}

interface SettingNames {
  /** `port` */
  name: string;
  /** `--port` */
  long: string;
  /** The option among those that the command line has read: `port`. */
  attribute: string;
  /** `REWARDS_PORT` */
  variable: string;
  /** The variable that stands in for the flag: the same, or `REWARDS_…_FILE` for a file. */
  optionVariable: string;
}

/** What a setting is called, each name made from its flag. */
export function namesOf({
  flag,
  secret,
  variablePrefix = 'REWARDS_',
}: Pick<Setting<unknown>, 'flag' | 'secret' | 'variablePrefix'>): SettingNames {
  const word = /--([a-z-]+)/.exec(flag)?.[1] ?? '';
  const name = secret === 'file' ? word.replace(/-file$/, '') : word;
  const upper = (text: string) => `${variablePrefix}${text.toUpperCase().replaceAll('-', '_')}`;
  const attribute = word.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return { name, long: `--${word}`, attribute, variable: upper(name), optionVariable: upper(word) };
}

export const text: Kind<string> = { parse: (value) => value };

/** The first line of a file. */
export const oneLine: Kind<string> = { parse: (lines) => lines.split('\n')[0] };

/** Several texts: each after a flag of its own or one after the other; in a variable between commas. */
export const list: Kind<string[]> = { parse: (value) => value.split(','), many: true };

/** Several texts: each on a line of its own, or between commas. */
export const addresses: Kind<string[]> = { parse: (lines) => lines.split(/\n|\s*,\s*/), many: true };

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The first line of a file, with or without 0x. */
export const privateKey: Kind<`0x${string}`> = {
  parse(lines) {
    const [line = ''] = lines.split('\n');
    const hex = line.startsWith('0x') ? line : `0x${line}`;
    if (!/^0x[0-9a-f]{64}$/i.test(hex)) return undefined;
    // Neither nothing nor more than the curve has points: no account has such a key.
    return BigInt(hex) > 0n && BigInt(hex) < CURVE_ORDER ? (hex.toLowerCase() as `0x${string}`) : undefined;
  },
  mustBe: 'a private key: 64 hexadecimal digits',
};

/** On by its flag alone; in a variable true or false. */
export const onOff: Kind<boolean> = {
  parse: (value) =>
    /^(1|true|yes|on)$/i.test(value) ? true : /^(0|false|no|off)$/i.test(value) ? false : undefined,
  mustBe: 'true or false',
};

export const choice = <const Choice extends string>(...choices: Choice[]): Kind<Choice> => ({
  parse: (value) => choices.find((one) => one === value),
  choices,
});

/** Milliseconds from 500ms, 90s, 15m, 36h, 7d. */
export const duration: Kind<number> = {
  parse: parseDuration,
  mustBe: 'a duration such as 500ms, 90s, 15m or 36h',
};

/** The same within limits; beyond 24 days a timer would end at once. */
export const durationBetween = (leastMs: number, mostMs: number): Kind<number> => ({
  parse(value) {
    const ms = parseDuration(value);
    return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : undefined;
  },
  mustBe: `a duration from ${formatDuration(leastMs)} to ${formatDuration(mostMs)}, such as 500ms, 90s, 15m or 36h`,
});

export const wholeNumber = (least: number, most: number): Kind<number> => ({
  parse(value) {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  },
  mustBe: `a whole number from ${least} to ${most}`,
});

/** A port; 0 means any that is free. */
export const port = wholeNumber(0, 65_535);

/** Seconds, whole or with decimals, not negative. */
export const seconds: Kind<number> = {
  parse: (value) => (/^\d{1,9}(\.\d{1,3})?$/.test(value) ? Number(value) : undefined),
  mustBe: 'a number of seconds',
};

/** A positive amount of something, with decimals. */
export const amount: Kind<number> = {
  parse: (value) => (/^\d{1,9}(\.\d{1,9})?$/.test(value) && Number(value) > 0 ? Number(value) : undefined),
  mustBe: 'a number above 0',
};

/** A name that can be part of a file's name. */
export const shortName: Kind<string> = {
  parse: (value) => (/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(value) ? value : undefined),
  mustBe: 'letters, digits, - and _, at most 50',
};

const INSTANT = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970 from an RFC 3339 time. */
export const instant: Kind<number> = {
  parse(value) {
    const ms = INSTANT.test(value) ? Date.parse(value.replace(' ', 'T')) : Number.NaN;
    return Number.isNaN(ms) ? undefined : ms;
  },
  mustBe: 'a time such as 2030-01-01T00:00:00Z',
};

/** Variables that begin with REWARDS_ and that nobody reads, each with the known one that it resembles. */
export function unknownVariables(
  env: Readonly<Record<string, string>>,
  known: ReadonlySet<string>,
): { variable: string; message: string; fix: string }[] {
  const isKnown = (name: string) =>
    known.has(name) || known.has(name.replace(/_FILE$/, '')) || name.startsWith('REWARDS_TEST_');
  const strangers = Object.keys(env).filter((name) => name.startsWith('REWARDS_') && !isKnown(name));
  return strangers.map((variable) => {
    const close = nearest(variable, [...known]);
    const fix = close ? `did you mean ${close}?` : 'unset it';
    return { variable, message: `${variable} is set, but rewards does not read it`, fix };
  });
}
