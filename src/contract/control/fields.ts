/** Fields that requests of several control endpoints have, and how their bodies speak of fields that they lack. */
import { z } from 'zod';
import { expectationOf, readSingle, type SingleKind } from '../../rules/brands/settings.ts';
import type { Issues } from './control-endpoint.ts';
import type { ControlRefusal } from './refusals/control-refusals.ts';

export const instant = () => z.iso.datetime();

/** A text that is not empty; `expected` is said of everything else. */
export const requiredText = (most: number, expected: string) =>
  z.string({ error: expected }).trim().min(1, { error: expected }).max(most, { error: expected });

/** An object with these fields and no others; `unknown` says so of another one. */
export const bodyOf = <S extends z.core.$ZodShape>(
  shape: S,
  unknown = `is not a field of this body; its fields are ${Object.keys(shape).join(', ')}`,
) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknown : 'must be a JSON object'),
  });

/** How many to list. */
export const listLimit = (most: number) => z.int().min(1).max(most).default(50);

/** The refusal of a limit that is not from 1 to `limitMax`. */
export const wrongLimit =
  (limitMax: number) =>
  (issues: Issues): ControlRefusal | undefined =>
    issues.some(({ path }) => path[0] === 'limit') ? { code: 'invalid_limit', limitMax } : undefined;

/** A value as the rules read settings; `form` is what of it a body may have, and says `error` of everything else. */
export const settingAs = <const K extends SingleKind, S extends z.ZodType>(
  kind: K,
  form: (error: string) => S,
) =>
  form(expectationOf(kind)).transform((given, context) => {
    const read = readSingle(kind, given);
    if ('value' in read) return read.value;
    context.addIssue({ code: 'custom', message: read.expected, input: given });
    return z.NEVER;
  });

/** How long what is replaced still works. */
export const overlap = (description: string) =>
  settingAs({ kind: 'duration' }, (error) => z.string({ error }))
    .prefault('24h')
    .meta({ description });
