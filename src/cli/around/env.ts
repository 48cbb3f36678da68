/** `rewards env`: the stack that runs here, as environment variables. */

import { nearest } from '../../lib/text/nearest.ts';
import { readyEnvironment } from '../../stack/ready.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { theRunHere } from '../service/target.ts';
import { type Format, formats } from './env-formats.ts';

export const printEnvironment: Handler<{ format: Format; rename?: string[] }> = async (
  context,
  { format, rename = [] },
) => {
  const run = await theRunHere(context);
  context.about.target = run.urls.events;
  const variables = renamed(readyEnvironment(run), rename);
  const { output } = context.settings;
  if (output === 'json' || output === 'jsonl') return { ok: true, data: { variables }, text: () => '' };
  // Printed here, since a terminal's width must not break lines that are copied.
  context.runtime.stdout.write(`${formats[output === 'env' ? 'dotenv' : format](variables)}\n`);
  return exitCodes.done;
};

/** The variables under other names, in their order. Throws E_USAGE for a name that does not exist, or that exists twice. */
function renamed(variables: Record<string, string>, wishes: readonly string[]): Record<string, string> {
  const names = new Map(wishes.map((wish) => renaming(wish, Object.keys(variables))));
  const entries = Object.entries(variables).map(([name, value]) => [names.get(name) ?? name, value]);
  const result = Object.fromEntries(entries);
  const twice = entries.find(([name], place) => entries.findIndex(([other]) => other === name) !== place);
  if (twice) throw usageError(`Two variables would be called ${twice[0]}.`, 'Choose another new name.');
  return result;
}

function renaming(wish: string, known: readonly string[]): [from: string, to: string] {
  const [, from = '', to = ''] = /^([^=]*)=(.*)$/s.exec(wish) ?? [];
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(to)) {
    throw usageError(
      `--rename ${wish} is not understood.`,
      'Write OLD=NEW, such as REWARDS_EVENT_HANDLER_URL=VITE_EVENTS_URL.',
    );
  }
  if (!known.includes(from)) {
    const close = nearest(from, known);
    throw usageError(
      `--rename ${wish}: the stack has no variable ${from}.`,
      close ? `Did you mean ${close}?` : `It has ${known.join(', ')}.`,
    );
  }
  return [from, to];
}
