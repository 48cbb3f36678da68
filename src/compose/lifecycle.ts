/** Stops everything that was started, once and in reverse order. */

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
    // A start in progress goes on until it fails or succeeds; this also stops everything that it still adds.
    await starting?.catch(() => undefined);
    await stopStarted(errors);
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be stopped cleanly');
  };
  return {
    /** Runs the function that starts everything, once; `stop` waits for it. Rejects after a stop. */
    start<T>(work: () => Promise<T>): Promise<T> {
      if (stopping) return Promise.reject(new Error('a stopped service cannot be started again'));
      const started = work();
      starting = started;
      return started;
    },
    /** Registers how to stop something that was just started. */
    onStop(stop: () => Promise<void>) {
      stops.push(stop);
    },
    /** Resolves when everything has stopped, including anything that was still starting. */
    stop(): Promise<void> {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

export type Lifecycle = ReturnType<typeof createLifecycle>;
