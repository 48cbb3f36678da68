/**
 * How far the reading of the chain is: for how long the ledger has been behind, and what a long reading tells of
 * itself.
 */
import type { Log } from '../../lib/log.ts';
import { paceOf } from '../../lib/pace.ts';
import type { Reading } from './types.ts';

/** Tells for how long the ledger has been behind the chain. */
interface BlockLag {
  /**
   * How long the ledger has not read a block that was already there to read, in milliseconds; 0 when it has read every
   * block that the last look found.
   */
  look(now: { head: number; read: number | undefined }): number;
}

/** `confirmations`: how many a block needs before it is read, its own included. */
export function createBlockLag(deps: { confirmations: number; nowMs: () => number }): BlockLag {
  let wanted: { number: number; sinceMs: number } | undefined;
  return {
    look({ head, read = -1 }) {
      const readable = head - deps.confirmations + 1;
      // A reorganised chain may be shorter than it was.
      if (wanted) wanted.number = Math.min(wanted.number, readable);
      if (!wanted || read >= wanted.number) {
        // The blocks that have come since the last look are new: the wait for them begins now.
        wanted = read >= readable ? undefined : { number: readable, sinceMs: deps.nowMs() };
      }
      return wanted ? deps.nowMs() - wanted.sinceMs : 0;
    },
  };
}

/** A reading that is over sooner needs no line; a longer one shows that the start is alive … */
const FIRST_LINE_AFTER_MS = 2_000;
/** … and then now and then how far it is: a first reading takes minutes to hours. */
const LINE_EVERY_MS = 10_000;

/** `stopwatch`: starts to measure; the function that it returns tells the milliseconds since then. */
export function createReadingReport({ log, stopwatch }: { log: Log; stopwatch: () => () => number }): {
  onReading(reading: Reading): void;
  /** Undefined while everything is read. */
  text(): string | undefined;
} {
  type Begun = { from: number; elapsedMs: () => number };
  let under: (Begun & { reading: Reading; sinceMs: () => number; lineAfterMs: number }) | undefined;
  return {
    onReading(reading) {
      if (reading.block >= reading.of) {
        under = undefined;
        return;
      }
      under ??= {
        reading,
        from: reading.block,
        elapsedMs: stopwatch(),
        sinceMs: stopwatch(),
        lineAfterMs: FIRST_LINE_AFTER_MS,
      };
      under.reading = reading;
      if (under.sinceMs() < under.lineAfterMs) return;
      under = { ...under, sinceMs: stopwatch(), lineAfterMs: LINE_EVERY_MS };
      log.info({ block: reading.block, of: reading.of, ...paceFields(under) }, 'reading the chain');
    },
    text: () => under && `reading block ${under.reading.block + 1} of ${under.reading.of}`,
  };
}

function paceFields({
  from,
  elapsedMs,
  reading,
}: {
  from: number;
  elapsedMs: () => number;
  reading: Reading;
}): { perSecond?: number; remainingSeconds?: number } {
  const { block: done, of } = reading;
  const { perSecond, remainingMs } = paceOf({ from, done, of, elapsedMs: elapsedMs() });
  return {
    ...(perSecond !== undefined && { perSecond: Math.round(perSecond * 10) / 10 }),
    ...(remainingMs !== undefined && { remainingSeconds: Math.ceil(remainingMs / 1_000) }),
  };
}
