/** The tests that judge a change, as `npm run mutate` asks for them: in one process, so that the change can be switched. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../../vitest.config.ts';

const include = (process.env.REWARDS_MUTATE_TESTS ?? 'test/rules/*.test.ts').split(' ');

/** Tests without a service first: the first test that fails ends the run of a change. Vitest wants a class. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isQuick = ({ moduleId }: TestSpecification) =>
      /\/test\/(?:rules|identity|actions)\//.test(moduleId);
    const longestFirst = await super.sort(files);
    return longestFirst.reverse().sort((a, b) => Number(isQuick(b)) - Number(isQuick(a)));
  }
}

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
    sequence: { sequencer: QuickestFirst },
    // For what hangs: on a busy machine a shorter time would count as a change that was noticed.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
