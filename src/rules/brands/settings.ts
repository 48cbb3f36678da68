/** Reading settings as people and programs write them: `on` or true, `a,b` or a list, `24h`, `unlimited`. */
import { parseDuration } from '../../lib/duration.ts';
import { addressKey } from '../user-key.ts';
import { ACHIEVEMENT_EXPECTED, achievementText } from './achievement.ts';
import { isUnlimited, UNLIMITED } from './brand.ts';
import { configuredHost } from './domain.ts';
import {
  aliasesOf,
  type Kind,
  type Row,
  rowsOf,
  type Spec,
  settingNames,
  type ValueOf,
  type Values,
} from './spec.ts';

/** The value, or what it should have been. */
export type Read<T> = { value: T } | { expected: string; entry?: unknown };

/** What is wrong with one setting. */
export interface SettingProblem {
  setting: string;
  message: string;
}

export type Settings = Record<string, unknown>;

type KindOf<N> = Extract<Kind, { kind: N }>;
type Single = Exclude<Kind['kind'], 'list' | 'map'>;
export type SingleKind = KindOf<Single>;

export const USER_PATTERN = /^[a-z][a-z0-9-]{0,29}_\{id\}$/;
export const EVENT_TYPE = /^[A-Za-z0-9_]{1,50}$/;

const words = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
const textBy = (value: unknown, read: (text: string) => unknown) =>
  typeof value === 'string' ? read(value) : undefined;
const hasControl = (text: string) => /[\u0000-\u001f\u007f]/.test(text);
const number = (value: unknown) => {
  if (typeof value === 'number') return value;
  return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(words(value)) ? Number(value) : Number.NaN;
};
const wholeFrom = (least: number, value: number) =>
  Number.isSafeInteger(value) && value >= least ? value : undefined;
