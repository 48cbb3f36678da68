/** The machine on which a run was made. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { median, rounded } from './statistics.ts';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
  /** Median time of one fsync of a few KB in the folder of the ledger. */
  fsyncMs: number;
  /** What the machine had to do in the minute before the run: above 0.5 or so, rates say little. */
  loadBefore: number;
}

/** `folder`: where the ledgers will be. */
export function describeMachine(folder: string): Machine {
  const path = join(folder, `rewards-bench-fsync-${process.pid}`);
  const file = openSync(path, 'w');
  const times = Array.from({ length: 50 }, () => {
    const startedAt = performance.now();
    writeSync(file, Buffer.alloc(4_096), 0, 4_096, 0);
    fsyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  rmSync(path);
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    fsyncMs: rounded(median(times), 2),
    loadBefore: rounded(loadavg()[0] ?? 0, 2),
  };
}

export const machineText = ({ cpu, cores, memoryGiB, system, node, fsyncMs, loadBefore }: Machine): string =>
  `${cores} × ${cpu}, ${memoryGiB} GiB, ${system}, Node ${node}, one fsync ${fsyncMs} ms, load before the run ${loadBefore}`;
