/** Reads the form-encoded parameters of Stripe's API: nested by brackets, every value a text, none left over. */
import { invalidRequest } from '../stripe-error.ts';

/** A text, or what stands under the names in brackets. */
type Value = string | Form;
export type Form = Map<string, Value>;

/** Deeper than any parameter of the API. */
const DEPTH_MAX = 8;

/** `a[b][0]=c` becomes a → b → 0 → c; an empty pair of brackets counts on. */
export function parseForm(text: string): Form {
  const form: Form = new Map();
  for (const [name, value] of new URLSearchParams(text)) {
    // Postgres keeps none.
    if (`${name}${value}`.includes('\0')) throw invalidRequest('Invalid string: it has a NUL character');
    put(form, pathOf(name), value);
  }
  return form;
}

function pathOf(name: string): string[] {
  const [, first = name, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part)];
  if (path.length > DEPTH_MAX)
    throw invalidRequest(`Parameter ${first} is nested too deeply`, { param: first });
  return path;
}

function put(form: Form, [first = '', ...rest]: string[], value: string): void {
  const name = first === '' ? String(form.size) : first;
  if (rest.length === 0) {
    form.set(name, value);
    return;
  }
  const known = form.get(name);
  const inner: Form = known instanceof Map ? known : new Map();
  form.set(name, inner);
  put(inner, rest, value);
}

/** The parameters below one name; each reading marks what it has read. */
export type Parameters = ReturnType<typeof readParameters>;

interface TextWish {
  /** In characters. */
  max?: number;
}

/** `prefix` is the name under which these parameters stand, for messages. */
export function readParameters(form: Form, prefix = '') {
  const read = new Set<string>();
  const named = (name: string) => (prefix === '' ? name : `${prefix}[${name}]`);
  const single = singleValues({ form, read, named });
  const isUnset = (name: string): boolean => {
    if (form.get(name) !== '') return false;
    read.add(name);
    return true;
  };
  return {
    has: (name: string) => form.has(name),
    /** Whether something stands below a name, in brackets. */
    isGroup: (name: string) => form.get(name) instanceof Map,
    ...single,
    /** Whether a parameter is sent empty, which unsets what the object has. */
    isUnset,
    /** A text; null where it is sent empty. */
    textOrUnset: (name: string, wish: TextWish = {}): string | null | undefined =>
      isUnset(name) ? null : single.text(name, wish),
    ...groupsOf({ form, read, named }),
    /** Throws where something has not been read: a spelling mistake must not pass for a default. */
    finish(): void {
      const unknown = [...form.keys()].find((name) => !read.has(name));
      if (unknown === undefined) return;
      const param = named(unknown);
      throw invalidRequest(
        `Received unknown parameter: ${param}. The emulated processor takes: ${[...read].sort().join(', ')}`,
        { code: 'parameter_unknown', param },
      );
    },
  };
}

/** The parameters of one name, which of them were read, and their names in messages. */
interface Reading {
  form: Form;
  read: Set<string>;
  named: (name: string) => string;
}

function singleValues({ form, read, named }: Reading) {
  const missing = (name: string) =>
    invalidRequest(`Missing required param: ${named(name)}.`, {
      code: 'parameter_missing',
      param: named(name),
    });

  const text = (name: string, { max = 5_000 }: TextWish = {}): string | undefined => {
    read.add(name);
    const value = form.get(name);
    const param = named(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw invalidRequest(`Invalid string: ${param}`, { param });
    if (value === '') {
      throw invalidRequest(
        `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a parameter; however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`,
        { code: 'parameter_invalid_empty', param },
      );
    }
    if (value.length > max) {
      throw invalidRequest(`Invalid string: ${value.slice(0, 10)}…; must be at most ${max} characters`, {
        param,
      });
    }
    return value;
  };
  const whole = (name: string, { min = 0 }: { min?: number } = {}): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const param = named(name);
    const number = Number(value);
    if (!/^-?\d{1,15}$/.test(value)) {
      throw invalidRequest(`Invalid integer: ${value}`, { code: 'parameter_invalid_integer', param });
    }
    if (number < min) {
      const least =
        min === 0 ? 'Invalid non-negative integer' : `This value must be greater than or equal to ${min}.`;
      throw invalidRequest(least, { code: 'parameter_invalid_integer', param });
    }
    return number;
  };
  return {
    text,
    whole,
    needed: (name: string, wish: TextWish = {}): string => {
      const value = text(name, wish);
      if (value === undefined) throw missing(name);
      return value;
    },
    neededWhole: (name: string, wish: { min?: number } = {}): number => {
      const value = whole(name, wish);
      if (value === undefined) throw missing(name);
      return value;
    },
    oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
      const value = text(name);
      if (value === undefined) return undefined;
      const choice = choices.find((one) => one === value);
      if (choice) return choice;
      const param = named(name);
      throw invalidRequest(`Invalid ${param}: must be one of ${choices.join(', ')}`, { param });
    },
    /** An http address, as it was written. */
    url(name: string): string | undefined {
      const value = text(name);
      if (value === undefined) return undefined;
      const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
      if (!isHttp) throw invalidRequest('Not a valid URL', { code: 'url_invalid', param: named(name) });
      return value;
    },
    email(name: string): string | undefined {
      const value = text(name, { max: 512 });
      if (value === undefined || /^[^\s@]+@[^\s@]+$/.test(value)) return value;
      throw invalidRequest(`Invalid email address: ${value}`, { code: 'email_invalid', param: named(name) });
    },
  };
}

