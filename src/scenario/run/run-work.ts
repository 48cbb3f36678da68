/** Runs one step that does something: variables, repetitions, further tries, and the comparison with what is expected. */
import { ClientError } from '../../client/client-error.ts';
import { moveClock } from '../../contract/control/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import type { Step } from '../format/scenario.ts';
import { resolved, type Scope, VariableError } from '../format/variables.ts';
import { stepKinds } from '../steps/all-steps.ts';
import { type Difference, differences, type Path, shown } from '../steps/match.ts';
import { type Seen, StepError } from '../steps/step-context.ts';
import { inputProblems } from '../steps/step-kind.ts';
import type { CaseContext } from './case-context.ts';
import { type Decision, decisionOf } from './decision.ts';
import type { RequestMade } from './report.ts';
import { tryUntil } from './try-until.ts';

/** What a step came to; `problem` without one is a success. */
export interface WorkResult {
  seen: Seen;
  requests: RequestMade[];
  problem?: WorkProblem;
}

export interface WorkProblem {
  message: string;
  /** Below the step. */
  differences: Difference[];
  decision: string | null;
  curl: string | null;
}

export interface WorkDeps {
  context: CaseContext;
  scopeWith: (more: Record<string, unknown>) => Scope;
  sleep: (ms: number) => Promise<void>;
  /** False: nothing more may be begun. */
  goesOn: () => boolean;
}

const TIMEOUT_MS = 30_000;

/** Does what a step says, and compares. Never throws for what a file, a service or a network did. */
export async function runWork(deps: WorkDeps, step: Step): Promise<WorkResult> {
  const { eventually, repeat } = step.fields;
  const once = () => (typeof repeat === 'number' ? runRepeated(deps, step, repeat) : runOnce(deps, step, {}));
  if (eventually === undefined) return once();
  const within = typeof eventually === 'string' ? eventually : (eventually as { within: string }).within;
  const result = await tryUntil(clockOf(deps), parseDuration(within) ?? 0, {
    once,
    holds: ({ problem }) => !problem,
  });
  if (!result.problem) return result;
  return { ...result, problem: { ...result.problem, message: `${result.problem.message}, after all tries` } };
}

function clockOf({ context, sleep, goesOn }: WorkDeps) {
  const { client } = context.forStep(TIMEOUT_MS).context;
  const advance = (ms: number) => client.call(moveClock, { body: { advance: `${ms}ms` } });
  return { sleep, goesOn, advance: context.target.can.has('clock') ? advance : undefined };
}

async function runOnce(deps: WorkDeps, step: Step, more: Record<string, unknown>): Promise<WorkResult> {
  const kind = stepKinds[step.kind];
  if (!kind) throw new Error(`there is no step ${step.kind}`);
  const scope = deps.scopeWith(more);
  const timeout = step.fields.timeout;
  const timeoutMs = (typeof timeout === 'string' ? parseDuration(timeout) : undefined) ?? TIMEOUT_MS;
  const { context, exchanges } = deps.context.forStep(timeoutMs);
  const requestId = () => exchanges.made().findLast(({ requestId: id }) => id !== null)?.requestId ?? null;
  let decision: Decision | undefined;
  const decided = async () => {
    decision ??= context.target.can.has('controls')
      ? await decisionOf(context.client, requestId())
      : undefined;
    return decision;
  };
  const failed = async (seen: Seen, message: string, found: Difference[] = []): Promise<WorkResult> => {
    // Before the question for the decision, which is a request too.
    const [requests, curl] = [exchanges.made(), exchanges.curl()];
    const text = 'decision' in kind.sees ? ((await decided())?.text ?? null) : null;
    return { seen, requests, problem: { message, differences: found, decision: text, curl } };
  };
  try {
    const input = kind.input.safeParse(await resolved(step.input, scope));
    if (!input.success) {
      const problems = inputProblems(input.error.issues).join('; ');
      return await failed({}, `with its variables replaced, ${step.kind} is not understood: ${problems}`);
    }
    const seen = await kind.run(context, input.data);
    const requests = exchanges.made();
    const expect = await resolved(step.fields.expect, scope);
    if (asksForDecision(expect, seen)) seen.decision = (await decided())?.name ?? undefined;
    if (expect === undefined) {
      const problem = (kind.failure ?? refusedAnswer)(seen);
      return problem && !isCounted(step) ? await failed(seen, problem) : { seen, requests };
    }
    const found = differences(withoutCounts(expect), seen, [...step.path, 'expect']);
    return found.length > 0 ? await failed(seen, messageOf(found) + saidBy(seen), found) : { seen, requests };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return failed({}, error.message);
  }
}

