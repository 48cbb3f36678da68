/** Tries again what does not hold yet. */

/** Between two tries. */
const PAUSE_MS = 50;
/** What is under way gets this long before a clock that is ours is moved. */
const PATIENCE_MS = 1_000;
const MOVES = 20;

interface TryDeps {
  sleep: (ms: number) => Promise<void>;
  /** Moves the clock of the target; absent where it is not ours. */
  advance?: ((ms: number) => Promise<unknown>) | undefined;
  /** False: nothing more may be begun. */
  goesOn?: () => boolean;
}

/**
 * Resolves with the first result that holds, or with the last one. A clock that is ours moves to the end of the time in
 * twenty moves, so that what falls due in it happens; others are waited for.
 */
export async function tryUntil<Result>(
  { sleep, advance, goesOn = () => true }: TryDeps,
  withinMs: number,
  { once, holds }: { once: () => Promise<Result>; holds: (result: Result) => boolean },
): Promise<Result> {
  const waits = Math.ceil((advance ? Math.min(PATIENCE_MS, withinMs) : withinMs) / PAUSE_MS);
  const moves = advance ? MOVES : 0;
  let result = await once();
  for (let tries = 0; !holds(result) && tries < waits + moves && goesOn(); tries++) {
    if (tries >= waits) await advance?.(Math.ceil(withinMs / MOVES));
    await sleep(PAUSE_MS);
    result = await once();
  }
  return result;
}