/** The time zone as the runtime spells it; undefined where it knows no such zone. */
export function timeZoneOf(text: string): string | undefined {
  const name = text.trim();
  // The default, which every start reads: the runtime takes longer to load its time zones than for all other settings.
  if (name === 'UTC') return name;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** For each kind: what a value must be, and its reader, which gives undefined for an invalid value. */
const kinds: {
  [N in Single]: [expected: (kind: KindOf<N>) => string, read: (value: unknown, kind: KindOf<N>) => unknown];
} = {
  switch: [
    () => 'must be on or off',
    (value) => {
      if (value === true || /^(?:on|true|yes)$/i.test(words(value))) return true;
      return value === false || /^(?:off|false|no)$/i.test(words(value)) ? false : undefined;
    },
  ],
  text: [
    ({ most }) => `must be a text of 1 to ${most} characters`,
    (value, { most }) => {
      const text = words(value);
      return text && text.length <= most && !hasControl(text) ? text : undefined;
    },
  ],
  eventType: [
    () => 'must be an event type: 1 to 50 letters, digits and underscores',
    (value) => textBy(value, (text) => (EVENT_TYPE.test(text) ? text : undefined)),
  ],
  field: [
    () => 'must be the name of a metadata field: 1 to 50 letters, digits and underscores',
    (value) => textBy(value, (text) => (EVENT_TYPE.test(text) && text !== 'none' ? text : undefined)),
  ],
  userPattern: [
    () => 'must be the name of a platform and _{id}, such as wordpress_{id}',
    (value) => textBy(value, (text) => (USER_PATTERN.test(text) ? text : undefined)),
  ],
  address: [() => 'must be an address: 0x and 40 hexadecimal digits', (value) => textBy(value, addressKey)],
  domain: [
    () => 'must be a domain of its own, such as shop.example (no public suffix)',
    (value) => textBy(value, (text) => configuredHost(text.trim())),
  ],
  timeZone: [() => 'must be a time zone such as UTC or Europe/Berlin', (value) => textBy(value, timeZoneOf)],
  achievement: [() => ACHIEVEMENT_EXPECTED, (value) => textBy(value, achievementText)],
  choice: [(kind) => `must be ${listed(kind.of)}`, (value, kind) => kind.of.find((one) => one === value)],
  number: [
    () => 'must be a number above 0',
    (value) => {
      const amount = number(value);
      return amount > 0 && amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
    },
  ],
  whole: [
    (kind) => `must be a whole number of ${kind.of}, ${kind.least} or more`,
    (value, { least }) => wholeFrom(least, number(value)),
  ],
  limit: [
    () => 'must be a whole number, 1 or more, or unlimited',
    (value) =>
      value === 'unlimited' || isUnlimited(number(value)) ? UNLIMITED : wholeFrom(1, number(value)),
  ],
  duration: [
    () => 'must be a duration such as 500ms, 90s, 15m, 24h, 7d or 1h30m, or 0',
    (value) => (value === 0 || value === '0' ? 0 : textBy(value, parseDuration)),
  ],
};

/** What a value must be, in words; of a list, what the list must be. */
export function expectationOf(kind: Kind): string {
  if (kind.kind === 'map') return kind.expected;
  if (kind.kind === 'list') return 'must be a list with at least one entry';
  const [expected] = kinds[kind.kind];
  return (expected as (kind: Kind) => string)(kind);
}

/** Reads one value of this kind. */
export function readSingle<const K extends SingleKind>(kind: K, given: unknown): Read<ValueOf<K>> {
  const [, read] = kinds[kind.kind];
  const value = (read as (value: unknown, kind: Kind) => unknown)(given, kind);
  return value === undefined ? { expected: expectationOf(kind) } : { value: value as ValueOf<K> };
}

function readValue(kind: Kind, given: unknown): Read<unknown> {
  if (kind.kind === 'map') return readMap(kind, '', given);
  return kind.kind === 'list' ? readList(kind, given) : readSingle(kind, given);
}

/** A list, or a text with commas; duplicates are dropped. */
function readList(kind: KindOf<'list'>, given: unknown): Read<unknown> {
  const parts: unknown = typeof given === 'string' ? given.split(',') : given;
  if (!Array.isArray(parts) || parts.length === 0) return { expected: expectationOf(kind) };
  const values = new Set<unknown>();
  for (const part of parts) {
    const read = readValue(kind.of, part);
    if ('expected' in read) return { entry: part, ...read };
    values.add(read.value);
  }
  return { value: [...values] };
}

/** A whole map replaces the earlier one. */
function readMap(kind: KindOf<'map'>, name: string, given: unknown): Read<unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { expected: `must be a map, or set one entry as ${name}.<name>` };
  }
  const entries: [string, unknown][] = [];
  for (const [key, one] of Object.entries(given)) {
    if (!kind.key.pattern.test(key)) return { expected: `must have ${kind.key.is} for each name` };
    const read = readValue(kind.of, one);
    if ('expected' in read) return read;
    entries.push([key, read.value]);
  }
  return { value: Object.fromEntries(entries) };
}

const isNothing = (value: unknown) => value === null || value === '';
const clears = (row: Row, value: unknown) =>
  row.clearable &&
  (isNothing(value) ||
    value === 'none' ||
    (row.kind === 'list' && Array.isArray(value) && value.length === 0));

/** Reads a value by its row; undefined removes the setting. */
function readRow(row: Row, name: string, given: unknown): Read<unknown> {
  if (clears(row, given)) return { value: undefined };
  const read = row.kind === 'map' ? readMap(row, name, given) : readValue(row, given);
  const orNone = 'expected' in read && row.clearable && row.kind !== 'list';
  return orNone ? { ...read, expected: `${read.expected}, or none` } : read;
}

