/** `--set path=value`: changes to a body, each checked before anything is sent. */
import { nearest } from '../../lib/text/nearest.ts';
import { usageError } from '../machine/errors.ts';

export type JsonObject = Record<string, unknown>;

/** A change to one field, deep or not. */
export interface Assignment {
  path: string[];
  value: unknown;
}

/** The fields that a body may have; `true` for a field that holds any object. */
export type KnownFields = Readonly<Record<string, boolean>>;

// These names reach an object's prototypes instead of its own fields.
const FORBIDDEN = new Set(['__proto__', 'prototype', 'constructor']);

/** Reads one `path=value`. A value that is valid JSON is taken as JSON, unless `asText`. */
export function parseAssignment(text: string, { asText }: { asText: boolean }): Assignment {
  const equals = text.indexOf('=');
  const flag = asText ? '--set-string' : '--set';
  if (equals < 1) {
    throw usage(`${flag} ${text} has no value`, `Write it as ${flag} metadata.level=3.`);
  }
  const path = text.slice(0, equals).split('.');
  const raw = text.slice(equals + 1);
  if (path.some((step) => step === ''))
    throw usage(`${text.slice(0, equals)} is not a path`, 'Join names with single dots.');
  const forbidden = path.find((step) => FORBIDDEN.has(step));
  if (forbidden) throw usage(`${forbidden} cannot be part of a path`, 'Choose another field name.');
  return { path, value: asText ? raw : jsonOrText(raw) };
}

/** Applies assignments to a copy of `body`, in order; to fields that `known` has not, E_USAGE. Without it any may be set. */
export function assign(
  body: JsonObject,
  assignments: readonly Assignment[],
  known?: KnownFields,
): JsonObject {
  const changed = structuredClone(body);
  for (const { path, value } of assignments) {
    if (known) checkField(path, known);
    let level = changed;
    for (const step of path.slice(0, -1)) {
      const next = Object.hasOwn(level, step) ? level[step] : undefined;
      if (next === undefined) level[step] = {};
      else if (!isObject(next)) {
        throw usage(
          `${path.join('.')} leads into ${step}, which is not an object`,
          `Set ${step} itself, or leave it out.`,
        );
      }
      level = level[step] as JsonObject;
    }
    level[path.at(-1) ?? ''] = value;
  }
  return changed;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkField([first = '', ...rest]: string[], known: KnownFields): void {
  if (!Object.hasOwn(known, first)) {
    const close = nearest(first, Object.keys(known));
    throw usage(
      `this body has no field ${first}`,
      close ? `Did you mean ${close}?` : `Its fields are ${Object.keys(known).join(', ')}.`,
    );
  }
  if (rest.length > 0 && !known[first])
    throw usage(`${first} has no fields of its own`, `Set it as ${first}=…`);
}

function jsonOrText(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

const usage = (message: string, fix: string) => usageError(`${message}.`, fix);
