/** The report of a load test of the relay. */
import { answersPlot, latencyPlot, percentilePlot, usersPlot } from './plots.ts';
import { brokenRules, type RelayReport } from './relay-report.ts';
import { reportPage } from './report-page.ts';

/** `title` and `made` are shown as they are given. */
export function reportHtml(report: RelayReport, about: { title: string; made: string }): string {
  const { plots, latencyMs, refusedLatencyMs, headers, reset, thresholds } = report;
  const broken = brokenRules(report);
  const crossed = thresholds.filter(({ ok }) => !ok).length;
  const rows: [string, string][] = [
    ['sent', `${report.sent}  (${report.users} users × ${report.perUser})`],
    ['admitted', `${report.admitted} of ${report.expected} expected`],
    ['refused', String(report.refused)],
    [
      'failed',
      [String(report.failed), ...Object.entries(report.failures).map(([name, n]) => `${n} × ${name}`)].join(
        ', ',
      ),
    ],
    ['over-admission', String(report.overAdmission)],
    ['under-admission', String(report.underAdmission)],
    ['headers', `${headers.checked} checked, ${headers.count} wrong`],
    [
      'reset',
      reset
        ? `${reset.admittedAfter} of ${reset.checked} users admitted again, ${reset.count} wrong`
        : 'not checked',
    ],
    [
      'duration',
      `${(report.durationMs / 1_000).toFixed(1)} s, ${report.admittedPerSecond} admitted a second`,
    ],
  ];
  return reportPage({
    ...about,
    good: broken.length + crossed === 0,
    verdict:
      broken.length > 0
        ? broken
        : [
            crossed > 0
              ? `the limit holds exactly; thresholds that were crossed: ${crossed}`
              : 'the limit holds exactly',
          ],
    rows,
    latencies: [
      ['admitted', latencyMs],
      ['refused', refusedLatencyMs],
    ],
    thresholds,
    plots:
      plots.samples.length === 0
        ? []
        : [
            answersPlot(plots.samples),
            latencyPlot(plots.samples),
            percentilePlot(plots.curve),
            usersPlot(plots.admittedByUser, report.oneAddress ? null : report.limit),
          ],
    problems: [...headers.problems, ...(reset?.problems ?? [])],
  });
}
