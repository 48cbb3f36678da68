/** `rewards seed`: compares seed files with the running stack, or applies them. */

import type { SeedAnswer } from '../../contract/control/seed.ts';
import * as seedApi from '../../contract/control/seed.ts';
import type { Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import { readInput } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const seed: Handler<{ file: string[]; diff?: boolean; apply?: boolean }> = async (
  context,
  { file: paths, diff, apply = false },
) => {
  if (diff && apply) throw usageError('--diff and --apply exclude each other.', 'Leave one of them out.');
  const client = clientFor(await resolveTarget(context), context);
  const files = await Promise.all(
    paths.map(async (name) => ({ name, text: await readInput(context.runtime, name) })),
  );
  const reply = await client.call(seedApi.seed, { body: { apply, ...(files.length > 0 && { files }) } });
  const result = replyResult(reply, {
    text: ({ applied, changes }, style) => {
      if (changes.length === 0) return style.dim('nothing differs');
      const next = applied ? style.green('applied') : style.dim('nothing was changed; --apply does');
      return [...changeLines(changes, style), next].join('\n');
    },
  });
  const isOfFiles = !result.ok && isObject(reply.body) && isInvalidFixture(reply.body);
  if (!isOfFiles) return result;
  const { message, fix, details } = result.error;
  return { ...result, error: problemOf('E_FIXTURE', { message, fix, details }) };
};

const isInvalidFixture = (body: object) =>
  'details' in body && isObject(body.details) && body.details.reason === 'invalid_fixture';

type SeedChange = SeedAnswer['changes'][number];

/** `Shop  account_creation  reward  10 → 33`. */
export const changeLines = (changes: readonly SeedChange[], style: Style): string[] =>
  changes.map(({ brand, eventType, setting, from, to }) => {
    const about = [style.bold(brand), eventType].filter(Boolean).join('  ');
    if (setting === null) return `${about}  ${style.green('added')}`;
    return `${about}  ${setting}  ${from ?? 'not set'} → ${to ?? 'not set'}`;
  });
