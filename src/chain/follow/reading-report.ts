/** Tells how far a long reading of the chain is: a line of the log from time to time, and a text at any time. */
import type { Log } from '../../lib/log.ts';
import type { Reading } from './types.ts';

/** Often enough to see that a start is alive; a first reading takes minutes to hours. */
const LINE_EVERY_MS = 10_000;

/** `stopwatch`: starts to measure; the function that it returns tells the milliseconds since then. */
export function createReadingReport({ log, stopwatch }: { log: Log; stopwatch: () => () => number }): {
  onReading(reading: Reading): void;
  /** Undefined while everything is read. */
  text(): string | undefined;
} {
  let under: { reading: Reading; sinceLineMs: () => number } | undefined;
  return {
    onReading(reading) {
      if (reading.block >= reading.of) {
        under = undefined;
        return;
      }
      under = { reading, sinceLineMs: under?.sinceLineMs ?? stopwatch() };
      if (under.sinceLineMs() < LINE_EVERY_MS) return;
      under.sinceLineMs = stopwatch();
      log.info({ block: reading.block, of: reading.of }, 'reading the chain');
    },
    text: () => under && `reading block ${under.reading.block + 1} of ${under.reading.of}`,
  };
}
