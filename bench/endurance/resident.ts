/** Resident memory of processes, sampled while something else goes on. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

export function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    // Where there is no /proc.
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024;
  }
}

export interface ResidentSample {
  seconds: number;
  serviceMb: number;
  chainMb: number;
}

/** Every second, until it is asked for what it saw. */
export function sampleResident({ pid, chainPid }: { pid: number; chainPid: number }): () => ResidentSample[] {
  const startedAt = performance.now();
  const samples: ResidentSample[] = [];
  const sampling = setInterval(() => {
    const seconds = (performance.now() - startedAt) / 1_000;
    try {
      samples.push({ seconds, serviceMb: residentMb(pid), chainMb: residentMb(chainPid) });
    } catch {
      // One of them has ended, of which whoever waits for it is told.
      clearInterval(sampling);
    }
  }, 1_000);
  return () => {
    clearInterval(sampling);
    return samples;
  };
}
