/** Runs steps in the order of their file, groups included, and reports each. */
import { stopwatch } from '../../lib/timers.ts';
import type { Scenario, Step } from '../format/scenario.ts';
import { resolved } from '../format/variables.ts';
import { needOf } from '../steps/all-steps.ts';
import { differences, type Path } from '../steps/match.ts';
import { capabilities } from '../steps/step-context.ts';
import type { Failure, StepReport } from './report.ts';
import { runWork, type WorkDeps, type WorkProblem, type WorkResult } from './run-work.ts';

export interface StepDeps extends WorkDeps {
  scenario: Scenario;
  /** Hears of each step as it ends. */
  onStep: (step: StepReport) => void;
  /** What `save` and `id` have set so far. */
  remember: (kept: { vars?: Record<string, unknown>; steps?: Record<string, unknown> }) => void;
}

/** Ends with the first failure; the steps after it are not reported. */
export async function runSteps(
  deps: StepDeps,
  steps: readonly Step[],
  more: Record<string, unknown> = {},
): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const step of steps) {
    if (!deps.goesOn()) break;
    const report = await runStep(withScope(deps, more), step);
    reports.push(report);
    if (report.status === 'failed') break;
  }
  return reports;
}

const withScope = (deps: StepDeps, more: Record<string, unknown>): StepDeps => ({
  ...deps,
  scopeWith: (inner) => deps.scopeWith({ ...more, ...inner }),
});

async function runStep(deps: StepDeps, step: Step): Promise<StepReport> {
  const report = await reportOf(deps, step);
  deps.onStep(report);
  return report;
}

async function reportOf(deps: StepDeps, step: Step): Promise<StepReport> {
  const elapsedMs = stopwatch();
  const at = deps.context.target.can.has('clock') ? new Date(await deps.context.nowMs()).toISOString() : null;
  const report: StepReport = {
    name: await titleWith(deps, step),
    kind: step.kind,
    line: deps.scenario.placeOf(step.path).line,
    status: 'passed',
    reason: null,
    failure: null,
    durationMs: 0,
    at,
    requests: [],
    steps: [],
  };
  const skipped = skipReason(deps, step);
  if (skipped !== undefined) return { ...report, status: 'skipped', reason: skipped };
  if (step.steps.length > 0) {
    report.steps = await runGroup(deps, step);
    if (report.steps.some(({ status }) => status === 'failed')) report.status = 'failed';
  } else {
    const result = await runWork(deps, step);
    report.requests = result.requests;
    const problem = result.problem ?? (await kept(deps, step, result));
    if (problem)
      Object.assign(report, { status: 'failed', failure: failureOf(deps.scenario, step, problem) });
  }
  return { ...report, durationMs: Math.round(elapsedMs()) };
}

/** A name with a variable that has no value yet is shown as it is written. */
async function titleWith(deps: StepDeps, step: Step): Promise<string> {
  return String(await resolved(step.name, deps.scopeWith({})).catch(() => step.name));
}

/** Skipped by itself, or because the target cannot do it. */
function skipReason({ context }: StepDeps, step: Step): string | undefined {
  if (typeof step.fields.skip === 'string') return step.fields.skip;
  const need = needOf(step.kind, step.input);
  if (need === undefined || context.target.can.has(need)) return undefined;
  return `needs ${capabilities[need]}`;
}

async function runGroup(deps: StepDeps, { kind, steps, fields }: Step): Promise<StepReport[]> {
  if (kind === 'parallel') return Promise.all(steps.map((step) => runStep(deps, step)));
  const times = typeof fields.repeat === 'number' ? fields.repeat : undefined;
  if (times === undefined) return runSteps(deps, steps);
  const reports: StepReport[] = [];
  for (let repeat = 1; repeat <= times && deps.goesOn(); repeat++) {
    const round = await runSteps(deps, steps, { repeat });
    reports.push(...round);
    if (round.some(({ status }) => status === 'failed')) break;
  }
  return reports;
}

/** Keeps what later steps may name; a path that leads nowhere is a problem. */
async function kept(deps: StepDeps, step: Step, { seen }: WorkResult): Promise<WorkProblem | undefined> {
  const { id, save } = step.fields;
  if (typeof id === 'string') deps.remember({ steps: { [id]: seen } });
  const vars: Record<string, unknown> = {};
  for (const [name, path] of Object.entries((save ?? {}) as Record<string, string>)) {
    const value = path
      .split(/[.[\]]+/)
      .filter(Boolean)
      .reduce<unknown>((inside, key) => (inside as Record<string, unknown> | undefined)?.[key], seen);
    if (value === undefined) {
      const found = differences({ $any: true }, undefined, [...step.path, 'save', name], [path]);
      return {
        message: `${path} is not in what the step saw`,
        differences: found,
        decision: null,
        curl: null,
      };
    }
    vars[name] = value;
  }
  deps.remember({ vars });
  return undefined;
}

function failureOf(scenario: Scenario, step: Step, problem: WorkProblem): Failure {
  const placed = (path: Path) => ({ file: scenario.file, ...scenario.placeOf(path) });
  const [first] = problem.differences;
  const place = first
    ? placed(first.path)
    : { file: scenario.file, ...scenario.placeOf([...step.path, step.kind], 'key') };
  return {
    ...place,
    message: problem.message,
    differences: problem.differences.map(({ path, what, expected, got }) => ({
      what,
      expected,
      got,
      ...placed(path),
    })),
    decision: problem.decision,
    curl: problem.curl,
  };
}
