/** Background work in turns: the next turn comes at once while there is more, on a nudge, or after a pause. */
import { createBell } from './bell.ts';
import { formatDuration } from './duration.ts';
import type { Log } from './log.ts';

interface Loop {
  start(): void;
  /** Asks for a turn now. */
  nudge(): void;
  /** Ends after the turn under way. */
  stop(): Promise<void>;
}

/** `turn` tells whether to go on at once. A turn that throws is logged, and tried again after the pause. */
export function createLoop(options: {
  name: string;
  turn: (signal: AbortSignal) => Promise<'worked' | 'idle'>;
  pauseMs: () => number;
  log: Log;
}): Loop {
  const bell = createBell();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function run() {
    while (!stopping.signal.aborted) {
      let outcome: 'worked' | 'idle' | 'failed' = 'failed';
      try {
        outcome = await options.turn(stopping.signal);
      } catch (error) {
        const facts = { loop: options.name, error: messageOf(error) };
        const pause = formatDuration(options.pauseMs());
        options.log.error(
          facts,
          `a turn of the ${options.name} loop failed; it is tried again within ${pause}`,
        );
      }
      if (outcome !== 'worked') await bell.heard({ timeoutMs: options.pauseMs(), signal: stopping.signal });
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

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
