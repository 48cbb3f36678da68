/** The report of a load test of events for people: counts against the rules, payments, latency, thresholds. */
import { formatDuration } from '../../lib/duration.ts';
import type { EventsReport } from '../../load/events-report.ts';
import type { Style } from '../terminal/style.ts';
import { latencyText, thresholdLines } from './view.ts';

export function eventsText(report: EventsReport, style: Style): string {
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
