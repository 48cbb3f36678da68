/** `rewards load events`: as many events as wished, and whether exactly those are rewarded and paid that may be. */
import { formatDuration } from '../../lib/duration.ts';
import { loadEvents, UncountableError } from '../../load/events-load.ts';
import { brokenEventRules, type EventsReport, eventMetricsOf } from '../../load/events-report.ts';
import { eventsHtml } from '../../load/report-html.ts';
import { eventMetrics } from '../../load/threshold.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { namedBrand } from '../service/named-brand.ts';
import type { Style } from '../terminal/style.ts';
import {
  admittedLine,
  countsText,
  endLines,
  type LoadOptions,
  mistakeLines,
  row,
  runLoadTest,
  zero,
} from './load-test.ts';

export const loadEventsTest: Handler<LoadOptions & { event: string }> = (context, options) => {
  const { event: eventType } = options;
  return runLoadTest(context, options, {
    metrics: eventMetrics,
    run: async (target) => {
      const brand = await namedBrand(context, target, options.brand);
      if (!brand) throw usageError('This target does not list its brands.', 'Name one with --brand.');
      const { brandId } = brand;
      return (deps, pace) => loadEvents(deps, { brandId, eventType, ...pace }).catch(explained);
    },
    words: { sent: 'events', judged: 'the rules' },
    metricsOf: eventMetricsOf,
    brokenRules: brokenEventRules,
    title: ({ users, perUser }) => `rewards load events: ${users} users × ${perUser} ${eventType}`,
    html: eventsHtml,
    text: eventsText,
  });
};

function explained(error: unknown): never {
  if (error instanceof UncountableError)
    throw new CliError('E_REFUSED', { message: error.message, fix: error.fix }, { cause: error });
  throw error;
}

function eventsText(report: EventsReport, style: Style): string {
  const { rewarded, payment, ledger } = report;
  return [
    `${style.bold('load events')}  ${report.users} users x ${report.perUser} ${report.eventType}`,
    row(
      style,
      'sent',
      `${report.sent} in ${formatDuration(report.durationMs)}, ${report.rewardedPerSecond} rewarded a second`,
    ),
    admittedLine(report, style, {
      name: 'rewarded',
      count: rewarded,
      otherwise: 'not what the rules allow',
    }),
    row(style, 'refused', `${report.refused}  ${style.dim(countsText(report.refusals))}`.trimEnd()),
    ...mistakeLines(report, style),
    row(
      style,
      'paid on chain',
      `${payment.paid} of ${payment.allowed} RWT, ${zero(style, payment.over)} over, ${zero(style, payment.under)} under`,
    ),
    row(
      style,
      'ledger',
      ledger?.ok
        ? style.green('agrees with the chain')
        : style.red(ledger ? `${ledger.differences} differences` : 'not compared'),
    ),
    ...endLines(report, style),
  ].join('\n');
}
