/** `rewards load relay`: calls of many users at once, and whether exactly as many pass as the limit admits. */
import { formatDuration } from '../../lib/duration.ts';
import { loadRelay } from '../../load/relay-load.ts';
import { brokenRules, metricsOf, type RelayReport } from '../../load/relay-report.ts';
import { reportHtml } from '../../load/report-html.ts';
import type { Handler } from '../machine/context.ts';
import type { Style } from '../terminal/style.ts';
import {
  admittedLine,
  endLines,
  type LoadOptions,
  mistakeLines,
  row,
  runLoadTest,
  zero,
} from './load-test.ts';
import { originOf } from './relay.ts';
import { userWalletsOf } from './relay-user.ts';

export const loadRelayTest: Handler<LoadOptions & { oneAddress?: boolean; reset: boolean }> = (
  context,
  options,
) =>
  runLoadTest(context, options, {
    run: async (target) => {
      const wallets = userWalletsOf(context, target);
      const origin = await originOf(context, target, options.brand);
      const { oneAddress = false, reset: checkReset } = options;
      return (deps, pace) => loadRelay({ ...deps, wallets, origin }, { ...pace, oneAddress, checkReset });
    },
    words: { sent: 'calls', judged: 'the limit' },
    metricsOf,
    brokenRules,
    title: ({ users, perUser }) => `rewards load relay: ${users} users × ${perUser}`,
    html: reportHtml,
    text: relayText,
  });

function relayText(report: RelayReport, style: Style): string {
  const limit = report.oneAddress
    ? `limit ${report.limit} a minute per address`
    : `limit ${report.limit} an hour per user`;
  const { checked, count, problems } = report.headers;
  return [
    `${style.bold('load relay')}  ${report.users} users x ${report.perUser} calls${report.oneAddress ? ' from one address' : ''}  ${style.dim(limit)}`,
    row(
      style,
      'sent',
      `${report.sent} in ${formatDuration(report.durationMs)}, ${report.admittedPerSecond} admitted a second`,
    ),
    admittedLine(report, style, {
      name: 'admitted',
      count: report.admitted,
      otherwise: 'not what the limit allows',
    }),
    row(style, 'refused', String(report.refused)),
    ...mistakeLines(report, style),
    row(style, 'headers', `${checked} checked, ${zero(style, count)} wrong`),
    ...problems.slice(0, PROBLEMS_SHOWN).map((problem) => row(style, '', style.red(problem))),
    ...resetLines(report, style).map((line, place) => row(style, place === 0 ? 'reset' : '', line)),
    ...endLines(report, style),
  ].join('\n');
}

const PROBLEMS_SHOWN = 5;

function resetLines({ reset }: RelayReport, style: Style): string[] {
  if (!reset) return [style.dim('not checked')];
  const { checked, refusedBefore, admittedAfter, problems } = reset;
  const right = admittedAfter === checked ? style.green : style.red;
  return [
    `${refusedBefore} of ${checked} users refused just before it, ${right(`${admittedAfter} of ${checked}`)} admitted at it`,
    ...problems.slice(0, PROBLEMS_SHOWN).map((problem) => style.red(problem)),
  ];
}
