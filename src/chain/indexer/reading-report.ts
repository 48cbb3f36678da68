/** Tells how far a long reading of the chain is: a line of the log from time to time, and a text at any time. */
import type { Log } from '../../lib/log.ts';
import type { Reading } from './types.ts';

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
  let under: { reading: Reading; sinceMs: () => number; lineAfterMs: number } | undefined;
  return {
    onReading(reading) {
      if (reading.block >= reading.of) {
        under = undefined;
        return;
      }
      under ??= { reading, sinceMs: stopwatch(), lineAfterMs: FIRST_LINE_AFTER_MS };
      under.reading = reading;
      if (under.sinceMs() < under.lineAfterMs) return;
      under = { reading, sinceMs: stopwatch(), lineAfterMs: LINE_EVERY_MS };
      log.info({ block: reading.block, of: reading.of }, 'reading the chain');
    },
    text: () => under && `reading block ${under.reading.block + 1} of ${under.reading.of}`,
  };
}
