/** Reading settings as people and programs write them: `on` or true, `a,b` or a list, `24h`, `unlimited`. */
import { parseDuration } from '../../lib/duration.ts';
import { isUnlimited, UNLIMITED } from './brand.ts';

/** The value, or what it should have been. */
export type Read<T> = { value: T } | { expected: string };

/** What is wrong with one setting. */
export interface SettingProblem {
  setting: string;
  message: string;
}

export type Settings = Record<string, unknown>;

/** Reads one setting; undefined clears it where that is possible. */
export type Reader<T> = (value: unknown) => Read<T>;

const reader =
  <T>(expected: string, read: (value: unknown) => T | undefined): Reader<T> =>
  (given) => {
    const value = read(given);
    return value === undefined ? { expected } : { value };
  };

const words = (value: unknown): string | undefined => (typeof value === 'string' ? value.trim() : undefined);

export const onOrOff: Reader<boolean> = reader('must be on or off', (value) => {
  if (value === true || /^(?:on|true|yes)$/i.test(words(value) ?? '')) return true;
  if (value === false || /^(?:off|false|no)$/i.test(words(value) ?? '')) return false;
  return undefined;
});

export const textUpTo = (most: number): Reader<string> =>
  reader(`must be a text of 1 to ${most} characters`, (value) => {
    const text = words(value);
    return text && text.length <= most && !hasControl(text) ? text : undefined;
  });

const hasControl = (text: string) => /[\u0000-\u001f\u007f]/.test(text);

export const oneOf = <const T extends string>(names: readonly T[]): Reader<T> =>
  reader(`must be ${names.join(' or ')}`, (value) => names.find((name) => name === value));

const number = (value: unknown): number => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,9})?$/.test(value.trim())
    ? Number(value)
    : Number.NaN;
};

export const wholeFrom = (least: number, of: string): Reader<number> =>
  reader(`must be a whole number of ${of}, ${least} or more`, (value) => {
    const amount = number(value);
    return Number.isSafeInteger(amount) && amount >= least ? amount : undefined;
  });

export const above0: Reader<number> = reader('must be a number above 0', (value) => {
  const amount = number(value);
  return amount > 0 && amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
});

/** -1 for no limit, whichever way that is written. */
export const claimLimit: Reader<number> = reader(
  'must be a whole number, 1 or more, or unlimited',
  (value) => {
    if (value === 'unlimited') return UNLIMITED;
    const most = number(value);
    if (isUnlimited(most)) return UNLIMITED;
    return Number.isSafeInteger(most) && most >= 1 ? most : undefined;
  },
);

/** Milliseconds. */
export const durationText: Reader<number> = reader(
  'must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0',
  (value) => {
    if (value === 0 || value === '0') return 0;
    return typeof value === 'string' ? parseDuration(value) : undefined;
  },
);

/** A list, or a text with commas; each part read by `one`, each only once. */
export const listOf =
  <T>(one: Reader<T>): Reader<T[]> =>
  (given) => {
    const parts: unknown = typeof given === 'string' ? given.split(',') : given;
    if (!Array.isArray(parts) || parts.length === 0)
      return { expected: 'must be a list with something in it' };
    const values = new Set<T>();
    for (const part of parts) {
      const read = one(part);
      if ('expected' in read) return read;
      values.add(read.value);
    }
    return { value: [...values] };
  };

/** The same with nothing as an empty list. */
export const listOrNothing = <T>(one: Reader<T>): Reader<T[]> => {
  const list = listOf(one);
  return (given) =>
    isNothing(given) || (Array.isArray(given) && given.length === 0) ? { value: [] } : list(given);
};

/** The same with nothing as undefined. */
export const orNothing =
  <T>(one: Reader<T>): Reader<T | undefined> =>
  (given) => {
    if (isNothing(given)) return { value: undefined };
    const read = one(given);
    return 'expected' in read ? { expected: `${read.expected}, or none` } : read;
  };

const isNothing = (value: unknown) => value === null || value === '' || value === 'none';

const SHOWN_MAX = 60;
/** What was given, when that is short enough to help. */
export const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, SHOWN_MAX);
