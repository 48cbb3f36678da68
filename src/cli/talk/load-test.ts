/** What the load tests share: options, the run until its end or a signal, the judgement, and lines of the result. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Random } from '../../lib/ids.ts';
import { secureRandom } from '../../lib/ids.ts';
import { loadLimits } from '../../lib/load-limits.ts';
import { every, stopwatch } from '../../lib/timers.ts';
import type { Latency } from '../../load/latency.ts';
import type { Sample } from '../../load/relay-report.ts';
import { PreparationError } from '../../load/relay-users.ts';
import { createSeconds } from '../../load/seconds.ts';
import {
  judge,
  type Metric,
  parseThreshold,
  type Threshold,
  type ThresholdResult,
} from '../../load/threshold.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError, type Problem, problemOf, usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { CommandResult } from '../machine/output.ts';
import { refusalOf } from '../service/control-reply.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';

export interface LoadOptions {
  users: number;
  perUser: number;
  concurrency?: number;
  rate?: number;
  duration?: number;
  threshold?: string[];
  reportHtml?: string;
  brand?: string;
}

/** What every load test reports. */
interface Report {
  sent: number;
  expected: number;
  overAdmission: number;
  underAdmission: number;
  failed: number;
  failures: Record<string, number>;
  latencyMs: Latency;
  refusedLatencyMs: Latency;
  thresholds: ThresholdResult[];
  plots: unknown;
}

interface Running {
  client: ReturnType<typeof clientFor>;
  random: Random;
  signal: AbortSignal;
  onAnswer: (answer: Pick<Sample, 'verdict' | 'tookMs'>) => void;
  onProgress: (phase: string, done: number, of: number) => void;
}

/** How many, and how fast. */
interface Pace {
  users: number;
  perUser: number;
  concurrency: number;
  ratePerSecond: number | undefined;
  durationMs: number | undefined;
}

export interface LoadTest<R extends Report> {
  /** Those that a threshold may name; those of the relay by default. */
  metrics?: readonly Metric[];
  run(target: Target): Promise<(deps: Running, pace: Pace) => Promise<R>>;
  /** `calls`, and what they are too few to judge. */
  words: { sent: string; judged: string };
  metricsOf: (report: R) => Readonly<Partial<Record<Metric, number | null>>>;
  brokenRules: (report: R) => string[];
  title: (report: R) => string;
  html: (report: R, about: { title: string; made: string }) => string;
  text: (report: R, style: Style) => string;
}

/** Runs a load test, shows its progress, and judges the result; a signal stops it unjudged. */
export async function runLoadTest<R extends Report>(
  context: CommandContext,
  options: LoadOptions,
  test: LoadTest<R>,
): Promise<CommandResult | number> {
  const { runtime } = context;
  const thresholds = (options.threshold ?? []).map((text) => thresholdOf(text, test.metrics));
  if (options.rate !== undefined && options.concurrency !== undefined) {
    throw usageError('--rate and --concurrency exclude each other.', 'Leave one of them out.');
  }
  const target = await resolveTarget(context);
  const run = await test.run(target);
  const stop = new AbortController();
  let interrupted: number | undefined;
  const unwatch = runtime.onSignal((signal) => {
    interrupted ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    stop.abort();
  });
  const progress = createProgress(context);
  const seconds = tellSeconds(context);
  try {
    const report = await run(
      {
        client: clientFor(target, context),
        random: secureRandom(runtime.clock),
        signal: stop.signal,
        onAnswer: seconds.onAnswer,
        onProgress(phase, done, of) {
          progress.show(phase, done, of);
          seconds.onProgress(phase, done, of);
        },
      },
      {
        users: options.users,
        perUser: options.perUser,
        concurrency: options.concurrency ?? loadLimits.concurrencyDefault,
        ratePerSecond: options.rate,
        durationMs: options.duration,
      },
    );
    seconds.end();
    progress.clear();
    if (interrupted !== undefined) {
      context.note(`stopped after ${report.sent} ${test.words.sent}; too few to judge ${test.words.judged}`);
      return interrupted;
    }
    report.thresholds = judge(thresholds, test.metricsOf(report));
    if (options.reportHtml !== undefined) {
      const made = new Date(runtime.clock.now()).toISOString();
      await writeReport(context, options.reportHtml, test.html(report, { title: test.title(report), made }));
    }
    return resultOf(report, test);
  } catch (error) {
    throw error instanceof PreparationError ? unprepared(error) : error;
  } finally {
    seconds.end();
    progress.clear();
    unwatch();
  }
}

const SECOND_MS = 1_000;

