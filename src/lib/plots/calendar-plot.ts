/** Days of a year as squares, a column a week from Monday to Sunday, in the page's own colours. */
import { escaped } from './ticks.ts';

const DAY_MS = 86_400_000;
const WEEKS = 53;
const CELL = 16;
const SQUARE = 13;
const MARGIN = { left: 36, top: 18 };

/** Dates are written `2026-11-27`; `today` ends the year that is shown. */
export interface CalendarPlot {
  title: string;
  today: string;
  marked: ReadonlySet<string>;
}

/** `<svg>` alone. Marked days have the class `marked`, the others `day`, and today's has `today` beside. */
export function calendarPlot({ title, today, marked }: CalendarPlot): string {
  const days = daysUntil(today);
  const squares = days.map(({ date, week, weekday }) => {
    const kind = `${marked.has(date) ? 'marked' : 'day'}${date === today ? ' today' : ''}`;
    return `<rect class="${kind}" x="${MARGIN.left + week * CELL}" y="${MARGIN.top + weekday * CELL}" width="${SQUARE}" height="${SQUARE}" rx="2"/>`;
  });
  const months = days
    .filter(({ date, week }) => date.endsWith('-01') && week < WEEKS - 1)
    .map(
      ({ date, week }) =>
        `<text x="${MARGIN.left + week * CELL}" y="${MARGIN.top - 6}">${monthOf.format(Date.parse(date))}</text>`,
    );
  const weekdays = ['Mon', 'Wed', 'Fri'].map(
    (name, place) =>
      `<text x="${MARGIN.left - 6}" y="${MARGIN.top + place * 2 * CELL + SQUARE - 2}" text-anchor="end">${name}</text>`,
  );
  const size = `0 0 ${MARGIN.left + WEEKS * CELL} ${MARGIN.top + 7 * CELL}`;
  return [
    `<svg viewBox="${size}" role="img" aria-label="${escaped(title)}">`,
    ...months,
    ...weekdays,
    ...squares,
    '</svg>',
  ].join('');
}

const monthOf = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });

/** From a Monday 52 weeks ago. */
function daysUntil(today: string): { date: string; week: number; weekday: number }[] {
  const todayMs = Date.parse(today);
  const weekdayOfToday = (new Date(todayMs).getUTCDay() + 6) % 7;
  const count = (WEEKS - 1) * 7 + weekdayOfToday + 1;
  return Array.from({ length: count }, (_, place) => ({
    date: new Date(todayMs - (count - 1 - place) * DAY_MS).toISOString().slice(0, 10),
    week: Math.floor(place / 7),
    weekday: place % 7,
  }));
}
