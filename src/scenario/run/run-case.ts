/** Runs one case of a scenario: a row of its matrix on a stack of its own, or on a target that runs already. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../../client/create-client.ts';
import { listRequests, showRequest } from '../../contract/control/requests.ts';
import { saveSnapshot } from '../../contract/control/snapshots.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { stopwatch } from '../../lib/timers.ts';
import type { StartFreshStack } from '../../stack/fresh-stack.ts';
import type { Scenario } from '../format/scenario.ts';
import type { Scope } from '../format/variables.ts';
import { controlBody, type ScenarioTarget } from '../steps/step-context.ts';
import { createCaseContext } from './case-context.ts';
import type { CaseReport, Failure, Kept, StepReport } from './report.ts';
import { runSteps, type StepDeps } from './run-steps.ts';
import { canOfOwn, targetOf } from './stack-target.ts';

export interface CaseDeps {
  clock: Clock;
  random: Random;
  log: Log;
  userAgent: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Folder for what is kept of cases that fail on a stack of their own; nothing is kept without it. */
  keepIn?: string | undefined;
  /** Aborted: no further step begins. */
  signal: AbortSignal;
  /** Hears of each step as it ends, those of groups included. */
  onStep?: ((step: StepReport, of: { file: string; case: string }) => void) | undefined;
  /** Absolute paths of a scenario's fixtures. */
  seedFiles: (scenario: Scenario) => string[];
  /** A stack of its own for a case without a target. */
  startStack: StartFreshStack;
  /** Of a fresh, empty Postgres database, where stacks shall have one; and how it is dropped. */
  openDatabase?: () => Promise<{ url: string; drop: () => Promise<void> }>;
}

interface CaseWish {
  matrix: Record<string, unknown>;
  /** In place of values of `vars`. */
  vars: Record<string, string>;
  /** A service that runs already. */
  target?: ScenarioTarget | undefined;
}

/** Never throws for what a file or a service did; a stack that does not start is a failure of the case. */
export async function runCase(deps: CaseDeps, scenario: Scenario, wish: CaseWish): Promise<CaseReport> {
  const elapsedMs = stopwatch();
  const row = Object.entries(wish.matrix).map(([name, value]) => `${name}=${value}`);
  const report: CaseReport = {
    name: [scenario.data.name, ...(row.length > 0 ? [`(${row.join(', ')})`] : [])].join(' '),
    matrix: wish.matrix,
    status: 'passed',
    reason: null,
    failure: null,
    durationMs: 0,
    clock: null,
    steps: [],
    kept: null,
  };
  const undo: (() => Promise<void>)[] = [];
  let secrets: (string | undefined)[] = secretsOf(scenario, wish);
  try {
    const target = wish.target ?? (await freshStack(deps, scenario, undo));
    secrets = [
      ...secrets,
      target.apiKey,
      target.controlToken,
      target.webhookSecret,
      ...target.brands.map(({ apiKey }) => apiKey),
    ];
    const onStep = (step: StepReport) =>
      deps.onStep?.(redactor(secrets)(step), { file: scenario.file, case: report.name });
    Object.assign(report, await runOn(deps, scenario, { ...wish, target, onStep }));
    const { keepIn, userAgent } = deps;
    if (keepIn !== undefined && !wish.target && hasFailed(report))
      report.kept = await keepFailed(target, { folder: keepIn, name: nameOfCase(scenario, wish), userAgent });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    report.failure = wholeFile(scenario, `the stack did not start: ${error.message}`);
  } finally {
    for (const one of undo.reverse()) await one();
  }
  const done = {
    ...report,
    status: hasFailed(report) ? 'failed' : report.status,
    durationMs: Math.round(elapsedMs()),
  } as const;
  return redactor(secrets)<CaseReport>(done);
}

const hasFailed = ({ failure, steps }: CaseReport): boolean =>
  failure !== null || steps.some(({ status }) => status === 'failed');

/** Of its file and its row of the matrix, for names of files. */
const nameOfCase = ({ file }: Scenario, { matrix }: CaseWish): string =>
  [file.replace(/\.ya?ml$/, ''), ...Object.values(matrix).map(String)]
    .join('-')
    .replace(/[^\w.]+/g, '-')
    .replace(/^[-.]+/, '');

