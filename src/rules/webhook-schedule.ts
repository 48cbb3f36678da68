/** When a delivery is tried again, and when an endpoint that only fails is turned off. Times are milliseconds. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The pause before each attempt: ten attempts in 75 h 35 min, as the Standard Webhooks advise. */
export const attemptPausesMs: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Each pause is up to a fifth shorter or longer, so that deliveries that failed together do not return together. */
const JITTER = 0.2;
/** What a receiver may ask for: no longer than the longest pause. */
const RETRY_AFTER_MAX_MS = DAY;
/** An endpoint with nothing but failures for this long is turned off. */
export const FAILING_MAX_MS = 5 * DAY;
/** Two failures further apart than the longest pause say nothing of the time between them. */
const FAILING_GAP_MAX_MS = 2 * DAY;

/**
 * The moment of the next attempt after `tries` failed ones; undefined when there were enough. `random`: 0 up to 1.
 * A receiver that asks for more time gets it, up to a day.
 */
export function nextAttemptAt(failed: {
  tries: number;
  nowMs: number;
  random: number;
  retryAfterMs?: number | undefined;
}): number | undefined {
  const pauseMs = attemptPausesMs[failed.tries];
  if (pauseMs === undefined) return undefined;
  const jittered = Math.round(pauseMs * (1 + JITTER * (2 * failed.random - 1)));
  return failed.nowMs + Math.max(jittered, askedFor(failed.retryAfterMs));
}

const askedFor = (retryAfterMs = 0) => Math.min(Math.max(retryAfterMs, 0), RETRY_AFTER_MAX_MS);

/** The moment until which an endpoint gets nothing, because it asked for that; 0 when it did not. */
export const pausedUntil = ({
  nowMs,
  retryAfterMs,
}: {
  nowMs: number;
  retryAfterMs?: number | undefined;
}): number => (retryAfterMs === undefined ? 0 : nowMs + askedFor(retryAfterMs));

/** Since when an endpoint has answered nothing but failures, this failure included, and whether that is too long. */
export function failingSince(
  before: { failingSince: number | null; lastFailedAt: number | null },
  nowMs: number,
): { sinceMs: number; isTooLong: boolean } {
  const { failingSince: since, lastFailedAt: last } = before;
  const goesOn = since !== null && last !== null && nowMs - last <= FAILING_GAP_MAX_MS;
  const sinceMs = goesOn ? since : nowMs;
  return { sinceMs, isTooLong: nowMs - sinceMs >= FAILING_MAX_MS };
}

/** What an answer means for its delivery. */
export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'gone' }
  | { kind: 'failed'; retryAfterMs?: number | undefined };

/**
 * Any 2xx is a success; 410 says that the endpoint is gone for good; everything else, redirects too, is a failure.
 * Only 429 and 503 may ask for more time.
 */
export function verdictOf(answer: {
  status?: number | undefined;
  retryAfterMs?: number | undefined;
}): Verdict {
  const { status = 0, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  return { kind: 'failed', ...((status === 429 || status === 503) && { retryAfterMs }) };
}
