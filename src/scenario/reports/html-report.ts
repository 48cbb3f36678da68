/** The report as one HTML file: nothing to load, no script, light and dark. */
import {
  type CaseReport,
  type Failure,
  type FileReport,
  failuresOf,
  type ScenarioReport,
  type StepReport,
} from '../run/report.ts';
import { placeText } from './text-report.ts';

export function htmlReport(report: ScenarioReport): string {
  const { totals, startedAt, durationMs, program, target } = report;
  const facts = [
    program,
    `started ${startedAt}`,
    `${seconds(durationMs)} s`,
    ...(target === null ? [] : [target]),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${totals.failed > 0 ? `${totals.failed} failed` : 'passed'}: rewards scenario</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>rewards scenario</h1>
<p><strong class="failed">${totals.failed} failed</strong>, ${totals.passed} passed, ${totals.skipped} skipped</p>
<p class="quiet">${facts.map(escaped).join(' · ')}</p>
${report.files.map(fileSection).join('\n')}
</main>
</body>
</html>
`;
}

const fileSection = (file: FileReport) => file.cases.map((one) => caseSection(file, one)).join('\n');

function caseSection({ file, tags }: FileReport, one: CaseReport): string {
  const clock = one.clock ? ` · ${one.clock.start} to ${one.clock.end} on its own clock` : '';
  const about = `${[file, ...tags].join(' · ')} · ${seconds(one.durationMs)} s${clock}`;
  const failures = failuresOf(one).map(failureBlock).join('\n');
  const steps =
    one.steps.length === 0
      ? ''
      : `<table><thead><tr><th scope="col">Line</th><th scope="col">Step</th><th scope="col">Outcome</th><th scope="col">Took</th><th scope="col">Its own clock</th><th scope="col">Requests</th></tr></thead><tbody>${one.steps.map((step) => stepRows(step, 0)).join('')}</tbody></table>`;
  return `<details${one.status === 'failed' ? ' open' : ''}>
<summary><span class="${one.status}">${one.status}</span> ${escaped(one.name)} <span class="quiet">${escaped(about)}</span></summary>
${one.reason === null ? '' : `<p>${escaped(one.reason)}</p>`}
${failures}
${steps}
</details>`;
}

function stepRows(step: StepReport, depth: number): string {
  const requests = step.requests.map(
    ({ method, url, status }) => `${method} ${new URL(url).pathname} ${status ?? 'no answer'}`,
  );
  const row = `<tr><td>${step.line}</td><td style="padding-left:${depth * 1.2 + 0.5}rem">${escaped(step.name)}${step.reason === null ? '' : ` <span class="quiet">${escaped(step.reason)}</span>`}</td><td class="${step.status}">${step.status}</td><td>${step.durationMs} ms</td><td>${escaped(step.at ?? '')}</td><td>${requests.map(escaped).join('<br>')}</td></tr>`;
  return row + step.steps.map((inner) => stepRows(inner, depth + 1)).join('');
}

function failureBlock(failure: Failure): string {
  const lines = [
    `${placeText(failure)}  ${failure.message}`,
    failure.source,
    ...failure.differences.flatMap((one) => [
      `${one.what || 'it'}`,
      `  expected  ${one.expected}`,
      `  got       ${one.got}`,
    ]),
    ...(failure.decision === null ? [] : [`decision  ${failure.decision}`]),
    ...(failure.curl === null ? [] : [failure.curl]),
  ];
  return `<pre>${escaped(lines.join('\n'))}</pre>`;
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

const SIGNS: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);

const STYLE = `
:root { --page: #fff; --text: #1b1f24; --quiet: #57606a; --line: #d0d7de; --bad: #b3261e; --good: #1a6b33; --mild: #7a5200; --block: #f3f4f6; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --text: #e6e8ea; --quiet: #a3abb3; --line: #3a4046; --bad: #ff8a80; --good: #7ee2a0; --mild: #f2cc60; --block: #1e2227; } }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; padding: .5rem .8rem; overflow-x: auto; }
summary { cursor: pointer; }
table { border-collapse: collapse; margin-top: .6rem; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .2rem .5rem; border-top: 1px solid var(--line); vertical-align: top; }
pre { background: var(--block); padding: .7rem; border-radius: .3rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .9rem; }
.passed { color: var(--good); } .failed { color: var(--bad); } .skipped { color: var(--mild); }
`;
