/** Background work in turns: the next turn comes at once while there is more, on a nudge, or after a pause. */

import { formatDuration } from './duration.ts';
import { createFailureLog } from './failures/failure-log.ts';
import type { Log } from './log.ts';
import { createWakeSignal } from './wake-signal.ts';

interface Loop {
  start(): void;
  /** Asks for a turn now. */
  nudge(): void;
  /** Ends after the turn under way. */
  stop(): Promise<void>;
}

/** Failing turns come ever later, up to this, or at their usual pace where that is slower; a nudge does not wait. */
const BACK_OFF_MAX_MS = 2_000;

/**
 * `turn` tells whether to go on at once. A turn that throws is tried again after a pause that doubles with each
 * failure; the log hears of each cause once, and once that the loop works again.
 */
export function createLoop(options: {
  name: string;
  turn: (signal: AbortSignal) => Promise<'worked' | 'idle'>;
  pauseMs: () => number;
  log: Log;
}): Loop {
  const bell = createWakeSignal();
  const stopping = new AbortController();
  const failures = createFailureLog({ what: `the ${options.name} loop`, log: options.log });
  let running: Promise<void> | undefined;

  function pauseMs() {
    const usualMs = options.pauseMs();
    const backOffMs = Math.min(usualMs * 2 ** Math.min(failures.failures(), 20), BACK_OFF_MAX_MS);
    return Math.max(usualMs, backOffMs);
  }

  async function run() {
    while (!stopping.signal.aborted) {
      let outcome: 'worked' | 'idle' | 'failed' = 'failed';
      try {
        outcome = await options.turn(stopping.signal);
        failures.worked();
      } catch (error) {
        failures.failed(error, `it is tried again within ${formatDuration(pauseMs())}`);
      }
      if (outcome !== 'worked') await bell.heard({ timeoutMs: pauseMs(), signal: stopping.signal });
    }
  }
  return {
    start() {
      running ??= run();
    },
    nudge: () => bell.ring(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
