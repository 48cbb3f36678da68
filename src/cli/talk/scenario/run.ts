/** `rewards scenario run`: runs files, prints each as it ends, and reports. */
import { dirname, resolve } from 'node:path';
import type { ScenarioStep } from '../../../contract/control/jobs.ts';
import { secureRandom } from '../../../lib/ids.ts';
import { silentLog } from '../../../lib/log.ts';
import type { PlacedProblem, Scenario } from '../../../scenario/format/scenario.ts';
import { unsupportedBy } from '../../../scenario/format/unsupported.ts';
import { fileText, summaryText } from '../../../scenario/reports/text-report.ts';
import type { FileReport, ScenarioReport, StepReport } from '../../../scenario/run/report.ts';
import { runScenarios } from '../../../scenario/run/run-scenarios.ts';
import { canOfOwn, targetOf } from '../../../scenario/run/stack-target.ts';
import type { ScenarioTarget } from '../../../scenario/steps/step-context.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { CliError, type Problem, problemOf, usageError } from '../../machine/errors.ts';
import { exitCodes } from '../../machine/exit-codes.ts';
import { manifest } from '../../machine/manifest.ts';
import { problemText } from '../../machine/output.ts';
import { readApiKey } from '../../machine/read-input.ts';
import { resolveTarget } from '../../service/target.ts';
import { createProgress } from '../../terminal/progress.ts';
import { chosenOf, problemsError, problemsText, readScenarioFiles, variablesOf } from './find-files.ts';
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
  const progress = createProgress(context);
  let done = 0;
  const tellFiles = () => {
    progress.show('scenarios', done, chosen.length);
    if (settings.output !== 'jsonl') return;
    const line = { type: 'progress', progress: { phase: 'scenarios', done, of: chosen.length } };
    runtime.stdout.write(`${JSON.stringify(line)}\n`);
  };
  const onFile = (file: FileReport) => {
    if (isText && !toStdout) progress.above(() => runtime.stdout.write(`${fileText(file, style.stdout)}\n`));
    done += 1;
    tellFiles();
  };
  tellFiles();
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
        startStack: async (of) => (await import('../../../emulator/create-emulator.ts')).startFreshStack(of),
        ...(openDatabase && { openDatabase }),
        keepIn: options.keepOnFail === undefined ? undefined : resolve(runtime.cwd, options.keepOnFail),
        seedFiles: (scenario) => fixturesOf(runtime.cwd, scenario),
        onFile,
        ...(settings.output === 'jsonl' && { onStep: stepTeller(runtime) }),
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
    progress.clear();
    if (interrupted !== undefined) return interrupted;
    await writeReports(context, report, options);
    return resultOf(context, report, toStdout);
  } finally {
    progress.clear();
    unwatch();
  }
};

/** With `-o jsonl`, a line for each step as it ends. */
const stepTeller =
  ({ stdout }: CommandContext['runtime']) =>
  (report: StepReport, of: { file: string; case: string }): void => {
    const { name, kind, line, status, durationMs, at, reason, failure } = report;
    const message = failure?.message ?? reason;
    const step: ScenarioStep = { ...of, name, kind, line, status, durationMs, at, message };
    stdout.write(`${JSON.stringify({ type: 'step', step })}\n`);
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

interface TargetOptions {
  brand?: string;
  domain?: string;
  apiKeyFile?: string;
}

/** Undefined without --target: every file gets a stack of its own. */
async function findScenarioTarget(
  context: CommandContext,
  { brand, domain, apiKeyFile }: TargetOptions,
): Promise<{ url: string; target: ScenarioTarget } | undefined> {
  const url = context.settings.target;
  if (url === undefined) return undefined;
  const { urls, run } = await resolveTarget(context);
  if (run) {
    const users = run.users.map((user) => ({ ...user, login: user.email.replace(/@.*/, '') }));
    return { url, target: targetOf({ ...run, users }) };
  }
  const apiKey = await readApiKey(context.runtime, apiKeyFile);
  const named = brand === undefined ? [] : [{ brandId: brand, domain: domain ?? '', apiKey: apiKey ?? '' }];
  return { url, target: { urls, can: new Set(), brands: named, users: [], contracts: {}, apiKey } };
}

/** A way to open one; undefined without --database-url. E_USAGE for an address of another form. */
function ownDatabases({ runtime }: CommandContext, serverUrl: string | undefined) {
  if (serverUrl === undefined) return undefined;
  if (!/^postgres(?:ql)?:\/\//i.test(serverUrl) || !URL.canParse(serverUrl)) {
    throw usageError(
      '--database-url is not the address of a Postgres server.',
      'Give an address that begins with postgres://, or leave it out: ledgers are files then.',
    );
  }
  const random = secureRandom(runtime.clock);
  return async () => {
    const { ownDatabase } = await import('../../../emulator/create-emulator.ts');
    const name = `rewards_scenario_${runtime.pid}_${Buffer.from(random.bytes(6)).toString('hex')}`;
    try {
      return await ownDatabase(serverUrl, name);
    } catch (cause) {
      const { code = 'no answer' } = cause as { code?: string };
      const message = `The Postgres server of --database-url gives no database of its own (${code}).`;
      throw new CliError(
        'E_DATABASE_UNREACHABLE',
        { message, fix: 'Check its address, and that its user may create databases.' },
        { cause },
      );
    }
  };
}
