/** The three headers that tell how far a limit is used up (contract: Errors, rate limiting). */

/** How far a window is used up; `resetAtMs` is when all of `limit` pass again. */
export interface UsedWindow {
  limit: number;
  remaining: number;
  resetAtMs: number;
}

/** Seconds since 1970 in Reset, rounded up: at that moment the window is over. Names in small letters, as they are sent. */
export const rateHeaders = ({ limit, remaining, resetAtMs }: UsedWindow): Record<string, string> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1_000)),
});
