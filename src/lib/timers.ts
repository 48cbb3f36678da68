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
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * Waits for what `begin` tells, for at most `ms`; undefined when the time ran out first, of which the function that
 * `begin` returns hears. For what many requests wait for: one promise each, where `within` and its promise are four.
 */
export function toldWithin<T>(
  ms: number,
  begin: (tell: (told: T) => void) => () => void,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      giveUp();
      resolve(undefined);
    }, ms);
    const giveUp = begin((told) => {
      clearTimeout(timer);
      resolve(told);
    });
  });
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

/** Waits for a turn of the event loop, in which what has arrived meanwhile is served. */
export const turnOfEventLoop = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** A turn in which nobody else had anything to do worth waiting for, in milliseconds. */
const IDLE_TURN_MS = 1;

/**
 * For long work on the one thread: the returned function waits for a turn of the event loop when `ms` have passed since
 * the last one, so that requests and timers are served in between. Where they keep the thread busy, it waits until they
 * have had `othersTimes` as long.
 */
export function createBreathing(ms: number, { othersTimes }: { othersTimes: number }): () => Promise<void> {
  let elapsedMs = stopwatch();
  return async () => {
    const workedMs = elapsedMs();
    if (workedMs < ms) return;
    const othersMs = stopwatch();
    let turnMs: () => number;
    do {
      turnMs = stopwatch();
      await turnOfEventLoop();
    } while (turnMs() >= IDLE_TURN_MS && othersMs() < workedMs * othersTimes);
    elapsedMs = stopwatch();
  };
}
