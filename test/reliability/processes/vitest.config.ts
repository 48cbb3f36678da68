/** For long runs: `TORTURE_POINTS=all TORTURE_SCHEDULES=100 npx vitest run --config test/reliability/processes/vitest.config.ts`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    include: ['test/reliability/processes/run.test.ts'],
    globalSetup: process.env.TORTURE_PROGRAM ? [] : ['test/kits/global-setup.ts'],
    pool: 'forks',
    maxConcurrency: Number(process.env.TORTURE_TOGETHER ?? 2),
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
});