/** With `-o jsonl`, a line for each second, and one for the rest. */
function tellSeconds({ runtime, settings }: CommandContext) {
  const seconds = createSeconds(stopwatch());
  const tell = () => {
    const second = seconds.read();
    if (second) runtime.stdout.write(`${JSON.stringify({ type: 'second', second })}\n`);
  };
  let stop = settings.output === 'jsonl' ? every(SECOND_MS, tell) : undefined;
  return {
    ...seconds,
    end(): void {
      if (!stop) return;
      stop();
      stop = undefined;
      tell();
    },
  };
}

/** Throws E_USAGE for a text that is not a threshold of these metrics. */
function thresholdOf(text: string, metrics?: readonly Metric[]): Threshold {
  const parsed = parseThreshold(text, metrics);
  if (!('problem' in parsed)) return parsed;
  throw usageError(
    `--threshold ${text} ${parsed.problem}.`,
    'Write it as --threshold over_admission==0 or --threshold "p95<200ms".',
  );
}

function unprepared(error: PreparationError): CliError {
  const refusal = refusalOf({ ...error.reply, isAnswer: false }) ?? problemOf('E_NOT_EMULATOR');
  return new CliError(refusal.code, refusal, { cause: error });
}

/** Throws E_FILE when the page cannot be written. */
async function writeReport({ runtime }: CommandContext, path: string, page: string): Promise<void> {
  try {
    await writeFile(resolve(runtime.cwd, path), page);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CliError(
      'E_FILE',
      { message: `${path} cannot be written (${code}).`, details: { path, code } },
      { cause },
    );
  }
}

function resultOf<R extends Report>(report: R, test: LoadTest<R>): CommandResult {
  const { plots: _, ...data } = report;
  const text: Extract<CommandResult, { ok: true }>['text'] = (style) => test.text(report, style);
  // Thresholds come first: the user chose them.
  const problem = thresholdProblem(report.thresholds) ?? brokenProblem(test.brokenRules(report));
  return problem ? { ok: false, error: problem, data, text } : { ok: true, data, text };
}

function thresholdProblem(thresholds: readonly ThresholdResult[]): Problem | undefined {
  const crossed = thresholds.filter(({ ok }) => !ok);
  if (crossed.length === 0) return undefined;
  const said = crossed.map(({ threshold, value }) => `${threshold} (${value ?? 'nothing measured'})`);
  return problemOf('E_THRESHOLD', { message: `Crossed: ${said.join(', ')}.`, details: { crossed } });
}

function brokenProblem(broken: string[]): Problem | undefined {
  if (broken.length === 0) return undefined;
  return problemOf('E_LIMIT_BROKEN', { message: `${broken.join('; ')}.`, details: { broken } });
}

export const row = (style: Style, name: string, text: string) => `  ${style.dim(name.padEnd(16))} ${text}`;

export const zero = (style: Style, count: number) =>
  count === 0 ? style.green('0') : style.red(String(count));

export const countsText = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, times]) => `${times} x ${name}`)
    .join(', ');

/** `admitted 36 of 36 exact`. */
export const admittedLine = (
  report: Report,
  style: Style,
  { name, count, otherwise }: { name: string; count: number; otherwise: string },
) => {
  const exact = report.overAdmission === 0 && report.underAdmission === 0;
  return row(
    style,
    name,
    `${count} of ${report.expected}  ${exact ? style.green('exact') : style.red(otherwise)}`,
  );
};

/** How many were let through or refused against the rules, and how many failed. */
export const mistakeLines = ({ overAdmission, underAdmission, failed, failures }: Report, style: Style) => [
  row(style, 'over-admission', zero(style, overAdmission)),
  row(style, 'under-admission', zero(style, underAdmission)),
  ...(failed > 0 ? [row(style, 'failed', `${zero(style, failed)}  ${countsText(failures)}`)] : []),
];

/** The end of each result: how long answers took, and the thresholds. */
export const endLines = ({ latencyMs, refusedLatencyMs, thresholds }: Report, style: Style) => [
  row(style, 'latency ms', latencyText(latencyMs)),
  ...(refusedLatencyMs.p50 === null ? [] : [row(style, 'of refusals', latencyText(refusedLatencyMs))]),
  ...thresholds.map(({ threshold, value, ok }) =>
    row(
      style,
      'threshold',
      `${ok ? style.green('ok  ') : style.red('FAIL')} ${threshold}  ${style.dim(String(value ?? 'nothing measured'))}`,
    ),
  ),
];

const latencyText = ({ p50, p90, p95, p99, max }: Latency) =>
  p50 === null ? 'nothing measured' : `p50 ${p50}  p90 ${p90}  p95 ${p95}  p99 ${p99}  max ${max}`;
