/** A load test as it goes on: what has come of each second. */
import type { LoadSecond } from '../contract/control/jobs.ts';
import { createLatencyRecorder } from './latency.ts';
import type { Sample } from './relay-report.ts';

/** `read` tells what has happened since it was read last; undefined before the test has begun with anything. */
export function createSeconds(elapsedMs: () => number) {
  let now: Pick<LoadSecond, 'phase' | 'done' | 'of'> | undefined;
  let counts = { admitted: 0, refused: 0, failed: 0 };
  let latency = createLatencyRecorder();
  return {
    onProgress(phase: string, done: number, of: number): void {
      now = { phase, done, of };
    },
    onAnswer({ verdict, tookMs }: Pick<Sample, 'verdict' | 'tookMs'>): void {
      counts[kindOf(verdict)] += 1;
      latency.record(tookMs);
    },
    read(): LoadSecond | undefined {
      if (!now) return undefined;
      const { p50, p99 } = latency.read();
      const second = { atMs: Math.round(elapsedMs()), ...now, ...counts, latencyMs: { p50, p99 } };
      counts = { admitted: 0, refused: 0, failed: 0 };
      latency = createLatencyRecorder();
      return second;
    },
  };
}

/** Plots do not tell by whose limit a call was refused. */
export const kindOf = (verdict: Sample['verdict']): 'admitted' | 'refused' | 'failed' =>
  verdict === 'address' ? 'refused' : verdict;
