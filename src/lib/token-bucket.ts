/** Holds work to a rate: so many a second, and a few at once after a pause. */

/** Starts full. `nowMs`: a clock that never steps. */
export function createTokenBucket({
  perSecond,
  burst,
  nowMs,
}: {
  perSecond: number;
  /** How many may come at once. */
  burst: number;
  nowMs: () => number;
}) {
  let tokens = burst;
  let filledAtMs = nowMs();
  const fill = () => {
    const atMs = nowMs();
    tokens = Math.min(burst, tokens + (Math.max(0, atMs - filledAtMs) * perSecond) / 1_000);
    filledAtMs = atMs;
  };
  return {
    /** Takes up to `most`; returns how many there were. */
    take(most: number): number {
      fill();
      const taken = Math.max(0, Math.min(most, Math.floor(tokens)));
      tokens -= taken;
      return taken;
    },
    /** Gives back what was not used. */
    giveBack(count: number): void {
      tokens = Math.min(burst, tokens + count);
    },
    /** Until there is one; 0 when there is. */
    waitMs(): number {
      fill();
      return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1_000) / perSecond);
    },
  };
}
