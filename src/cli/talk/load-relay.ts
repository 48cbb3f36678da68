/** `rewards load relay`: runs the load test, shows its progress, and reports the result. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { formatDuration } from '../../lib/duration.ts';
import { secureRandom } from '../../lib/ids.ts';
import { loadRelay } from '../../load/relay-load.ts';
import { brokenRules, metricsOf, type RelayReport } from '../../load/relay-report.ts';
import { PreparationError } from '../../load/relay-users.ts';
import { reportHtml } from '../../load/report-html.ts';
import {
  judge,
  type Metric,
  parseThreshold,
  type Threshold,
  type ThresholdResult,
} from '../../load/threshold.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, type Problem, problemOf, usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { CommandResult } from '../machine/output.ts';
import { refusalOf } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';
import { originOf } from './relay.ts';
import { userWalletsOf } from './relay-user.ts';

interface LoadOptions {
  users: number;
  perUser: number;
  concurrency?: number;
  rate?: number;
  duration?: number;
  oneAddress?: boolean;
  reset: boolean;
  threshold?: string[];
  reportHtml?: string;
  brand?: string;
}

export const CONCURRENCY_DEFAULT = 50;

export const loadRelayTest: Handler<LoadOptions> = async (context, options) => {
  const { runtime } = context;
  const thresholds = (options.threshold ?? []).map((text) => thresholdOf(text));
  if (options.rate !== undefined && options.concurrency !== undefined) {
    throw usageError('--rate and --concurrency exclude each other.', 'Leave one of them out.');
  }
  const target = await resolveTarget(context);
  const stop = new AbortController();
  let interrupted: number | undefined;
  const unwatch = runtime.onSignal((signal) => {
    interrupted ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    stop.abort();
  });
  const progress = createProgress(context);
  const random = secureRandom(runtime.clock);
  try {
    const report = await loadRelay(
      {
        client: clientFor(target, context),
        wallets: userWalletsOf(context, target),
        random,
        origin: await originOf(context, target, options.brand),
        signal: stop.signal,
        onProgress: progress.show,
      },
      {
        users: options.users,
        perUser: options.perUser,
        concurrency: options.concurrency ?? CONCURRENCY_DEFAULT,
        ratePerSecond: options.rate,
        durationMs: options.duration,
        oneAddress: options.oneAddress ?? false,
        checkReset: options.reset,
      },
    );
    progress.clear();
    if (interrupted !== undefined) {
      context.note(`stopped after ${report.sent} calls; too few to judge the limit`);
      return interrupted;
    }
    report.thresholds = judge(thresholds, metricsOf(report));
    if (options.reportHtml !== undefined) {
      const title = `rewards load relay: ${report.users} users × ${report.perUser}`;
      await writeReport(context, options.reportHtml, (made) => reportHtml(report, { title, made }));
    }
    return resultOf(report);
  } catch (error) {
    throw error instanceof PreparationError ? unprepared(error) : error;
  } finally {
    progress.clear();
    unwatch();
  }
};

/** Throws E_USAGE for a text that is not a threshold of these metrics. */
export function thresholdOf(text: string, metrics?: readonly Metric[]): Threshold {
  const parsed = parseThreshold(text, metrics);
  if (!('problem' in parsed)) return parsed;
  throw usageError(
    `--threshold ${text} ${parsed.problem}.`,
    'Write it as --threshold over_admission==0 or --threshold "p95<200ms".',
  );
}

function resultOf(report: RelayReport): CommandResult {
  const { plots: _, ...data } = report;
  const text: Extract<CommandResult, { ok: true }>['text'] = (style) => loadText(report, style);
  const problem = problemIn(report);
  return problem ? { ok: false, error: problem, data, text } : { ok: true, data, text };
}

/** Thresholds come first: the user chose them. */
function problemIn(report: RelayReport): Problem | undefined {
  const crossed = thresholdProblem(report.thresholds);
  if (crossed) return crossed;
  const broken = brokenRules(report);
  if (broken.length === 0) return undefined;
  return problemOf('E_LIMIT_BROKEN', { message: `${broken.join('; ')}.`, details: { broken } });
}

