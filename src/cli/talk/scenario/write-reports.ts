/** Writes the report in the forms that a command line asks for. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { htmlReport } from '../../../scenario/reports/html-report.ts';
import { junitReport } from '../../../scenario/reports/junit-report.ts';
import { tapReport } from '../../../scenario/reports/tap-report.ts';
import type { ScenarioReport } from '../../../scenario/run/report.ts';
import type { CommandContext } from '../../machine/context.ts';
import { CliError, usageError } from '../../machine/errors.ts';

export interface ReportOptions {
  reportJunit?: string;
  reportTap?: string;
  reportJson?: string;
  reportHtml?: string;
}

const forms: Record<keyof ReportOptions, (report: ScenarioReport) => string> = {
  reportJunit: junitReport,
  reportTap: tapReport,
  reportJson: (report) => `${JSON.stringify(report, null, 2)}\n`,
  reportHtml: htmlReport,
};

const wanted = (options: ReportOptions) =>
  (Object.keys(forms) as (keyof ReportOptions)[]).flatMap((name) => {
    const path = options[name];
    return path === undefined ? [] : [{ path, form: forms[name] }];
  });

/** Whether standard output is for a report; E_USAGE when it is for two. */
export function reportsToStdout(options: ReportOptions, isText: boolean): boolean {
  const count = wanted(options).filter(({ path }) => path === '-').length;
  if (count > 1) throw usageError('Two reports go to standard output.', 'Give all but one of them a file.');
  if (count > 0 && !isText)
    throw usageError('A report and --output both go to standard output.', 'Give the report a file.');
  return count > 0;
}

/** Throws E_FILE when one of them cannot be written. */
export async function writeReports(
  { runtime }: CommandContext,
  report: ScenarioReport,
  options: ReportOptions,
): Promise<void> {
  for (const { path, form } of wanted(options)) {
    if (path === '-') runtime.stdout.write(form(report));
    else await writeTo(resolve(runtime.cwd, path), form(report), path);
  }
}

async function writeTo(file: string, text: string, path: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `${path} cannot be written (${code}).`;
    throw new CliError(
      'E_FILE',
      { message, fix: 'Check the folder and its permissions.', details: { path, code } },
      { cause },
    );
  }
}
