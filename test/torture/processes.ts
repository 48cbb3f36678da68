/** Hands the real processes over to their own test runner. */
import { spawn } from 'node:child_process';

export interface ProcessOptions {
  /** `all`, `none`, or names of crash points. */
  points: string;
  schedules: number;
  /** The first schedule's seed. */
  from: number;
}

/** The exit code: 0 when no schedule broke anything. */
export async function runProcesses({ points, schedules, from }: ProcessOptions): Promise<number> {
  const config = ['--config', 'test/torture-process/vitest.config.ts'];
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...config], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TORTURE_POINTS: points,
      TORTURE_SCHEDULES: String(schedules),
      TORTURE_SEED: String(from),
    },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code === 0 ? 0 : 1)));
}
