/** `rewards load events`: runs the load test, shows its progress, and reports the result. */
import { formatDuration } from '../../lib/duration.ts';
import { secureRandom } from '../../lib/ids.ts';
import { loadEvents, UncountableError } from '../../load/events-load.ts';
import { brokenEventRules, type EventsReport, eventMetricsOf } from '../../load/events-report.ts';
import { PreparationError } from '../../load/relay-users.ts';
import { eventsHtml } from '../../load/report-html.ts';
import { eventMetrics, judge } from '../../load/threshold.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, type Problem, problemOf, usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { CommandResult } from '../machine/output.ts';
import { namedBrand } from '../service/named-brand.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';
import {
  CONCURRENCY_DEFAULT,
  latencyText,
  thresholdLines,
  thresholdOf,
  thresholdProblem,
  unprepared,
  writeReport,
} from './load-relay.ts';

interface EventsOptions {
  event: string;
  users: number;
  perUser: number;
  concurrency?: number;
  rate?: number;
  duration?: number;
  threshold?: string[];
  reportHtml?: string;
  brand?: string;
}

export const loadEventsTest: Handler<EventsOptions> = async (context, options) => {
  const { runtime } = context;
  const thresholds = (options.threshold ?? []).map((text) => thresholdOf(text, eventMetrics));
  if (options.rate !== undefined && options.concurrency !== undefined) {
    throw usageError('--rate and --concurrency exclude each other.', 'Leave one of them out.');
  }
  const target = await resolveTarget(context);
  const brand = await namedBrand(context, target, options.brand);
  if (!brand) throw usageError('This target does not list its brands.', 'Name one with --brand.');
  const stop = new AbortController();
  let interrupted: number | undefined;
  const unwatch = runtime.onSignal((signal) => {
    interrupted ??= signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    stop.abort();
  });
  const progress = createProgress(context);
  const { event: eventType, users, perUser } = options;
  try {
    const report = await loadEvents(
      {
        client: clientFor(target, context),
        random: secureRandom(runtime.clock),
        signal: stop.signal,
        onProgress: progress.show,
      },
      {
        brandId: brand.brandId,
        eventType,
        users,
        perUser,
        concurrency: options.concurrency ?? CONCURRENCY_DEFAULT,
        ratePerSecond: options.rate,
        durationMs: options.duration,
      },
    );
    progress.clear();
    if (interrupted !== undefined) {
      context.note(`stopped after ${report.sent} events; too few to judge the rules`);
      return interrupted;
    }
    report.thresholds = judge(thresholds, eventMetricsOf(report));
    if (options.reportHtml !== undefined) {
      const title = `rewards load events: ${users} users × ${perUser} ${eventType}`;
      await writeReport(context, options.reportHtml, (made) => eventsHtml(report, { title, made }));
    }
    return resultOf(report);
  } catch (error) {
    if (error instanceof UncountableError)
      throw new CliError('E_REFUSED', { message: error.message, fix: error.fix }, { cause: error });
    throw error instanceof PreparationError ? unprepared(error) : error;
  } finally {
    progress.clear();
    unwatch();
  }
};

function resultOf(report: EventsReport): CommandResult {
  const { plots: _, ...data } = report;
  const text: Extract<CommandResult, { ok: true }>['text'] = (style) => eventsText(report, style);
  const problem = thresholdProblem(report.thresholds) ?? brokenProblem(report);
  return problem ? { ok: false, error: problem, data, text } : { ok: true, data, text };
}

function brokenProblem(report: EventsReport): Problem | undefined {
  const broken = brokenEventRules(report);
  if (broken.length === 0) return undefined;
  return problemOf('E_LIMIT_BROKEN', { message: `${broken.join('; ')}.`, details: { broken } });
}

function eventsText(report: EventsReport, style: Style): string {
  const { rewarded, expected, overAdmission, underAdmission, payment, ledger, failed } = report;
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(16))} ${text}`;
  const zero = (count: number) => (count === 0 ? style.green('0') : style.red(String(count)));
  const exact = overAdmission === 0 && underAdmission === 0;
  const kinds = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, times]) => `${times} x ${name}`)
      .join(', ');
  return [
    `${style.bold('load events')}  ${report.users} users x ${report.perUser} ${report.eventType}`,
    row(
      'sent',
      `${report.sent} in ${formatDuration(report.durationMs)}, ${report.rewardedPerSecond} rewarded a second`,
    ),
    row(
      'rewarded',
      `${rewarded} of ${expected}  ${exact ? style.green('exact') : style.red('not what the rules allow')}`,
    ),
    row('refused', `${report.refused}  ${style.dim(kinds(report.refusals))}`.trimEnd()),
    row('over-admission', zero(overAdmission)),
    row('under-admission', zero(underAdmission)),
    ...(failed > 0 ? [row('failed', `${zero(failed)}  ${kinds(report.failures)}`)] : []),
    row(
      'paid on chain',
      `${payment.paid} of ${payment.allowed} RWT, ${zero(payment.over)} over, ${zero(payment.under)} under`,
    ),
    row(
      'ledger',
      ledger?.ok
        ? style.green('agrees with the chain')
        : style.red(ledger ? `${ledger.differences} differences` : 'not compared'),
    ),
    row('latency ms', latencyText(report.latencyMs)),
    ...(report.refusedLatencyMs.p50 === null
      ? []
      : [row('of refusals', latencyText(report.refusedLatencyMs))]),
    ...thresholdLines(report, style, row),
  ].join('\n');
}
