/** Finds and reads the scenario files that a command line means. */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { nearest } from '../../../lib/text/nearest.ts';
import { readScenario } from '../../../scenario/format/read-scenario.ts';
import type { PlacedProblem, Scenario } from '../../../scenario/format/scenario.ts';
import { excerpt, placeText } from '../../../scenario/reports/text-report.ts';
import type { CommandContext } from '../../machine/context.ts';
import { CliError, usageError } from '../../machine/errors.ts';
import { readInput } from '../../machine/read-input.ts';
import type { Style } from '../../terminal/style.ts';

interface ReadFiles {
  scenarios: Scenario[];
  /** Of the files that cannot be run. */
  problems: PlacedProblem[];
}

/** Throws E_FILE for a path that is not there, or when there are no files. */
export async function readScenarioFiles(
  { runtime }: CommandContext,
  named: readonly string[],
): Promise<ReadFiles> {
  const wanted = named.length > 0 ? named : ['scenarios'];
  const paths = (await Promise.all(wanted.map((path) => filesAt(runtime.cwd, path)))).flat();
  if (paths.length === 0) {
    throw new CliError('E_FILE', {
      message: `There are no scenarios in ${wanted.join(', ')}.`,
      fix: 'Name a file, or a folder with *.yaml files.',
    });
  }
  const found: ReadFiles = { scenarios: [], problems: [] };
  for (const path of [...new Set(paths)]) {
    const reading = readScenario(path, await readInput(runtime, path));
    if ('scenario' in reading) found.scenarios.push(reading.scenario);
    else found.problems.push(...reading.problems);
  }
  return found;
}

/** A file by itself; of a folder, every *.yaml below it but fixtures. */
async function filesAt(cwd: string, path: string): Promise<string[]> {
  const full = resolve(cwd, path);
  const kind = await stat(full).catch(() => undefined);
  if (!kind?.isDirectory()) return [path];
  const entries = await readdir(full, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => join(path, relative(full, join(entry.parentPath, entry.name))))
    .filter((one) => !one.split(/[\\/]/).includes('fixtures'))
    .sort();
}

/** Each problem with its line and a caret. */
export const problemsText = (problems: readonly PlacedProblem[], style: Style): string =>
  problems
    .map((one) =>
      [
        `${style.bold(placeText(one))}  ${[one.path, one.message].filter(Boolean).join(' ')}`,
        ...excerpt(one, style),
      ].join('\n'),
    )
    .join('\n');

/** The result of a command whose files have problems. */
export const problemsError = (problems: readonly PlacedProblem[]) => {
  const files = new Set(problems.map(({ file }) => file)).size;
  return {
    message: `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in ${files} ${files === 1 ? 'file' : 'files'}; nothing ran.`,
    details: { problems },
  };
};

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
