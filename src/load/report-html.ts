/** The reports of load tests as HTML: one self-contained file with numbers, thresholds and plots. */
import { brokenEventRules, type EventsReport } from './events-report.ts';
import type { Latency } from './latency.ts';
import { answersPlot, latencyPlot, percentilePlot, usersPlot } from './plots.ts';
import { brokenRules, type RelayReport } from './relay-report.ts';
import type { ThresholdResult } from './threshold.ts';

interface Page {
  title: string;
  made: string;
  good: boolean;
  /** What the numbers mean, a line each. */
  verdict: readonly string[];
  rows: readonly (readonly [name: string, value: string])[];
  latencies: readonly (readonly [name: string, latency: Latency])[];
  thresholds: readonly ThresholdResult[];
  /** As SVG. */
  plots: readonly string[];
  problems: readonly string[];
}

/** Every text is shown as it is given, but the plots. */
function reportPage(page: Page): string {
  const { title, made, good, verdict, rows, latencies, thresholds, plots, problems } = page;
  const latencyRow = ([name, latency]: Page['latencies'][number]) =>
    `<tr><th>${name}</th>${[latency.p50, latency.p90, latency.p95, latency.p99, latency.max, latency.mean]
      .map((value) => `<td>${value ?? '–'}</td>`)
      .join('')}</tr>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(made)}</p>
<p class="verdict ${good ? 'good' : 'bad'}">${verdict.map(escaped).join('<br>')}</p>
<table>${rows.map(([name, value]) => `<tr><th>${name}</th><td>${escaped(value)}</td></tr>`).join('')}</table>
<h2>Latency</h2>
<table><tr><th>ms</th>${['p50', 'p90', 'p95', 'p99', 'max', 'mean'].map((name) => `<th>${name}</th>`).join('')}</tr>
${latencies.map(latencyRow).join('')}</table>
${
  thresholds.length === 0
    ? ''
    : `<h2>Thresholds</h2><table>${thresholds
        .map(
          ({ threshold, value, ok }) =>
            `<tr><th class="${ok ? 'good' : 'bad'}">${ok ? 'ok' : 'crossed'}</th><td>${escaped(threshold)}</td><td>${value ?? 'nothing measured'}</td></tr>`,
        )
        .join('')}</table>`
}
<h2>Plots</h2>
<p class="key"><span class="admitted">■</span> admitted <span class="refused">■</span> refused <span class="failed">■</span> failed</p>
${plots.length === 0 ? '<p>nothing was sent</p>' : plots.join('\n')}
${problems.map((problem) => `<p class="bad">${escaped(problem)}</p>`).join('')}
</main>
</body>
</html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --bg: #fff; --text: #1b2126; --good: #14753f; --some: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --bg: #14181b; --text: #e4e8eb; --good: #5fcf91; --some: #e5ad4f; --bad: #ff8d85; } }
body { background: var(--bg); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums }
th { font-weight: 600 } th, td, p { overflow-wrap: anywhere } figure { margin: 1.5rem 0 } figcaption { font-weight: 600 } small { font-weight: 400 }
svg { width: 100%; height: auto } svg text { font: 11px system-ui, sans-serif; fill: currentColor }
.grid { stroke: var(--line) } .limit { fill: none; stroke: var(--bad); stroke-dasharray: 4 3 } .line { fill: none; stroke: #27c; stroke-width: 1.5 }
.admitted { fill: var(--good); color: var(--good) } .refused { fill: var(--some); color: var(--some) } .failed { fill: var(--bad); color: var(--bad) }
.good { color: var(--good) } .bad { color: var(--bad) } .verdict { font-weight: 600 }
`;

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
