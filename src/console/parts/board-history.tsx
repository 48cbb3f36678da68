/** Who leads a brand's leaderboard, over the weeks: as a plot with its table. */
import type { FC } from 'hono/jsx';
import type { BoardHistory } from '../../contract/control/history.ts';
import { lineThrough } from '../../lib/plots/framed-plot.ts';
import { visibleText } from '../../lib/text/visible-text.ts';
import { Plot } from './plot.tsx';

/** As many as the plot's lines can be told apart. */
export const USERS_SHOWN = 4;

const UNITS = { rwt_earned: 'RWT', activity: 'activity', streak: 'days', claims: 'claims' } as const;

export const BoardsOverTime: FC<{ of: BoardHistory }> = ({ of: { boards, users, period, metric } }) => {
  if (users.length === 0) return <p class="quiet">Nobody is on a board yet.</p>;
  const shown = users.slice(0, USERS_SHOWN);
  const beginnings = boards.map(({ startsAt }) => startsAt.slice(0, 10));
  const most = shown.reduce((highest, { values }) => Math.max(highest, ...values), 1);
  const names = shown.map(({ user }) => visibleText(user));
  return (
    <Plot
      of={{
        title: `The leaderboard over each ${period}`,
        x: {
          max: boards.length,
          label: `${period}s, by their first day`,
          marks: [0, Math.floor(boards.length / 2), boards.length - 1].map(
            (place) => [place + 0.5, beginnings[place] ?? ''] as const,
          ),
        },
        y: { max: most, label: UNITS[metric] },
        content: (places) =>
          shown
            .map(({ values }, place) =>
              lineThrough(
                values.map((value, board) => [board + 0.5, value] as const),
                places,
                `line-${place + 1}`,
              ),
            )
            .join(''),
      }}
      kinds={Object.fromEntries(names.map((name, place) => [`line-${place + 1}`, name]))}
      columns={[`${period} from`, ...names]}
      rows={boards.map((_, board) => [
        beginnings[board] ?? '',
        ...shown.map(({ values }) => values[board] ?? 0),
      ])}
    />
  );
};
