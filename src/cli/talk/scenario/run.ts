/** `rewards scenario run`: runs files, prints each as it ends, and reports. */
import { dirname, resolve } from 'node:path';
import { secureRandom } from '../../../lib/ids.ts';
import { silentLog } from '../../../lib/log.ts';
import type { PlacedProblem, Scenario } from '../../../scenario/format/scenario.ts';
import { unsupportedBy } from '../../../scenario/format/unsupported.ts';
import { fileText, summaryText } from '../../../scenario/reports/text-report.ts';
import type { ScenarioReport } from '../../../scenario/run/report.ts';
import { runScenarios } from '../../../scenario/run/run-scenarios.ts';
import { canOfOwn } from '../../../scenario/run/stack-target.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { type Problem, problemOf } from '../../machine/errors.ts';
import { exitCodes } from '../../machine/exit-codes.ts';
import { manifest } from '../../machine/manifest.ts';
import { problemText } from '../../machine/output.ts';
import { chosenOf, variablesOf } from '../../scenario/choose-files.ts';
import { findScenarioTarget, type TargetOptions } from '../../scenario/find-target.ts';
import { ownDatabases } from '../../scenario/own-databases.ts';
import { problemsError, problemsText, readScenarioFiles } from './find-files.ts';
import { type ReportOptions, reportsToStdout, writeReports } from './write-reports.ts';

interface RunOptions extends TargetOptions, ReportOptions {
  files: string[];
  jobs: number;
  bail?: boolean;
  filter?: string;
  tag?: string[];
  var?: string[];
  skipUnsupported?: boolean;
  keepOnFail?: string;
  databaseUrl?: string;
}

export const runScenarioFiles: Handler<RunOptions> = async (context, options) => {
  const { runtime, settings, style } = context;
  const isText = settings.output === 'text';
  const toStdout = reportsToStdout(options, isText);
  const read = await readScenarioFiles(context, options.files);
  if (read.problems.length > 0)
    return refused(context, problemOf('E_SCENARIO', problemsError(read.problems)), read.problems);
  const chosen = chosenOf(read.scenarios, options);
  const vars = variablesOf(chosen, options.var ?? []);
  const target = await findScenarioTarget(context, options);
  const openDatabase = ownDatabases(context, target ? undefined : options.databaseUrl);
  const can = target?.target.can ?? canOfOwn(openDatabase !== undefined);
  const unsupported = chosen.flatMap((scenario) => unsupportedBy(scenario, can, { isOwn: !target }));
  if (unsupported.length > 0 && !options.skipUnsupported)
    return refused(context, problemOf('E_SCENARIO_UNSUPPORTED', problemsError(unsupported)), unsupported);

  const stop = new AbortController();
  let interrupted: number | undefined;
  const unwatch = runtime.onSignal((signal) => {
    interrupted ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    stop.abort();
  });
  try {
    const report = await runScenarios(
      {
        clock: runtime.clock,
        random: secureRandom(runtime.clock),
        log: silentLog,
        env: runtime.env,
        signal: stop.signal,
        userAgent: `rewards-scenario/${manifest.version}`,
        program: `rewards/${manifest.version}`,
        startStack: async (of) => (await import('../../../emulator/fresh-stack.ts')).startFreshStack(of),
        ...(openDatabase && { openDatabase }),
        keepIn: options.keepOnFail === undefined ? undefined : resolve(runtime.cwd, options.keepOnFail),
        seedFiles: (scenario) => fixturesOf(runtime.cwd, scenario),
        onFile: (file) =>
          void (isText && !toStdout && runtime.stdout.write(`${fileText(file, style.stdout)}\n`)),
      },
      chosen,
      {
        // Files that share a target also share its users and limits.
        jobs: target ? 1 : options.jobs,
        bail: options.bail ?? false,
        vars,
        target,
        // The first reason of each file.
        skipped: new Map(unsupported.toReversed().map(({ file, message }) => [file, message])),
      },
    );
    if (interrupted !== undefined) return interrupted;
    await writeReports(context, report, options);
    return resultOf(context, report, toStdout);
  } finally {
    unwatch();
  }
};

/** Nothing was sent: each problem with its line, and what to do. */
function refused({ style }: CommandContext, error: Problem, problems: readonly PlacedProblem[]) {
  const text = `${problemsText(problems, style.stderr)}\n${problemText(error, style.stderr)}`;
  return { ok: false, error, data: { problems }, text: () => text } as const;
}

function resultOf({ style }: CommandContext, report: ScenarioReport, toStdout: boolean) {
  const summary = summaryText(report, style.stdout);
  if (report.totals.failed === 0)
    return { ok: true, data: report, text: () => (toStdout ? '' : summary) } as const;
  const { failed, passed } = report.totals;
  const error = problemOf('E_SCENARIO_FAILED', {
    message: `${failed} of ${failed + passed} scenarios failed.`,
  });
  return {
    ok: false,
    error,
    data: report,
    text: () => `${summary}\n${problemText(error, style.stderr)}`,
  } as const;
}

function fixturesOf(cwd: string, { file, data: { seed } }: Scenario): string[] {
  const named = typeof seed === 'string' ? [seed] : (seed ?? []);
  return named.map((path) => resolve(cwd, dirname(file), path));
}
