/** What was rewarded over time, and what that leaves of a brand's escrow: as plots, each with its table. */
import type { Child } from 'hono/jsx';
import type { History } from '../../contract/control/history.ts';
import { formatDuration } from '../../lib/duration.ts';
import { historyRanges } from '../../lib/history-range.ts';
import { lineThrough, stackedBars } from '../../lib/plots/framed-plot.ts';
import { pageAddress } from '../page.ts';
import { Plot } from './plot.tsx';

const HOUR_MS = 60 * 60_000;

const timeText = (instant: string) => instant.slice(5, 16).replace('T', ' ');

/** Along the time: near its beginning, its middle and its end. */
const timeSide = ({ buckets }: History) => ({
  max: buckets.length,
  label: 'time',
  marks: [1, Math.floor(buckets.length / 2), buckets.length - 1].map(
    (place) => [place, timeText(buckets[place]?.from ?? '')] as const,
  ),
});

/** What is missing where there are more rewards than were looked at. */
const Missing = ({ of: { countedFrom } }: { of: History }): Child =>
  countedFrom === null ? null : (
    <p class="notice">
      There are more rewards than are counted here: those before {timeText(countedFrom)} are missing.
    </p>
  );

/** Rewards in RWT by the part of the time; their number is in the table. */
export const RewardsOverTime = ({ of }: { of: History }): Child => (
  <>
    <p>
      {of.totals.rewards} rewards, {of.totals.rwt} RWT
    </p>
    <Missing of={of} />
    <Plot
      of={{
        title: `RWT rewarded in the last ${of.range}`,
        x: timeSide(of),
        y: { max: Math.max(1, ...of.buckets.map(({ rwt }) => rwt)), label: 'RWT' },
        content: (places) =>
          stackedBars(
            of.buckets.map(({ rwt }) => ({ rewarded: rwt })),
            places,
          ),
      }}
      columns={['from', 'rewards', 'RWT']}
      rows={of.buckets.map(({ from, rewards, rwt }) => [timeText(from), rewards, rwt])}
    />
  </>
);

/** The same page over another time. */
export const RangeLinks = (props: {
  path: string;
  query: Readonly<Record<string, string>>;
  range: string;
}): Child => (
  <p>
    Over the last{' '}
    {historyRanges.map(
      (range): Child => [
        <a
          href={pageAddress(props.path, { ...props.query, range })}
          aria-current={range === props.range ? 'true' : undefined}
        >
          {range}
        </a>,
        ' ',
      ],
    )}
  </p>
);

/** What is left of a brand's escrow, from the beginning of the range on; `available` is RWT of now. */
export const EscrowLeft = ({ of, available }: { of: History; available: number }): Child => {
  let spentLater = of.totals.rwt;
  const begins = available + spentLater;
  const rows = of.buckets.map(({ from, rwt }) => {
    spentLater -= rwt;
    return { from, rwt, left: available + spentLater };
  });
  return (
    <>
      <Missing of={of} />
      <Plot
        of={{
          title: `RWT left over the last ${of.range}`,
          x: timeSide(of),
          y: { max: Math.max(1, begins), label: 'RWT left' },
          content: (places) =>
            lineThrough(
              // What is promised is never more than what is there, but for a moment after a withdrawal.
              [begins, ...rows.map(({ left }) => left)].map((left, place) => [place, Math.max(0, left)]),
              places,
              'line-1',
            ),
        }}
        columns={['from', 'RWT rewarded', 'RWT left at its end']}
        rows={rows.map(({ from, rwt, left }) => [timeText(from), rwt, left])}
      />
      <p class="quiet">
        Reckoned back from what is left now by the rewards of the time; deposits and withdrawals in it do not
        show.
      </p>
    </>
  );
};

/** How long `available` RWT last at the pace of the range; `not known` where nothing was spent in it. */
export function lastsText(of: History, { available, nowMs }: { available: number; nowMs: number }): string {
  if (available <= 0) return 'nothing is left';
  if (of.totals.rwt === 0) return `not known: nothing was spent in the last ${of.range}`;
  const spanMs = Math.max(1, nowMs - Date.parse(of.countedFrom ?? of.from));
  const lastsMs = (available * spanMs) / of.totals.rwt;
  // Minutes say nothing of a pace, but for what ends within the hour.
  const unitMs = lastsMs < HOUR_MS ? 60_000 : HOUR_MS;
  const whole = Math.floor(lastsMs / unitMs) * unitMs;
  return `${whole === 0 ? 'less than a minute' : formatDuration(whole)}, at the pace of the last ${of.range}`;
}
