/** How fast work goes, and how long the rest of it takes at that pace. */

/** Sooner, a pace says nothing yet. */
const FIRST_PACE_AFTER_MS = 1_000;

/** Work that began at `from` of its units, `elapsedMs` ago; `of` is undefined while nobody knows how many there are. */
export interface Work {
  from: number;
  done: number;
  of: number | undefined;
  elapsedMs: number;
}

interface Pace {
  perSecond: number | undefined;
  remainingMs: number | undefined;
}

/** Both are undefined in the first second and while nothing is done; without a total, nothing remains that could be told. */
export function paceOf({ from, done, of, elapsedMs }: Work): Pace {
  if (done <= from || elapsedMs < FIRST_PACE_AFTER_MS)
    return { perSecond: undefined, remainingMs: undefined };
  const perSecond = ((done - from) * 1_000) / elapsedMs;
  const remainingMs = of === undefined ? undefined : (Math.max(0, of - done) * 1_000) / perSecond;
  return { perSecond, remainingMs };
}

/** `1240/s`, `3.5/s`, or `2.0/min` for what is slower than once in ten seconds. */
export function paceText(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)}/s`;
  return perSecond >= 0.1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
}