/** Reads one entry, such as `platforms.telegram`; an empty value removes it. */
function readEntry(
  row: KindOf<'map'>,
  { key, given, before }: { key: string; given: unknown; before: unknown },
): Read<unknown> {
  if (!row.key.pattern.test(key)) return { expected: `must name ${row.key.is} after the dot` };
  const { [key]: _, ...others } = { ...(before as Record<string, unknown> | undefined) };
  if (isNothing(given)) return { value: others };
  const read = readValue(row.of, given);
  return 'expected' in read ? read : { value: { ...others, [key]: read.value } };
}

const SHOWN_MAX = 60;
/** The value as given, cut to a length that fits into a message. */
const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, SHOWN_MAX);

/** The settings that are given by both their names: which of the two counts would be a guess. */
export const givenTwice = (spec: Spec, given: object): SettingProblem[] =>
  aliasesOf(spec)
    .filter(([alias, name]) => Object.hasOwn(given, alias) && Object.hasOwn(given, name))
    .map(([alias, name]) => ({
      setting: alias,
      message: `is another name for ${name}, which is given too; leave one of them out`,
    }));

/** The setting that is meant, by its name or alias, and the entry of a map after a dot. */
function placeOf(setting: string, usualNames: ReadonlyMap<string, string>): { name: string; key?: string } {
  const written = [...usualNames.keys()].find(
    (alias) => setting === alias || setting.startsWith(`${alias}.`),
  );
  if (written === undefined) {
    const [name = '', key] = setting.split(/\.(.*)/s);
    return key === undefined ? { name } : { name, key };
  }
  const name = usualNames.get(written) ?? written;
  return setting === written ? { name } : { name, key: setting.slice(written.length + 1) };
}

/**
 * Reads settings by name or alias: the values of before with what is given, and everything that is wrong with that.
 * `asNew`: settings that only a new brand or rule may set are allowed.
 */
export function readSettings<S extends Spec>(
  table: { spec: S; of: string; asNew?: boolean },
  before: Partial<Values<S>>,
  given: Settings,
): { values: Partial<Values<S>>; problems: SettingProblem[] } {
  const { spec, of, asNew = false } = table;
  const values: Record<string, unknown> = { ...before };
  const problems = givenTwice(spec, given);
  const usualNames = new Map(aliasesOf(spec));
  for (const [setting, value] of Object.entries(given)) {
    const { name, key } = placeOf(setting, usualNames);
    const row: Row | undefined = Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (!row || (row.fixed && !asNew) || (key !== undefined && row.kind !== 'map')) {
      const message = `is not a setting of a ${of}; the settings are ${settingNames(spec).join(', ')}`;
      problems.push({ setting, message });
      continue;
    }
    const read =
      key !== undefined && row.kind === 'map'
        ? readEntry(row, { key, given: value, before: values[name] })
        : readRow(row, name, value);
    if ('expected' in read) {
      const wrong = 'entry' in read ? read.entry : value;
      problems.push({ setting, message: `${read.expected}, not ${shown(wrong)}` });
    } else if (read.value === undefined) delete values[name];
    else values[name] = read.value;
  }
  return { values: values as Partial<Values<S>>, problems };
}

/** Whose defaults: a new brand's, which differ where a row says `inProduction`, or those of a brand without a value. */
export type DefaultsFor = 'emulator' | 'production' | 'earlier';

/** The defaults of a new brand or rule, or what one has that was made before the setting existed (`earlier`). */
export function defaultsOf<S extends Spec>(
  spec: S,
  defaultsFor: DefaultsFor = 'emulator',
): Partial<Values<S>> {
  const values = rowsOf(spec).flatMap(([name, row]) => {
    const own = { emulator: undefined, production: row.inProduction, earlier: row.earlier }[defaultsFor];
    const given = own ?? row.default;
    const read = readValue(row, given);
    return 'value' in read ? [[name, read.value] as const] : [];
  });
  return Object.fromEntries(values) as Partial<Values<S>>;
}

/** Leaves out undefined values: stored settings are compared and counted by their keys. */
export const given = <T extends object>(settings: T): T =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as T;
