/** The report of a load test of events. */
import { brokenEventRules, type EventsReport } from './events-report.ts';
import { answersPlot, latencyPlot, percentilePlot, usersPlot } from './plots.ts';
import { reportPage } from './report-page.ts';

/** `title` and `made` are shown as they are given. */
export function eventsHtml(report: EventsReport, about: { title: string; made: string }): string {
  const { plots, payment, ledger, thresholds, latencyMs, refusedLatencyMs } = report;
  const broken = brokenEventRules(report);
  const crossed = thresholds.filter(({ ok }) => !ok).length;
  const counted = (total: number, counts: Record<string, number>) =>
    [String(total), ...Object.entries(counts).map(([name, times]) => `${times} × ${name}`)].join(', ');
  return reportPage({
    ...about,
    good: broken.length + crossed === 0,
    verdict:
      broken.length > 0
        ? broken
        : [
            `exactly what the rules allow was rewarded and paid${crossed > 0 ? `; thresholds that were crossed: ${crossed}` : ''}`,
          ],
    rows: [
      ['sent', `${report.sent}  (${report.users} users × ${report.perUser} ${report.eventType})`],
      ['rewarded', `${report.rewarded} of ${report.expected} expected`],
      ['refused', counted(report.refused, report.refusals)],
      ['failed', counted(report.failed, report.failures)],
      ['over-admission', String(report.overAdmission)],
      ['under-admission', String(report.underAdmission)],
      [
        'paid on chain',
        `${payment.paid} of ${payment.allowed} RWT, ${payment.over} over, ${payment.under} under`,
      ],
      [
        'ledger and chain',
        ledger ? (ledger.ok ? 'agree' : `${ledger.differences} differences`) : 'not compared',
      ],
      [
        'duration',
        `${(report.durationMs / 1_000).toFixed(1)} s, ${report.rewardedPerSecond} rewarded a second`,
      ],
    ],
    latencies: [
      ['rewarded', latencyMs],
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
            usersPlot(plots.rewardedByUser, 1),
          ],
    problems: [],
  });
}
