/** On which days of the last year a user was active: squares, and beside them the days by month. */
import { raw } from 'hono/html';
import type { FC } from 'hono/jsx';
import { calendarPlot } from '../../lib/plots/calendar-plot.ts';
import { counted } from '../../lib/text/counted.ts';
import { Table } from './table.tsx';

/** Dates as `2026-11-27`; the active days the latest first. */
export const StreakCalendar: FC<{ at: string; today: string; activeDays: readonly string[] }> = ({
  at,
  today,
  activeDays,
}) => {
  const months = new Set(activeDays.map((date) => date.slice(0, 7)));
  return (
    <figure class="plot calendar">
      <figcaption>{`active on ${counted(activeDays.length, 'day')} of the last 53 weeks`}</figcaption>
      {raw(
        calendarPlot({
          title: `Days of the last 53 weeks on which the user was active at ${at}`,
          today,
          marked: new Set(activeDays),
        }),
      )}
      <details>
        <summary>As a table</summary>
        <Table
          label={`Active days at ${at}, by month`}
          columns={['month', { name: 'days', isNumber: true }, 'which']}
          rows={[...months].map((month) => {
            const days = activeDays
              .filter((date) => date.startsWith(month))
              .map((date) => Number(date.slice(8)));
            return [month, days.length, days.reverse().join(', ')];
          })}
          empty="None."
        />
      </details>
    </figure>
  );
};
