/** An answer as it came, and how far a limit is used up by its headers. */

export interface Reply<Body = unknown> {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Body;
  rawBody: string;
}

/** How far a limit is used up, from the three X-RateLimit headers; undefined unless all are there and whole numbers. */
export function rateWindowIn(
  headers: Readonly<Record<string, string>>,
): { limit: number; remaining: number; resetAtMs: number } | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers[`x-ratelimit-${name}`] ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}
