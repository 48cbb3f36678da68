/** The tests that judge a change, as `npm run mutate` asks for them: in one process, so that the change can be switched. */
import { defineConfig } from 'vitest/config';
import base from '../../../vitest.config.ts';

const include = (process.env.REWARDS_MUTATE_TESTS ?? 'test/rules/*.test.ts').split(' ');

export default defineConfig({
  ...base,
  root: new URL('../../..', import.meta.url).pathname,
  test: {
    ...base.test,
    include,
    // Contracts are tried hundreds of times, and their tests start neither the program nor a database.
    globalSetup: include.every((tests) => tests.startsWith('test/solidity/')) ? [] : base.test?.globalSetup,
    exclude: [],
    testNamePattern: process.env.REWARDS_MUTATE_NAMES,
    // Without it Stryker loses which tests reach a line.
    isolate: true,
    // For what hangs: on a busy machine a shorter time would count as a change that was noticed.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
