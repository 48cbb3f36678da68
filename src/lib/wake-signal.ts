/** A bell between a producer and one waiting loop: rings are never lost and never pile up. */

/** One waiter at a time. */
export function createWakeSignal() {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    /** Resolves at the next ring, at once when it rang since the last wait, after `timeoutMs`, or on abort. */
    async heard({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): Promise<void> {
      if (!rung && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const timer = setTimeout(done, timeoutMs);
          signal?.addEventListener('abort', done, { once: true });
          wake = done;
        });
      }
      wake = undefined;
      rung = false;
    },
  };
}
