/** What happens now, and what needs a look, as one text. */
import type { Overview } from '../../contract/control/overview.ts';
import { formatDuration } from '../../lib/duration.ts';
import { clockLine } from '../emulator/clock.ts';
import { type Style, shortAddress } from '../terminal/style.ts';

const LISTED = 8;

export function overviewText(overview: Overview, style: Style): string {
  const { lanes, lanesMore, brands, brandsMore, alarms, log } = overview;
  const row = (name: string, text: string) => `${style.bold(name.padEnd(9))} ${text}`;
  const rows = (name: string, texts: string[], more = 0) => [
    ...texts.slice(0, LISTED).map((text, place) => row(place === 0 ? name : '', text)),
    ...(more + texts.length > LISTED
      ? [row('', style.dim(`and ${more + Math.max(0, texts.length - LISTED)} more`))]
      : []),
  ];
  return [
    row('clock', clockLine(overview.clock, style)),
    ...(log ? [row('requests', requestsText(log))] : []),
    row('waiting', waitingText(overview)),
    ...rows('lanes', lanes.map(laneText), lanesMore),
    ...rows('brands', brands.map(budgetText), brandsMore),
    row('totals', totalsText(overview)),
    ...rows(
      'alarms',
      (alarms ?? []).map((one) => `${style.red(one.code)}  ${one.about}  ${style.dim(one.remedy)}`),
    ),
  ].join('\n');
}

export const NOTHING_WAITS = 'nothing';

/** `3 payouts, the oldest for 12s`; `nothing` when nothing waits. */
export function waitingText({ waiting }: Pick<Overview, 'waiting'>): string {
  const parts = Object.entries(waiting).flatMap(([what, { count, oldestMs }]) =>
    count === 0 ? [] : [`${count} ${what}${oldestMs ? `, the oldest for ${formatDuration(oldestMs)}` : ''}`],
  );
  return parts.join('; ') || NOTHING_WAITS;
}

const requestsText = ({ requests, refused, failed, perSecond }: NonNullable<Overview['log']>) =>
  `${perSecond.toFixed(1)}/s  ${requests} in all, ${refused} refused, ${failed} failed`;

const laneText = ({ purpose, address, inFlight, holder }: Overview['lanes'][number]) =>
  `${purpose.padEnd(6)}  ${shortAddress(address)}  ${inFlight} in flight${holder === null ? '  nobody sends from it' : ''}`;

function budgetText({ name, available, deposited, spending }: Overview['brands'][number]): string {
  const spent = spending.map(({ span, spent, limit }) => `${spent} of ${limit} this ${span}`);
  return [`${name}  ${available} of ${deposited} RWT left`, ...spent].join('  ');
}

const totalsText = ({ totals }: Overview) => `${totals.rewards} rewards, ${totals.rwtRewarded} RWT`;
