/** Runs ranges of seeds as they are handed over by the parent process. */

import { mutants, noMutant } from '../planted-bugs/mutants.ts';
import type { Finding } from './findings.ts';
import { openSimLedger, type SimLedger } from './sim-ledger.ts';
import { simulate } from './simulate.ts';
import { installVirtualTime } from './virtual-time.ts';
import { emptyTally } from './world.ts';

export interface Job {
  from: number;
  seeds: number;
  mutant: string | undefined;
  /** Only the circumstances of the planted bug, without the bug. */
  isControl?: boolean;
  /** Stops at the first seed with a finding. */
  stopAtFirst: boolean;
  trace: boolean;
}
export interface Result {
  seeds: number;
  failed: { seed: number; findings: Finding[]; trace?: string[] }[];
  faults: [string, number][];
  points: [string, number][];
  crashes: [string, number][];
  cpuMs: number;
}

export const mutantNamed = (name: string | undefined) => {
  const found = name === undefined ? noMutant : mutants.find((one) => one.name === name);
  if (!found) throw new Error(`no mutant ${name}; there are ${mutants.map((one) => one.name).join(', ')}`);
  return found;
};

/** One process's simulator, which takes the process's timers until `restore`; jobs run one after the other. */
export function createSimulator() {
  const time = installVirtualTime();
  const ledgers = new Map<string, Promise<SimLedger>>();
  return { run, restore: time.restore };

  async function run(job: Job): Promise<Result> {
    const planted = mutantNamed(job.mutant);
    const { circumstances = {} } = planted;
    const mutant = job.isControl ? { ...noMutant, circumstances } : planted;
    const ddl = mutant.ddl ?? '';
    const opening = ledgers.get(ddl) ?? openSimLedger(time, ddl);
    ledgers.set(ddl, opening);
    const ledger = await opening;
    const tally = emptyTally();
    const failed: Result['failed'] = [];
    const before = process.cpuUsage();
    let seed = job.from;
    for (; seed < job.from + job.seeds; seed += 1) {
      const trace = job.trace ? [] : undefined;
      const findings = await simulate({ seed, time, ledger, mutant, tally, trace });
      if (findings.length === 0) continue;
      failed.push({ seed, findings, ...(trace && { trace }) });
      if (job.stopAtFirst) break;
    }
    const { user, system } = process.cpuUsage(before);
    const seeds = Math.min(seed + 1, job.from + job.seeds) - job.from;
    return {
      seeds,
      failed,
      faults: [...tally.faults],
      points: [...tally.points],
      crashes: [...tally.crashes],
      cpuMs: (user + system) / 1_000,
    };
  }
}

export async function work(): Promise<void> {
  const { run } = createSimulator();
  process.on('message', (job: Job) => {
    run(job).then(
      (result) => process.send?.(result),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
}
