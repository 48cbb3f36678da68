import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { textFiles } from './scripts/bundles.js';
import { LongestFirst } from './test/kits/run/longest-first.ts';

const isText = (path: string) => Object.keys(textFiles).some((ending) => path.endsWith(ending));

export default defineConfig({
  // As the bundler does it. The end of a path would have Vite read a style as a style, so another one is put behind it.
  plugins: [
    {
      name: 'files-as-text',
      enforce: 'pre',
      resolveId: (source, importer) =>
        importer && isText(source) ? `\0${resolve(dirname(importer), source)}.txt` : undefined,
      async load(id) {
        const path = id.slice(1, -'.txt'.length);
        if (!id.startsWith('\0') || !isText(path)) return undefined;
        this.addWatchFile(path);
        return `export default ${JSON.stringify(await readFile(path, 'utf8'))}`;
      },
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    // What takes long or leaves much to chance has a run of its own: `npm run test:faults`.
    exclude: ['test/reliability/**'],
    // The first says where the second keeps its files.
    globalSetup: ['test/kits/run/memory-folder.ts', 'test/kits/run/global-setup.ts'],
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
