/** The tables of settings as zod schemas: what a fixture may say, and what the control API shows. */
import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { achievementText } from '../rules/brands/achievement.ts';
import { isUnlimited, UNLIMITED } from '../rules/brands/brand.ts';
import { configuredHost } from '../rules/brands/domain.ts';
import {
  defaultsOf,
  EVENT_TYPE,
  expectationOf,
  givenTwice,
  timeZoneOf,
  USER_PATTERN,
} from '../rules/brands/settings.ts';
import {
  type AliasOf,
  type Always,
  aliasesOf,
  type Kind,
  type Row,
  rowsOf,
  type Spec,
  type ValueOf,
  writingOf,
} from '../rules/brands/spec.ts';
import { addressKey } from '../rules/user-key.ts';

/** A text that `read` turns into a value; what it does not know is refused with `expected`. */
export const textAs = <T>(expected: string, read: (text: string) => T | undefined) =>
  z.string({ error: expected }).transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: expected, input: text });
    return z.NEVER;
  });

export const matching = (pattern: RegExp, expected: string) =>
  z.string({ error: expected }).regex(pattern, { error: expected });

/** A value in a file: of its own type, where the control API also reads texts. */
export const inFile = <const K extends Kind>(kind: K) => fileSchema(kind) as z.ZodType<ValueOf<K>>;

function fileSchema(kind: Kind): z.ZodType {
  const error = expectationOf(kind);
  switch (kind.kind) {
    case 'switch':
      return z.boolean({ error: 'must be true or false' });
    case 'text':
      if (kind.inFiles) return matching(kind.inFiles.pattern, kind.inFiles.expected);
      return z.string({ error }).min(1, { error }).max(kind.most, { error });
    case 'eventType':
    case 'field':
      return matching(EVENT_TYPE, error);
    case 'userPattern':
      return matching(USER_PATTERN, error);
    case 'address':
      return textAs(error, addressKey);
    case 'domain':
      return textAs(error, configuredHost);
    case 'timeZone':
      return textAs(error, timeZoneOf);
    case 'achievement':
      return textAs(error, achievementText);
    case 'choice':
      return z.enum(kind.of, { error });
    case 'number':
      return z.number({ error }).positive({ error });
    case 'whole':
      return z.int({ error }).min(kind.least, { error });
    case 'limit':
      return limit(`${error} (also -1 or 999999)`);
    case 'duration':
      return z.union([z.literal(0), textAs(error, parseDuration)], { error });
    case 'list': {
      const { notList = error, empty = error } = kind.inFiles ?? {};
      return z.array(fileSchema(kind.of), { error: notList }).min(1, { error: empty });
    }
    case 'map':
      return fileMap(kind, error);
  }
}

const limit = (error: string) =>
  z
    .union([z.literal('unlimited'), z.int().refine((most) => most >= 1 || isUnlimited(most), { error })], {
      error,
    })
    .transform((most) => (most === 'unlimited' || isUnlimited(most) ? UNLIMITED : most));

function fileMap({ key, of }: Extract<Kind, { kind: 'map' }>, expected: string) {
  const { inFiles } = key;
  return z.record(inFiles ? matching(key.pattern, inFiles) : z.string(), fileSchema(of), {
    error: ({ code }) => (code === 'invalid_key' && inFiles ? inFiles : expected),
  });
}

type Optional<R> = z.ZodOptional<z.ZodType<ValueOf<R> | undefined>>;

type FileShape<S extends Spec> = {
  -readonly [N in keyof S]: S[N] extends { required: true }
    ? z.ZodType<ValueOf<S[N]>>
    : S[N] extends Always
      ? z.ZodPrefault<z.ZodType<ValueOf<S[N]>>>
      : Optional<S[N]>;
} & { -readonly [N in keyof S as AliasOf<S[N]>]: Optional<S[N]> };

/** The settings of a table as the fields of a map in a file; where one has an alias, `foldAliases` takes its value. */
export const fileShape = <S extends Spec>(spec: S) =>
  Object.fromEntries(
    rowsOf(spec).flatMap(([name, row]): [string, z.ZodType][] => {
      const usual = fileField(row);
      if (row.alias === undefined) return [[name, usual]];
      const other = fileSchema(row).optional().describe(`Another name for \`${name}\`.`);
      return [
        [name, usual],
        [row.alias, other],
      ];
    }),
  ) as FileShape<S>;

