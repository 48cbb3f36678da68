/** `npm run bench -- leaderboard`: what a leaderboard costs to read and to count on, with few users and with a million. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readLeaderboard } from '../../src/actions/engagement/read-leaderboard.ts';
import { addBrand } from '../../src/ledger/brands/brands.ts';
import { atMs, type Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { countActivity } from '../../src/ledger/engagement/count-activity.ts';
import type { BrandId, BrandProfile } from '../../src/rules/brands/brand.ts';
import { boardWindow } from '../../src/rules/engagement/board-window.ts';
import { readOptions } from '../options.ts';

const options = readOptions('leaderboard', {
  users: { type: 'string', default: '1000000', help: 'users of the large brand' },
  few: { type: 'string', default: '1000', help: 'users of the small one' },
  questions: { type: 'string', default: '1000', help: 'how often each is asked' },
  database: { type: 'string', help: 'an empty database of Postgres; without one, SQLite' },
  dir: { type: 'string', default: tmpdir(), help: 'where the file is' },
  json: { type: 'string', help: 'file for what was measured' },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const NOW_MS = Date.UTC(2026, 10, 18, 12);
const WEEK_MS = 7 * 24 * 60 * 60_000;

interface Crowd {
  brandId: BrandId;
  users: number;
}

/** A brand with a board of this week and one of the last, whose users have up to 1.3 million RWT. */
async function writeBoards(database: Database, { brandId, users }: Crowd, firstBoard: number): Promise<void> {
  const profile: BrandProfile = {
    domains: [],
    platforms: {},
    clientBypass: 'credential',
    mintTo: 'wallet',
  };
  const brand = { brandId, name: brandId, automation: true, verificationSecret: '', createdAt: NOW_MS };
  await addBrand(database.db, { ...brand, profile });
  for (const [place, moment] of [NOW_MS, NOW_MS - WEEK_MS].entries()) {
    const id = firstBoard + place;
    const { startsAt, endsAt } = boardWindow('week', { atMs: moment, timeZone: 'UTC' });
    const steps = Array.from(
      { length: 9 },
      (_, level) => `
      insert into leaderboard_ranks (board_id, metric, level, node, users)
      select board_id, 'rwt_earned', ${level}, rwt_earned / ${64 ** level}, count(*) from leaderboard_scores
      where board_id = ${id} group by board_id, rwt_earned / ${64 ** level};`,
    );
    await database.script(`
      insert into leaderboards (id, brand_id, period, platform, starts_at, ends_at)
      values (${id}, '${brandId}', 'week', '', ${startsAt}, ${endsAt});
      insert into leaderboard_scores
        (board_id, user_key, rwt_earned, claims, activity, streak, streak_before)
      with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < ${users})
      select ${id}, 'user' || i || '@bench.example',
        ((i + ${place}) * 7919 % 100003) * (i % 13 + 1) + 1, 0, 0, 0, 0 from n;
      ${steps.join('')}`);
  }
}

/** How long each of these took, in order of length. */
const sorted = (times: number[]) => [...times].sort((a, b) => a - b);
const part = (times: number[], share: number) => sorted(times)[Math.floor(times.length * share)] ?? 0;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Asks both brands in turn, so that a slow second of the machine meets both. */
async function measureBoth(database: Database, crowds: Crowd[]) {
  const businessTime = () => atMs(NOW_MS);
  const times = crowds.map(({ users }) => ({ users, read: [] as number[], count: [] as number[] }));
  for (let turn = 0; turn < Number(options.questions); turn++) {
    for (const [place, { brandId, users }] of crowds.entries()) {
      const userKey = `user${1 + ((turn * 7919) % users)}@bench.example`;
      const question = { brandId, metric: 'rwt_earned', period: 'week', platform: undefined } as const;
      const read = () =>
        readLeaderboard({ database, businessTime }, { ...question, limit: 10, userKey, withBrandKey: true });
      const earned = {
        brandId,
        userKey,
        atMs: NOW_MS,
        timeZone: 'UTC',
        rwtEarned: 1 + (turn % 500),
        claims: 1,
      };
      const count = () => database.atomically((tx) => countActivity(tx, [earned]));
      times[place]?.read.push(await timed(read));
      times[place]?.count.push(await timed(count));
    }
  }
  return times.map(({ users, read, count }) => ({
    users,
    read: { p50Ms: part(read, 0.5), p95Ms: part(read, 0.95) },
    count: { p50Ms: part(count, 0.5), p95Ms: part(count, 0.95) },
  }));
}

const folder = await mkdtemp(join(options.dir, 'rewards-bench-leaderboard-'));
const database = options.database
  ? openPostgres(options.database)
  : openSqlite(join(folder, 'ledger.sqlite'));
try {
  await migrate(database);
  const crowds: Crowd[] = [
    { brandId: `0x${'1'.repeat(40)}`, users: Number(options.few) },
    { brandId: `0x${'2'.repeat(40)}`, users: Number(options.users) },
  ];
  for (const [place, crowd] of crowds.entries()) {
    say(`writing ${crowd.users} users`);
    await writeBoards(database, crowd, 1_000_000 + place * 2);
  }
  if (database.dialect === 'postgres') await database.script('analyze');
  await measureBoth(database, crowds);
  const rows = await measureBoth(database, crowds);
  const [few, many] = rows;
  const ratio = { read: 0, count: 0 };
  if (few && many) {
    ratio.read = many.read.p95Ms / few.read.p95Ms;
    ratio.count = many.count.p95Ms / few.count.p95Ms;
  }
  for (const { users, read, count } of rows) {
    const ms = (value: number) => `${value.toFixed(2)} ms`;
    console.log(
      `${String(users).padStart(9)} users   read p50 ${ms(read.p50Ms)}, p95 ${ms(read.p95Ms)}   count p50 ${ms(count.p50Ms)}, p95 ${ms(count.p95Ms)}`,
    );
  }
  console.log(`ratio of p95      read ${ratio.read.toFixed(2)}, count ${ratio.count.toFixed(2)}`);
  if (options.json) await writeFile(options.json, `${JSON.stringify({ rows, ratio }, null, 2)}\n`);
} finally {
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
