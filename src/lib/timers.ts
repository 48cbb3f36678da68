/** Waits in real time, for polling and for pauses between tries; business time is the clock's. */

/** Resolves after `ms`, or at once when `signal` aborts. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Calls `work` every `ms` until the returned function is called; a timer that keeps no process alive. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** Waits for `promise` for at most `ms`; undefined when the time ran out first. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const giveUp = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, giveUp.signal).then(() => undefined)]);
  } finally {
    giveUp.abort();
  }
}

/** Whether a dependency answers within `ms`; false and undefined say that it does not work. */
export async function answersWithin(ms: number, ask: () => Promise<unknown>): Promise<boolean> {
  const answer = await within(ms, ask()).catch(() => undefined);
  return answer !== undefined && answer !== false;
}

/** Milliseconds on a clock that never steps, for measuring how long something took. */
export const stopwatch = () => {
  const startedMs = performance.now();
  return () => performance.now() - startedMs;
};

/** A signal that aborts after `ms`, unless it is `over` by then; `extend` counts again from now. */
export function createDeadline(ms: number) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, ms);
  return {
    signal: controller.signal,
    extend(byMs: number): void {
      clearTimeout(timer);
      timer = setTimeout(abort, byMs);
    },
    over(): void {
      clearTimeout(timer);
    },
  };
}

/**
 * For long work on the one thread: the returned function waits for a turn of the event loop when `ms` have passed since
 * the last one, so that requests and timers are served in between.
 */
export function createBreathing(ms: number): () => Promise<void> {
  let elapsedMs = stopwatch();
  return async () => {
    if (elapsedMs() < ms) return;
    await new Promise((resolve) => setImmediate(resolve));
    elapsedMs = stopwatch();
  };
}
