import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/kits/longest-first.ts';

export default defineConfig({
  // Migrations are imported as text, as the bundler does it.
  plugins: [
    {
      name: 'sql-as-text',
      transform: (code, id) => (id.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined),
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    // What takes long or leaves much to chance has a run of its own: `npm run test:faults`.
    exclude: ['test/reliability/**'],
    // The first says where the second keeps its files.
    globalSetup: ['test/kits/memory-folder.ts', 'test/kits/global-setup.ts'],
    // For what hangs, not for what is slow: a machine with two noisy processors may take ten times as long as usual.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    isolate: false,
    // Files wait, for processes of theirs and for time-outs: with three at a time, two processors are idle for a tenth of the run.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