export function thresholdProblem(thresholds: readonly ThresholdResult[]): Problem | undefined {
  const crossed = thresholds.filter(({ ok }) => !ok);
  if (crossed.length === 0) return undefined;
  const said = crossed.map(({ threshold, value }) => `${threshold} (${value ?? 'nothing measured'})`);
  return problemOf('E_THRESHOLD', { message: `Crossed: ${said.join(', ')}.`, details: { crossed } });
}

export function unprepared(error: PreparationError): CliError {
  const refusal = refusalOf({ ...error.reply, isAnswer: false }) ?? problemOf('E_NOT_EMULATOR');
  return new CliError(refusal.code, refusal, { cause: error });
}

/** Throws E_FILE when the page cannot be written. */
export async function writeReport(
  { runtime }: CommandContext,
  path: string,
  page: (made: string) => string,
): Promise<void> {
  const made = new Date(runtime.clock.now()).toISOString();
  try {
    await writeFile(resolve(runtime.cwd, path), page(made));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CliError(
      'E_FILE',
      { message: `${path} cannot be written (${code}).`, details: { path, code } },
      { cause },
    );
  }
}

function loadText(report: RelayReport, style: Style): string {
  const { admitted, expected, overAdmission, underAdmission, failed, latencyMs, refusedLatencyMs } = report;
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(16))} ${text}`;
  const zero = (count: number) => (count === 0 ? style.green('0') : style.red(String(count)));
  const exact = overAdmission === 0 && underAdmission === 0;
  const limit = report.oneAddress
    ? `limit ${report.limit} a minute per address`
    : `limit ${report.limit} an hour per user`;
  return [
    `${style.bold('load relay')}  ${report.users} users x ${report.perUser} calls${report.oneAddress ? ' from one address' : ''}  ${style.dim(limit)}`,
    row(
      'sent',
      `${report.sent} in ${formatDuration(report.durationMs)}, ${report.admittedPerSecond} admitted a second`,
    ),
    row(
      'admitted',
      `${admitted} of ${expected}  ${exact ? style.green('exact') : style.red('not what the limit allows')}`,
    ),
    row('refused', String(report.refused)),
    row('over-admission', zero(overAdmission)),
    row('under-admission', zero(underAdmission)),
    ...(failed > 0 ? [row('failed', `${zero(failed)}  ${failuresText(report)}`)] : []),
    row('headers', `${report.headers.checked} checked, ${zero(report.headers.count)} wrong`),
    ...report.headers.problems.slice(0, PROBLEMS_SHOWN).map((problem) => row('', style.red(problem))),
    ...resetLines(report, style).map((line, place) => row(place === 0 ? 'reset' : '', line)),
    row('latency ms', latencyText(latencyMs)),
    ...(refusedLatencyMs.p50 === null ? [] : [row('of refusals', latencyText(refusedLatencyMs))]),
    ...thresholdLines(report, style, row),
  ].join('\n');
}

export const thresholdLines = (
  { thresholds }: Pick<RelayReport, 'thresholds'>,
  style: Style,
  row: (name: string, text: string) => string,
) =>
  thresholds.map(({ threshold, value, ok }) =>
    row(
      'threshold',
      `${ok ? style.green('ok  ') : style.red('FAIL')} ${threshold}  ${style.dim(String(value ?? 'nothing measured'))}`,
    ),
  );

const PROBLEMS_SHOWN = 5;

const failuresText = ({ failures }: RelayReport) =>
  Object.entries(failures)
    .map(([name, times]) => `${times} x ${name}`)
    .join(', ');

export const latencyText = ({ p50, p90, p95, p99, max }: RelayReport['latencyMs']) =>
  p50 === null ? 'nothing measured' : `p50 ${p50}  p90 ${p90}  p95 ${p95}  p99 ${p99}  max ${max}`;

function resetLines({ reset }: RelayReport, style: Style): string[] {
  if (!reset) return [style.dim('not checked')];
  const { checked, refusedBefore, admittedAfter, problems } = reset;
  const right = admittedAfter === checked ? style.green : style.red;
  return [
    `${refusedBefore} of ${checked} users refused just before it, ${right(`${admittedAfter} of ${checked}`)} admitted at it`,
    ...problems.slice(0, PROBLEMS_SHOWN).map((problem) => style.red(problem)),
  ];
}
