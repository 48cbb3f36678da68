/** Every file below scenarios/ has no problem, and passes as it is on a ledger in a file. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { FileReport } from '../../src/scenario/run/report.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { ALL_FILES_MS, FILES_AT_ONCE, failed, files, reportOf, root } from './all-files.ts';

test('no file has a problem', async () => {
  const { code, stdout } = await rewards(['scenario', 'lint'], { cwd: root });
  expect([code, stdout]).toEqual([0, `${files.length} files, no problem\n`]);
});

describe('as they are', () => {
  let reports: FileReport[] = [];
  beforeAll(async () => {
    const { envelope } = await rewardsJson(['scenario', 'run', '--jobs', FILES_AT_ONCE], { cwd: root });
    expect(envelope.data?.files ?? envelope.error).toBeInstanceOf(Array);
    reports = envelope.data.files;
  }, ALL_FILES_MS);

  test.each(files)('%s passes', (file) => {
    const report = reportOf(reports, file);
    expect(
      report?.cases.map(({ status, failure, steps }) => ({ status, failure, failed: failed(steps) })),
    ).toEqual(report?.cases.map(() => ({ status: 'passed', failure: null, failed: [] })));
    expect(report?.cases.length).toBeGreaterThan(0);
  });
});
