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
    // A change may leave a caller waiting for ever.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
