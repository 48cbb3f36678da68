/** Which of the files a command line means, and the values it gives their variables. */
import { nearest } from '../../lib/nearest.ts';
import type { Scenario } from '../../scenario/format/scenario.ts';
import { usageError } from '../machine/errors.ts';

/** Throws E_USAGE when nothing is left, so that a slip in a filter does not pass for a success. */
export function chosenOf(
  scenarios: readonly Scenario[],
  { filter, tag }: { filter?: string; tag?: string[] },
): Scenario[] {
  const chosen = scenarios.filter(
    ({ file, data }) =>
      (filter === undefined || file.includes(filter) || data.name.includes(filter)) &&
      (tag === undefined || tag.some((one) => data.tags?.includes(one))),
  );
  if (chosen.length > 0) return chosen;
  const tags = [...new Set(scenarios.flatMap(({ data }) => data.tags ?? []))].sort();
  throw usageError(
    `None of ${scenarios.length} scenarios is left.`,
    tag === undefined ? 'Check --filter.' : `The tags are ${tags.join(', ') || 'none'}.`,
  );
}

/** `--var` takes the names that a file has in `vars`. */
export function variablesOf(
  scenarios: readonly Scenario[],
  given: readonly string[],
): Record<string, string> {
  const known = [...new Set(scenarios.flatMap(({ data }) => Object.keys(data.vars ?? {})))];
  const pairs = given.map((text): [string, string] => {
    const [, name, value] = /^([\w-]+)=([\s\S]*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw usageError(`--var ${text} is not understood.`, 'Write it as --var user=alice@demo.example.');
    if (known.includes(name)) return [name, value];
    const meant = nearest(name, known);
    throw usageError(
      `No scenario has a variable ${name}.`,
      meant ? `Did you mean ${meant}?` : `The variables are ${known.join(', ') || 'none'}.`,
    );
  });
  return Object.fromEntries(pairs);
}
