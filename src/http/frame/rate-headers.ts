/** The three headers that tell how far a limit is used up (contract: Errors, rate limiting). */
import type { RateWindow } from '../../ledger/limits/rate-windows.ts';

/** Seconds since 1970 in Reset, rounded up: at that moment the window is over. */
export const rateHeaders = ({ limit, remaining, resetAtMs }: RateWindow): Record<string, string> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(Math.ceil(resetAtMs / 1_000)),
});
