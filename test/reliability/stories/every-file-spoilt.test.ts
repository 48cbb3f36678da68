/**
 * A copy of every file below scenarios/ in which the last expected value is changed fails there, and nowhere else: all
 * before it and after it passes, and what came is what the file itself expects. On Postgres where there is one.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileReport } from '../../../src/scenario/run/report.ts';
import { postgresMissing } from '../../kits/databases/databases.ts';
import { rewardsJson } from '../../kits/service/cli.ts';
import { ALL_FILES_MS, FILES_AT_ONCE, failed, files, folder, reportOf } from '../../scenarios/all-files.ts';
import { type Change, spoilt } from './spoilt.ts';

const postgres = postgresMissing() ? undefined : process.env.REWARDS_TEST_POSTGRES_URL;

describe('with one expected value changed', () => {
  let copy: string;
  const changes = new Map<string, Change>();
  let reports: FileReport[] = [];
  let code: number | null;
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'rewards-scenarios-'));
    await cp(folder, join(copy, 'scenarios'), { recursive: true });
    for (const file of files) {
      const path = join(copy, 'scenarios', file);
      const { text, ...change } = spoilt(await readFile(path, 'utf8'));
      await writeFile(path, text);
      changes.set(file, change);
    }
    const ledger = postgres === undefined ? [] : ['--database-url', postgres];
    const run = ['scenario', 'run', '--jobs', FILES_AT_ONCE, ...ledger];
    const finished = await rewardsJson(run, { cwd: copy });
    code = finished.code;
    reports = finished.envelope.data.files;
  }, ALL_FILES_MS);
  afterAll(() => rm(copy, { recursive: true, force: true }));

  test.each(files)('%s fails there alone', (file) => {
    expect(code).toBe(1);
    const change = changes.get(file);
    const report = reportOf(reports, file);
    expect(report?.cases.length).toBeGreaterThan(0);
    for (const { failure, steps } of report?.cases ?? []) {
      expect(failure).toBeNull();
      const differences = failed(steps).flatMap((one) => one.differences);
      expect(differences).toMatchObject([
        { line: change?.line, expected: change?.expected, got: change?.before },
      ]);
      expect(relative(copy, join(copy, differences[0]?.file ?? ''))).toBe(join('scenarios', file));
    }
    expect(report?.cases.map(({ status }) => status)).not.toContain('passed');
  });

  test.skipIf(postgres === undefined)('no database is left', async () => {
    const client = new pg.Client({ connectionString: postgres });
    await client.connect();
    const { rows } = await client.query('select datname from pg_database where datname like $1', [
      `rewards_scenario_${process.pid}_%`,
    ]);
    await client.end();
    expect(rows).toEqual([]);
  });
});
