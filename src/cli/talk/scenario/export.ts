/** `rewards scenario export`: a scenario as a test file in TypeScript, on standard output or in a file of its own. */
import { writeFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { type Exported, vitestFile } from '../../../scenario/export/vitest-file.ts';
import { readScenario } from '../../../scenario/format/read-scenario.ts';
import type { PlacedProblem, Scenario } from '../../../scenario/format/scenario.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { CliError, problemOf } from '../../machine/errors.ts';
import { problemText } from '../../machine/output.ts';
import { readInput } from '../../machine/read-input.ts';
import { problemsText } from './find-files.ts';

interface ExportOptions {
  file: string;
  to: 'vitest';
  out?: string;
  force?: boolean;
}

/** Exit 2 for a file that has problems, 1 for one that no test can say; notes go to stderr. */
export const exportScenario: Handler<ExportOptions> = async (context, { file, to, out, force }) => {
  const { runtime, settings, note } = context;
  const reading = readScenario(file, await readInput(runtime, file));
  if ('problems' in reading) {
    const count = reading.problems.length;
    const message = `${file} has ${count} ${count === 1 ? 'problem' : 'problems'}; nothing was written.`;
    return refused(problemOf('E_SCENARIO', { message }), reading.problems);
  }
  const exported = vitestFile(reading.scenario, { seedFiles: fixturesOf(runtime.cwd, reading.scenario) });
  if ('problems' in exported) {
    const problems = exported.problems.map((one): PlacedProblem => ({ file, path: '', ...one }));
    const message = `${file} has what a test cannot say; nothing was written.`;
    const fix = 'Change the named steps, or run the file with `rewards scenario run`.';
    return refused(problemOf('E_REFUSED', { message, fix }), problems);
  }
  for (const { line, message } of exported.notes) note(`${file}:${line}  ${message}`);
  if (out !== undefined) await write(context, { out, force: force ?? false }, exported);
  // As it is: commands that a text of the scenario names are not ours to rewrite.
  else if (settings.output === 'text') runtime.stdout.write(exported.code);
  const data = { file, to, out: out ?? null, code: exported.code, notes: exported.notes };
  return { ok: true, data, text: (style) => (out === undefined ? '' : style.green(out)) };
};

function refused(error: ReturnType<typeof problemOf>, problems: readonly PlacedProblem[]) {
  return {
    ok: false,
    error,
    data: { problems },
    text: (style: Parameters<typeof problemsText>[1]) =>
      `${problemsText(problems, style)}\n${problemText(error, style)}`,
  } as const;
}

/** Never over a file that is there, unless it shall be replaced. */
async function write(
  { runtime }: CommandContext,
  { out, force }: { out: string; force: boolean },
  { code }: Exported,
): Promise<void> {
  try {
    await writeFile(resolve(runtime.cwd, out), code, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const told =
      reason === 'EEXIST'
        ? { message: `${out} is there already.`, fix: 'Name another file, or replace it with --force.' }
        : {
            message: `${out} cannot be written (${reason}).`,
            fix: 'Check the folder and its permissions.',
          };
    throw new CliError('E_FILE', { ...told, details: { path: out, code: reason } }, { cause });
  }
}

/** As `startStack` takes them: relative to the folder in which the command and the tests run. */
function fixturesOf(cwd: string, { file, data: { seed } }: Scenario): string[] {
  const named = typeof seed === 'string' ? [seed] : (seed ?? []);
  return named.map((path) =>
    relative(cwd, resolve(cwd, dirname(file), path))
      .split(sep)
      .join('/'),
  );
}
