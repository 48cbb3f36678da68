/** Runs scenarios, several files at once, and puts the report together. */
import { stopwatch } from '../../lib/timers.ts';
import { matrixRows } from '../format/read-scenario.ts';
import type { Scenario } from '../format/scenario.ts';
import type { ScenarioTarget } from '../steps/step-context.ts';
import type { CaseReport, FileReport, Outcome, ScenarioReport } from './report.ts';
import { type CaseDeps, runCase } from './run-case.ts';

export interface RunWish {
  /** Files at once. */
  jobs: number;
  /** No file begins after a failure. */
  bail: boolean;
  vars: Record<string, string>;
  target?: { url: string; target: ScenarioTarget } | undefined;
  /** Why a file does not run, by its name; it is reported as skipped. */
  skipped: ReadonlyMap<string, string>;
}

export interface RunDeps extends CaseDeps {
  program: string;
  /** Hears of each file as it ends. */
  onFile?: (file: FileReport) => void;
}

/** Files are reported in the order in which they are given, whichever ends first. */
export async function runScenarios(
  deps: RunDeps,
  scenarios: readonly Scenario[],
  wish: RunWish,
): Promise<ScenarioReport> {
  const elapsedMs = stopwatch();
  const startedAt = new Date(deps.clock.now()).toISOString();
  const files: FileReport[] = [];
  let next = 0;
  let isBad = false;
  const worker = async () => {
    while (next < scenarios.length && !deps.signal.aborted && !(wish.bail && isBad)) {
      const place = next++;
      const scenario = scenarios[place];
      if (!scenario) break;
      const file = await runFile(deps, scenario, wish);
      files[place] = file;
      isBad ||= file.cases.some(({ status }) => status === 'failed');
      deps.onFile?.(file);
    }
  };
  await Promise.all(Array.from({ length: Math.min(wish.jobs, scenarios.length) }, worker));
  const done = files.filter((file) => file !== undefined);
  const totals: Record<Outcome, number> = { passed: 0, failed: 0, skipped: 0 };
  for (const { status } of done.flatMap(({ cases }) => cases)) totals[status] += 1;
  return {
    version: 1,
    program: deps.program,
    target: wish.target?.url ?? null,
    startedAt,
    durationMs: Math.round(elapsedMs()),
    totals,
    files: done,
  };
}

async function runFile(deps: RunDeps, scenario: Scenario, wish: RunWish): Promise<FileReport> {
  const elapsedMs = stopwatch();
  const cases: CaseReport[] = [];
  const reason = wish.skipped.get(scenario.file);
  for (const matrix of matrixRows(scenario.data)) {
    if (deps.signal.aborted) break;
    cases.push(
      reason === undefined
        ? await runCase(deps, scenario, { matrix, vars: wish.vars, target: wish.target?.target })
        : skippedCase(scenario, matrix, reason),
    );
  }
  const { name, tags = [] } = scenario.data;
  return { file: scenario.file, name, tags, durationMs: Math.round(elapsedMs()), cases };
}

const skippedCase = ({ data }: Scenario, matrix: Record<string, unknown>, reason: string): CaseReport => ({
  name: data.name,
  matrix,
  status: 'skipped',
  reason,
  failure: null,
  durationMs: 0,
  clock: null,
  steps: [],
  kept: null,
});