/** A map in a file whose values stand under the settings' own names, whichever they were given by; both are refused. */
export const foldAliases = <S extends Spec, M extends z.ZodType<object>>(spec: S, map: M) =>
  z
    // Before the map fills defaults in, which could not be told from values that are given.
    .preprocess((given, { issues }) => {
      if (typeof given !== 'object' || given === null) return given;
      for (const { setting, message } of givenTwice(spec, given))
        issues.push({ code: 'custom', path: [setting], message, input: given });
      return given;
    }, map)
    .transform((values) => {
      const folded: Record<string, unknown> = Object.fromEntries(Object.entries(values));
      for (const [alias, name] of aliasesOf(spec)) {
        if (folded[alias] !== undefined) folded[name] = folded[alias];
        delete folded[alias];
      }
      return folded as Omit<z.output<M>, AliasOf<S[keyof S]>>;
    });

function fileField(row: Row): z.ZodType {
  const described = (schema: z.ZodType) => schema.describe(sentence(row, writingOf(row)));
  if (row.kind === 'choice' && row.clearable) {
    const choice = fileSchema({ ...row, of: ['none', ...row.of] }).transform(orAbsent('none'));
    return described(choice.prefault('none'));
  }
  const schema = fileSchema(row);
  if (row.required) return described(schema);
  if (row.default !== undefined) return described(schema.prefault(row.default));
  // An empty map counts as absent.
  return described((row.kind === 'map' ? schema.transform(emptyAsAbsent) : schema).optional());
}

const orAbsent = (none: unknown) => (value: unknown) => (value === none ? undefined : value);
const emptyAsAbsent = (value: unknown) => (Object.keys(value as object).length > 0 ? value : undefined);

/** A row's help as a sentence of its own. */
function sentence(row: Row, more = ''): string {
  const example = row.kind === 'map' ? `, such as \`${row.example.join(': ')}\`` : '';
  return `${row.help.charAt(0).toUpperCase()}${row.help.slice(1)}${more}${example}.`;
}

type ShownValue<R> = R extends Always | { kind: 'list' | 'map' }
  ? ValueOf<R>
  : R extends { kind: 'choice'; clearable: true }
    ? ValueOf<R> | 'none'
    : ValueOf<R> | null;

/** The settings of a table as the control API shows them: every setting, null where it has no value. */
export type Shown<S> = {
  -readonly [N in keyof S as S[N] extends { kind: 'duration' } ? `${N & string}Ms` : N]: ShownValue<S[N]>;
};

const shownName = (name: string, row: Row) => (row.kind === 'duration' ? `${name}Ms` : name);

function withoutValue(row: Row): unknown {
  if (row.kind === 'list') return [];
  if (row.kind === 'map') return {};
  return row.kind === 'choice' && row.clearable ? 'none' : null;
}

/** Settings as the control API shows them; `values` are as kept. */
export function shownSettings<S extends Spec>(spec: S, values: { [N in keyof S]?: unknown }): Shown<S> {
  const all: Record<string, unknown> = { ...defaultsOf(spec, 'earlier'), ...values };
  const shown = rowsOf(spec).map(([name, row]) => {
    const value = all[name] ?? withoutValue(row);
    return [shownName(name, row), row.kind === 'limit' && isUnlimited(Number(value)) ? UNLIMITED : value];
  });
  return Object.fromEntries(shown) as Shown<S>;
}

type ShownShape<S> = { [N in keyof Shown<S>]: z.ZodType<Shown<S>[N]> };

/** The fields of an answer with the settings of a table. */
export const shownShape = <S extends Spec>(spec: S) =>
  Object.fromEntries(
    rowsOf(spec).map(([name, row]) => {
      const always = row.required || row.default !== undefined || withoutValue(row) !== null;
      const schema = shownSchema(row);
      const more = row.kind === 'limit' ? ' -1: no limit.' : '';
      return [
        shownName(name, row),
        (always ? schema : schema.nullable()).meta({ description: `${sentence(row)}${more}` }),
      ];
    }),
  ) as unknown as ShownShape<S>;

function shownSchema(kind: Kind & { clearable?: true }): z.ZodType {
  switch (kind.kind) {
    case 'switch':
      return z.boolean();
    case 'choice':
      return z.enum(kind.clearable ? ['none', ...kind.of] : kind.of);
    case 'number':
      return z.number();
    case 'whole':
    case 'limit':
    case 'duration':
      return z.int();
    case 'list':
      return z.array(shownSchema(kind.of));
    case 'map':
      return z.record(z.string(), shownSchema(kind.of));
    default:
      return z.string();
  }
}

/**
 * Settings by name, as a body has them. They are read by the rules, which also tell what is wrong.
 * `aliases`: other names, each with the usual one.
 */
export const settingsBody = (
  names: readonly string[],
  more: string,
  aliases: readonly (readonly [alias: string, name: string])[] = [],
) =>
  z.record(z.string(), z.unknown()).meta({
    description: [
      `${more} Settings: ${names.map((name) => `\`${name}\``).join(', ')}.`,
      ...aliases.map(([alias, name]) => `\`${alias}\` is another name for \`${name}\`.`),
    ].join(' '),
    minProperties: 1,
  });
