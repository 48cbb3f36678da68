/** A load test's report for people: counts against the limit, headers, reset, latency, thresholds. */

import { formatDuration } from '../../lib/duration.ts';
import type { RelayReport } from '../../load/relay-report.ts';
import type { Style } from '../terminal/style.ts';

export function loadText(report: RelayReport, style: Style): string {
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
