/** Calendar days as a brand's customers see them: in the brand's time zone, with its daylight saving. */

const DAY_MS = 86_400_000;

/** One for each time zone that brands have set; making one takes longer than using it a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
}

/** The number of the calendar day in this IANA time zone, counted from 1970-01-01, which is 0; neighbours differ by 1. */
export function calendarDay(ms: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(ms);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day')) / DAY_MS;
}

/** The day as `2026-11-22`. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
