/** What was started is stopped, in reverse order, once. */

export function createLifecycle() {
  const stops: (() => Promise<void>)[] = [];
  let starting: Promise<unknown> | undefined;
  let stopping: Promise<void> | undefined;

  const stopStarted = async (errors: unknown[]) => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) {
      await stop().catch((error: unknown) => errors.push(error));
    }
  };
  const stopAll = async () => {
    const errors: unknown[] = [];
    await stopStarted(errors);
    // A start under way goes on for a while: what it adds until it fails or succeeds is stopped as well.
    await starting?.catch(() => undefined);
    await stopStarted(errors);
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be stopped cleanly');
  };
  return {
    /** Does what starts everything, once; `stop` waits for it. Rejects after a stop. */
    start<T>(work: () => Promise<T>): Promise<T> {
      if (stopping) return Promise.reject(new Error('this was stopped and cannot be started again'));
      const started = work();
      starting = started;
      return started;
    },
    /** Remembers how to stop what was just started. */
    onStop(stop: () => Promise<void>) {
      stops.push(stop);
    },
    /** Resolves when nothing runs any more, whatever was still starting when this was called. */
    stop(): Promise<void> {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

export type Lifecycle = ReturnType<typeof createLifecycle>;
