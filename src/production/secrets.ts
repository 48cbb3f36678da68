/** Reads secrets from files or from a variable; never from a flag, which every user of the machine can see. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PreconditionError } from '../compose/precondition.ts';
import { namesOf, type Setting } from '../lib/setting.ts';

export interface Secret {
  files?: string[] | undefined;
  value?: string | undefined;
}

export const isGiven = ({ files, value }: Secret): boolean => Boolean(files?.length || value);

/** The lines of a secret's files and value, trimmed, without empty lines. */
export async function secretLines(
  of: { cwd: string; variable: string; secret: Secret },
  onProblem: (problem: string) => void,
): Promise<string[]> {
  const texts = of.secret.value === undefined ? [] : [of.secret.value];
  for (const file of of.secret.files ?? []) {
    try {
      texts.push(await readFile(resolve(of.cwd, file), 'utf8'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      onProblem(`${of.variable}_FILE: ${file} cannot be read (${code})`);
    }
  }
  return texts
    .flatMap((text) => text.split(/\r?\n/))
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Reads one secret; undefined when it is not set. Throws E_SETTINGS when a file cannot be read. */
export async function readSecret<Value>(
  row: Setting<Value>,
  of: { cwd: string; secret: Secret },
): Promise<Value | undefined> {
  const problems: string[] = [];
  const { variable } = namesOf(row);
  const lines = await secretLines({ ...of, variable }, (problem) => problems.push(problem));
  if (problems.length > 0) throw settingsProblem(problems);
  return lines.length === 0 ? undefined : row.kind.parse(lines.join('\n'));
}

export const settingsProblem = (problems: string[]) =>
  Object.assign(
    new PreconditionError({
      code: 'E_SETTINGS',
      message: problems.join('\n'),
      fix: 'Set them in the environment, or their _FILE variants; docs/operations.md explains each.',
    }),
    { details: { problems } },
  );

/** The group may read: a cluster hands secrets to processes that are not root that way. */
export async function isOpenToAll(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && (file.mode & 0o007) !== 0;
}