function groupsOf({ form, read, named }: Reading) {
  const group = (name: string): Form | undefined => {
    read.add(name);
    const value = form.get(name);
    if (value === undefined || value instanceof Map) return value;
    throw invalidRequest('Invalid object', { param: named(name) });
  };
  return {
    /** The parameters below a name; undefined without any. */
    group: (name: string) => {
      const form = group(name);
      return form && readParameters(form, named(name));
    },
    /** The items of a list, each with its own parameters. */
    groups: (name: string) =>
      [...(group(name) ?? [])].map(([index, item]) => {
        if (item instanceof Map) return readParameters(item, `${named(name)}[${index}]`);
        throw invalidRequest('Invalid object', { param: `${named(name)}[${index}]` });
      }),
    /** The texts of a list. */
    texts: (name: string): string[] =>
      [...(group(name) ?? [])].map(([index, item]) => {
        if (typeof item === 'string') return item;
        throw invalidRequest('Invalid string', { param: `${named(name)}[${index}]` });
      }),
    metadata(name = 'metadata'): Record<string, string> | undefined {
      const form = group(name);
      return form && withoutEmpty(readMetadata(form, named(name)));
    },
    /** What becomes of metadata: keys are added and changed, an empty value removes its key, an empty text all of them. */
    metadataChange(name = 'metadata'): (before: Record<string, string>) => Record<string, string> {
      if (form.get(name) === '') {
        read.add(name);
        return () => ({});
      }
      const changed = group(name);
      const given = changed ? readMetadata(changed, named(name)) : {};
      return (before) => withoutEmpty({ ...before, ...given });
    },
    /** Every text parameter below this one, under names that the caller chooses; an empty value unsets it. */
    rest: ({ max }: { max: number }): Record<string, string> =>
      Object.fromEntries(
        [...form].map(([name, value]) => {
          read.add(name);
          if (typeof value === 'string' && value.length <= max) return [name, value];
          throw invalidRequest(`Invalid string: ${named(name)}; must be at most ${max} characters`, {
            param: named(name),
          });
        }),
      ),
  };
}

/** Limits of the API. */
const METADATA_KEYS_MAX = 50;
const METADATA_KEY_MAX = 40;
const METADATA_VALUE_MAX = 500;

function readMetadata(form: Form, param: string): Record<string, string> {
  if (form.size > METADATA_KEYS_MAX) {
    throw invalidRequest(`You can only have ${METADATA_KEYS_MAX} keys in ${param}`, { param });
  }
  const entries = [...form].map(([key, value]): [string, string] => {
    if (key.length > METADATA_KEY_MAX) {
      throw invalidRequest(`Metadata keys can be up to ${METADATA_KEY_MAX} characters long`, { param });
    }
    if (typeof value !== 'string') throw invalidRequest('Metadata values must be strings', { param });
    if (value.length > METADATA_VALUE_MAX) {
      throw invalidRequest(`Metadata values can have up to ${METADATA_VALUE_MAX} characters`, { param });
    }
    return [key, value];
  });
  return Object.fromEntries(entries);
}

/** An empty value removes a key. */
const withoutEmpty = (metadata: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== ''));