async function freshStack(
  deps: CaseDeps,
  scenario: Scenario,
  undo: (() => Promise<void>)[],
): Promise<ScenarioTarget> {
  const { clock, errors } = scenario.data;
  const database = await deps.openDatabase?.();
  if (database) undo.push(database.drop);
  const stack = await deps.startStack({
    seedFiles: deps.seedFiles(scenario),
    clockStartMs: clock?.start === undefined ? undefined : Date.parse(clock.start),
    frozen: clock?.frozen ?? false,
    errorDialect: errors,
    databaseUrl: database?.url,
    log: deps.log,
  });
  undo.push(stack.stop);
  return { ...targetOf(stack.ready), can: canOfOwn(database !== undefined) };
}

async function runOn(
  deps: CaseDeps,
  scenario: Scenario,
  { target, matrix, vars, onStep }: CaseWish & { target: ScenarioTarget } & Pick<StepDeps, 'onStep'>,
): Promise<Pick<CaseReport, 'steps' | 'clock'>> {
  const context = await createCaseContext(deps, target);
  const known = {
    vars: { ...scenario.data.vars, ...vars } as Record<string, unknown>,
    steps: {} as Record<string, unknown>,
  };
  const values = {
    ...known,
    env: deps.env,
    matrix,
    contracts: target.contracts,
    accounts: Object.fromEntries(target.users.map((user) => [user.login, user])),
    ...(target.brands[0] && { brand: { ...target.brands[0], id: target.brands[0].brandId } }),
    target: { url: target.urls.events, ...target.urls },
  };
  const stepDeps: StepDeps = {
    scenario,
    context,
    scopeWith: (more): Scope => ({
      values: { ...values, ...more },
      nowMs: context.nowMs,
      random: deps.random,
    }),
    sleep: (ms) => deps.clock.sleep(ms, deps.signal),
    goesOn: () => !deps.signal.aborted,
    onStep,
    remember(kept) {
      Object.assign(known.vars, kept.vars);
      Object.assign(known.steps, kept.steps);
    },
  };
  const time = async () => new Date(await context.nowMs()).toISOString();
  const start = await time();
  const steps: StepReport[] = await runSteps(stepDeps, scenario.steps);
  steps.push(...(await runSteps({ ...stepDeps, goesOn: () => true }, scenario.always)));
  return { steps, clock: target.can.has('clock') ? { start, end: await time() } : null };
}

const secretsOf = ({ data }: Scenario, { vars }: CaseWish) =>
  (data.secret ?? []).map((name) => String(vars[name] ?? data.vars?.[name] ?? ''));

const wholeFile = ({ file, placeOf }: Scenario, message: string): Failure => ({
  file,
  ...placeOf([]),
  message,
  differences: [],
  decision: null,
  curl: null,
});

/** The newest ones, with their bodies: a failure is near its end. */
const REQUESTS_MAX = 200;
/** Of one answer of the stack, which is in this process. */
const TIMEOUT_MS = 30_000;

/** `name`: of the files in `folder`. What cannot be kept is said in `problem`. */
async function keepFailed(
  { urls, controlToken, can }: ScenarioTarget,
  { folder, name, userAgent }: { folder: string; name: string; userAgent: string },
): Promise<Kept> {
  const kept: Kept = { snapshot: null, requests: null, problem: null };
  const { call } = createClient({ urls, controlToken, timeoutMs: TIMEOUT_MS, userAgent });
  try {
    // It has the keys of its users, be it the emulator's only.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { requests } = controlBody(await call(listRequests, { query: { limit: REQUESTS_MAX } }));
    const whole = [];
    for (const { id } of requests) whole.push(controlBody(await call(showRequest, { path: { id } })));
    const log = join(folder, `${name}.requests.json`);
    await writeFile(log, `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
    kept.requests = log;
    if (!can.has('snapshots')) return { ...kept, problem: 'a stack on Postgres has no snapshots' };
    const saved = controlBody(await call(saveSnapshot, { body: { note: `a failed scenario: ${name}` } }));
    const file = join(folder, `${name}.rewards`);
    await copyFile(saved.file, file);
    return { ...kept, snapshot: file };
  } catch (error) {
    return { ...kept, problem: error instanceof Error ? error.message : String(error) };
  }
}

const HIDDEN = '[secret]';
/** Shorter ones would blacken half of a report. */
const SECRET_MIN = 4;

/** A function that replaces each of `secrets` in all texts of a JSON value. */
function redactor(secrets: readonly (string | undefined)[]): <Value>(value: Value) => Value {
  const hidden = secrets.filter((one): one is string => one !== undefined && one.length >= SECRET_MIN);
  const redacted = (value: unknown): unknown => {
    if (typeof value === 'string') return hidden.reduce((text, one) => text.replaceAll(one, HIDDEN), value);
    if (Array.isArray(value)) return value.map(redacted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redacted(one)]));
  };
  return <Value>(value: Value) => redacted(value) as Value;
}
