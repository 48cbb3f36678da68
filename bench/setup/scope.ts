/** What a group of measurements starts, ended in the opposite order when the group is done or has failed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generator } from './processes.ts';

/** What all groups share. */
export interface Bench {
  generator: Generator;
  say: (text: string) => void;
  /** Where ledgers and the baselines' databases are. */
  dir: string;
  /** Ends what is running: called on a signal. */
  stops: (() => Promise<void>)[];
}

export interface Scope {
  folder: string;
  started<T extends { stop(): Promise<void> }>(starting: Promise<T> | T): Promise<T>;
}

/** Runs `work` with a folder of its own. */
export async function withScope<T>(bench: Bench, work: (scope: Scope) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(bench.dir, 'rewards-bench-'));
  const before = bench.stops.length;
  bench.stops.push(() => rm(folder, { recursive: true, force: true }));
  try {
    return await work({
      folder,
      async started(starting) {
        const one = await starting;
        bench.stops.push(() => one.stop());
        return one;
      },
    });
  } finally {
    await stopAll(bench, before);
  }
}

/** Stops what was started after the first `keep`, the last first; what cannot be stopped is said and left. */
export async function stopAll({ stops, say }: Pick<Bench, 'stops' | 'say'>, keep = 0): Promise<void> {
  for (const stop of stops.splice(keep).reverse()) await stop().catch((error) => say(String(error)));
}
