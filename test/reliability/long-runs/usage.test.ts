/** `npm run torture -- --help`. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([['--help'], ['-h']])('%s prints the parts', (flag) => {
  const args = ['scripts/run-bundled.js', 'test/reliability/long-runs/main.ts', flag];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^usage: npm run torture -- <part>/);
});
