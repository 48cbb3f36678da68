/** The tests that judge a change, as `npm run mutate` asks for them: in one process, so that the change can be switched. */
import { defineConfig } from 'vitest/config';
import base from '../../../vitest.config.ts';

export default defineConfig({
  ...base,
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    ...base.test,
    include: (process.env.REWARDS_MUTATE_TESTS ?? 'test/rules/*.test.ts').split(' '),
    exclude: [],
    // Without it Stryker loses which tests reach a line.
    isolate: true,
    // For what hangs: on a busy machine a shorter time would count as a change that was noticed.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
