/** `rewards history`: what was rewarded over the last hour, day, week or month, of all brands or of one. */
import { type History, showHistory } from '../../contract/control/history.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { HistoryRange } from '../../lib/history-range.ts';
import { asks } from '../service/control.ts';
import type { Style } from '../terminal/style.ts';

export const history = asks(showHistory, {
  request: ({ range, brand }: { range: HistoryRange; brand?: string }) => ({ query: { range, brand } }),
  text: historyText,
});

const BAR_WIDTH = 30;

/** A line for each part of the time in which something was rewarded. */
function historyText({ range, buckets, bucketSeconds, totals, countedFrom }: History, style: Style): string {
  const paid = buckets.filter(({ rewards }) => rewards > 0);
  const most = Math.max(1, ...paid.map(({ rwt }) => rwt));
  const width = { rewards: 7, rwt: Math.max(6, ...paid.map(({ rwt }) => String(rwt).length)) };
  return [
    `${style.bold(`the last ${range}`)}  ${totals.rewards} rewards, ${totals.rwt} RWT`,
    ...(paid.length === 0
      ? []
      : [
          style.dim(
            `${'from'.padEnd(20)}  ${'rewards'.padStart(width.rewards)}  ${'RWT'.padStart(width.rwt)}`,
          ),
        ]),
    ...paid.map(({ from, rewards, rwt }) =>
      [
        from.replace('.000Z', 'Z'),
        String(rewards).padStart(width.rewards),
        String(rwt).padStart(width.rwt),
        '█'.repeat(Math.round((rwt / most) * BAR_WIDTH)),
      ]
        .join('  ')
        .trimEnd(),
    ),
    ...(paid.length === buckets.length
      ? []
      : [
          style.dim(
            `nothing in ${buckets.length - paid.length} of ${buckets.length} times ${formatDuration(bucketSeconds * 1_000)}`,
          ),
        ]),
    ...(countedFrom === null ? [] : [style.yellow(`what was rewarded before ${countedFrom} is not counted`)]),
  ].join('\n');
}
