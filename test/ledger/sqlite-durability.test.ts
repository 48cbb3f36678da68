import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaveOut } from '../kits/run/left-out.ts';
import { bundleScript, ended, type Script } from './child.ts';

const COMMITS = 25;

let dir = '';
let committing: Script;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rewards-durable-'));
  committing = await bundleScript(`
    import { openSqlite } from '../../src/ledger/database/sqlite.ts';
    import { migrate } from '../../src/ledger/database/migrate.ts';
    import { facts } from '../../src/ledger/schema/facts-and-counters.ts';
    const [path, commits, how] = process.argv.slice(2);
    const database = openSqlite(path);
    async function main() {
      await migrate(database);
      for (let name = 0; name < Number(commits); name++) {
        const row = { name: String(name), value: name };
        if (how === 'single') await database.db.insert(facts).values(row);
        else await database.atomically(async (tx) => void (await tx.insert(facts).values(row)));
      }
      // Without the checkpoint of a clean end, whose syncs would be counted too.
      process.kill(process.pid, 'SIGKILL');
    }
    main();
  `);
});
afterAll(async () => {
  await committing.remove();
  await rm(dir, { recursive: true, force: true });
});

/** Whether processes may be watched here. */
function canTrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
const traced = canTrace();
if (!traced) leaveOut('strace', 'install strace, and allow it to watch processes');

const syncsOf = async (how: string, commits: number) => {
  const trace = join(dir, `${how}-${commits}.trace`);
  const under = ['strace', '-f', '-e', 'trace=fsync,fdatasync', '-o', trace];
  await ended(committing.start([join(dir, `${how}-${commits}.db`), String(commits), how], { under }));
  return (await readFile(trace, 'utf8')).match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0;
};

test.skipIf(!traced).each(['single', 'atomically'])(
  'every commit waits for the disk: %s',
  async (how) => {
    const [before, after] = await Promise.all([syncsOf(how, 1), syncsOf(how, 1 + COMMITS)]);
    expect(after - before).toBeGreaterThanOrEqual(COMMITS);
  },
  60_000,
);
