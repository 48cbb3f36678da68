/** The days, weeks and months of leaderboards, in a brand's time zone: where the one that holds a moment begins and ends. */

export const boardPeriods = ['day', 'week', 'month', 'all'] as const;
export type BoardPeriod = (typeof boardPeriods)[number];

/** Every name under which a period may be asked for. */
export const boardPeriodNames: Readonly<Record<string, BoardPeriod>> = {
  day: 'day',
  daily: 'day',
  week: 'week',
  weekly: 'week',
  month: 'month',
  monthly: 'month',
  all: 'all',
  all_time: 'all',
};

/** From `startsAt` on, up to and without `endsAt`; milliseconds since 1970. */
export interface BoardWindow {
  startsAt: number;
  endsAt: number;
}

/** The end of what never ends: the last moment that a Date can say. */
export const NEVER_MS = 8_640_000_000_000_000;
const DAY_MS = 24 * 60 * 60_000;

/** Weeks begin on Monday. `timeZone` is an IANA name; its days have 23 or 25 hours when its clocks change. */
export function boardWindow(period: BoardPeriod, of: { atMs: number; timeZone: string }): BoardWindow {
  if (period === 'all') return { startsAt: 0, endsAt: NEVER_MS };
  const { timeZone } = of;
  const wall = new Date(wallClock(of.atMs, timeZone));
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  const sinceMonday = (wall.getUTCDay() + 6) % 7;
  const [first, next] = {
    day: [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)] as const,
    week: [Date.UTC(year, month, day - sinceMonday), Date.UTC(year, month, day - sinceMonday + 7)] as const,
    month: [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)] as const,
  }[period];
  return { startsAt: startOfDay(first, timeZone), endsAt: startOfDay(next, timeZone) };
}

/** The first moment at which a zone's clocks show the day that begins at `midnight`, or a later one. */
function startOfDay(midnight: number, timeZone: string): number {
  const offsetAt = (ms: number) => wallClock(ms, timeZone) - ms;
  const moments = [midnight - offsetAt(midnight - DAY_MS), midnight - offsetAt(midnight + DAY_MS)];
  const reached = moments.filter((ms) => wallClock(ms, timeZone) >= midnight);
  return Math.min(...(reached.length > 0 ? reached : moments));
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What a zone's clocks show, written as if it were UTC; whole seconds. */
function wallClock(ms: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