const isExpected = (error: unknown): error is Error =>
  error instanceof StepError ||
  error instanceof VariableError ||
  error instanceof ClientError ||
  (error instanceof Error && ('code' in error || /^Rpc/.test(error.name)));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Of the step, or of its answers of this status. */
const asksForDecision = (expect: unknown, { status }: Seen): boolean =>
  isObject(expect) &&
  ('decision' in expect ||
    (isObject(expect.each) &&
      isObject(expect.each[String(status)]) &&
      'decision' in (expect.each[String(status)] as object)));

const countsOf = (step: Step) => (step.fields.expect ?? {}) as { split?: unknown; each?: unknown };
const isCounted = (step: Step) => step.fields.repeat !== undefined && 'split' in countsOf(step);

/** What is expected of all answers together is compared when all are there. */
function withoutCounts(expect: unknown): unknown {
  const { split: _, each: __, ...rest } = expect as Record<string, unknown>;
  return rest;
}

const messageOf = (found: readonly Difference[]) =>
  found.length === 1
    ? `${found[0]?.what || 'it'} is not as expected`
    : `${found.length} values are not as expected`;

/** What a refusal says of itself, in brackets; nothing for other answers. */
function saidBy({ status, body }: Seen): string {
  if (typeof status !== 'number' || status < 400 || !isObject(body)) return '';
  const said = [body.error, body.message].filter((one) => typeof one === 'string').join(': ');
  return said ? ` (${said})` : '';
}

const refusedAnswer = (seen: Seen): string | undefined =>
  typeof seen.status === 'number' && seen.status >= 400
    ? `the answer is ${seen.status}${saidBy(seen)}, and the step expects no refusal`
    : undefined;

/** All repetitions run, whatever comes of them; the first problem is told. */
async function runRepeated(deps: WorkDeps, step: Step, times: number): Promise<WorkResult> {
  const atOnce = typeof step.fields.concurrency === 'number' ? step.fields.concurrency : 1;
  const results: WorkResult[] = [];
  let next = 0;
  const worker = async () => {
    while (next < times && deps.goesOn()) {
      const place = next++;
      results[place] = await runOnce(deps, step, { repeat: place + 1 });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, worker));
  const done = results.filter((one) => one !== undefined);
  const last = done.at(-1) ?? { seen: {}, requests: [] };
  const counted = await countsProblem(deps, step, done);
  const bad = done.findIndex(({ problem }) => problem);
  const problem = done[bad]?.problem;
  if (counted)
    return {
      ...last,
      problem: { ...counted, decision: problem?.decision ?? null, curl: problem?.curl ?? null },
    };
  return problem
    ? { ...last, problem: { ...problem, message: `repetition ${bad + 1} of ${times}: ${problem.message}` } }
    : last;
}

async function countsProblem(
  deps: WorkDeps,
  step: Step,
  done: readonly WorkResult[],
): Promise<Pick<WorkProblem, 'message' | 'differences'> | undefined> {
  // The rest of the expectation may name the repetition, which has no number here.
  const { split: wanted, each: all } = countsOf(step);
  const { split, each } = (await resolved({ split: wanted, each: all }, deps.scopeWith({}))) as {
    split?: Record<string, unknown>;
    each?: Record<string, unknown>;
  };
  const at: Path = [...step.path, 'expect'];
  const counts: Record<string, number> = {};
  for (const { seen } of done) counts[String(seen.status)] = (counts[String(seen.status)] ?? 0) + 1;
  const found: Difference[] = [];
  if (split !== undefined) {
    found.push(...differences(split, counts, [...at, 'split'], ['split']));
    const unnamed = Object.keys(counts).filter((status) => !Object.hasOwn(split, status));
    if (unnamed.length > 0)
      found.push({ path: [...at, 'split'], what: 'split', expected: shown(split), got: shown(counts) });
  }
  for (const [status, expected] of Object.entries(each ?? {}))
    for (const { seen } of done)
      if (String(seen.status) === status)
        found.push(...differences(expected, seen, [...at, 'each', status], ['each', status]));
  return found.length > 0 ? { message: messageOf(found), differences: found.slice(0, 5) } : undefined;
}
