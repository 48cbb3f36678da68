/** What takes long or leaves something to chance: `npm run test:faults`. Sizes come from the environment, see docs/reliability.md. */
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

export default defineConfig({
  ...base,
  root: new URL('../..', import.meta.url).pathname,
  test: {
    ...base.test,
    include: ['test/reliability/**/*.test.ts'],
    exclude: [],
    // Files on a real disk: what is killed between a write and its sync is what these tests are about.
    globalSetup: ['test/kits/run/global-setup.ts'],
    // Processes are killed, timers taken over and disks filled here: no file may feel what another did.
    isolate: true,
    // Loads of whole processes: a fourth file at a time would only wait.
    maxWorkers: 3,
    // Schedules of one file that run at the same time.
    maxConcurrency: Number(process.env.TORTURE_TOGETHER ?? 2),
    retry: 0,
  },
});
