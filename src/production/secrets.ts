/** Reads secrets from files or from a variable; never from a flag, which every user of the machine can see. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PreconditionError } from '../lib/failures/precondition.ts';
import { namesOf, type Setting } from '../lib/setting.ts';
import { type Fault, fault } from './start-setting.ts';

export interface Secret {
  files?: string[] | undefined;
  value?: string | undefined;
}

export const isGiven = ({ files, value }: Secret): boolean => Boolean(files?.length || value);

const lines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** The lines of a secret's files and value, trimmed, without empty lines. What is given and holds nothing is a fault. */
export async function secretLines(
  of: { cwd: string; variable: string; secret: Secret },
  onFault: (fault: Fault) => void,
): Promise<string[]> {
  const { files = [], value } = of.secret;
  const found = lines(value ?? '');
  if (value !== undefined && found.length === 0) onFault(emptyFault(of.variable));
  for (const file of files) {
    const name = `${of.variable}_FILE`;
    if (file.trim() === '') {
      onFault(emptyFault(name));
      continue;
    }
    try {
      const inFile = lines(await readFile(resolve(of.cwd, file), 'utf8'));
      if (inFile.length === 0)
        onFault(fault(`${name}: ${file} is empty`, `write the secret into ${file}, or unset ${name}`));
      found.push(...inFile);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const fix = `check the path and whose it is: \`ls -l ${file}\` as the service's user`;
      onFault(fault(`${name}: ${file} cannot be read (${code})`, fix));
    }
  }
  return found;
}

/** A setting that is given and empty: what was meant cannot be known. */
export const emptyFault = (name: string): Fault =>
  fault(`${name} is set, but empty`, `give ${name} a value, or unset it`);

/** Reads one secret; undefined when it is not set. Throws E_SETTINGS when a file cannot be read, or nothing is in it. */
export async function readSecret<Value>(
  row: Setting<Value>,
  of: { cwd: string; secret: Secret },
): Promise<Value | undefined> {
  const faults: Fault[] = [];
  const { variable } = namesOf(row);
  const found = await secretLines({ ...of, variable }, (one) => faults.push(one));
  if (faults.length > 0) throw settingsProblem(faults);
  return found.length === 0 ? undefined : row.kind.parse(found.join('\n'));
}

/** All faults as one E_SETTINGS, each with its own fix. */
export function settingsProblem(faults: readonly Fault[]): PreconditionError {
  const code = 'E_SETTINGS';
  const problem = new PreconditionError({
    code,
    message: faults.map(({ message }) => message).join('\n'),
    fix: [...new Set(faults.map(({ fix }) => fix))].join('\n'),
  });
  return Object.assign(problem, { details: { problems: faults.map((one) => ({ code, ...one })) } });
}

/** A setting that is needed and not there. */
export const notSet = (row: Setting<unknown>, or = ''): Fault => {
  const { long, variable, optionVariable } = namesOf(row);
  const variables = variable === optionVariable ? variable : `${optionVariable} or ${variable}`;
  return fault(`${variable} is not set${or}`, `set ${variables}, or give ${long}: ${row.help}`);
};

/** The group may read: a cluster hands secrets to processes that are not root that way. */
export async function isOpenToAll(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && (file.mode & 0o007) !== 0;
}
