/** `npm run bench -- verify`: how long ledger and chain take to compare, and what it costs the service's callers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { readOptions } from '../options.ts';
import { planHistory } from './history.ts';
import { writeHistory } from './ledger.ts';
import { measureVerify, type VerifyMeasured } from './measure.ts';
import type { StandInTask } from './node-process.ts';
import { startStandIn } from './start-stand-in.ts';

const options = readOptions('verify', {
  rewards: { type: 'string', default: '1000000', help: 'rewards in the ledger' },
  batch: { type: 'string', default: '250', help: 'rewards of a transaction' },
  database: { type: 'string', help: 'an empty database of Postgres; without one, SQLite' },
  dir: { type: 'string', default: tmpdir(), help: 'where the files are' },
  json: { type: 'string', help: 'file for what was measured' },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const program =
  process.env.REWARDS_BENCH_PROGRAM ?? new URL('../../bin/rewards.js', import.meta.url).pathname;

const plan = { rewards: Number(options.rewards), batch: Number(options.batch), headAtMs: Date.now() };
const folder = await mkdtemp(join(options.dir, 'rewards-bench-verify-'));
try {
  const file = join(folder, 'ledger.sqlite');
  const databaseUrl = options.database ?? `sqlite:${file}`;
  const database = options.database ? openPostgres(options.database) : openSqlite(file);
  say(`writing a ledger of ${plan.rewards} rewards`);
  let hashes: Hex[];
  try {
    hashes = await writeHistory(database, planHistory(plan));
  } finally {
    await database.close();
  }
  const task: StandInTask = { plan, hashes };
  await writeFile(join(folder, 'node.json'), JSON.stringify(task));
  const node = await startStandIn(join(folder, 'node.json'));
  try {
    say('comparing it with its chain, while events are taken');
    const measured = await measureVerify({ program, databaseUrl, nodeUrl: node.url, say });
    console.log(tableOf(measured));
    if (options.json) await writeFile(options.json, `${JSON.stringify({ ...plan, ...measured }, null, 2)}\n`);
  } finally {
    await node.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

function tableOf({
  seconds,
  peakMb,
  inService,
  livezMaxMs,
  events,
  leasesLost,
  differences,
}: VerifyMeasured) {
  const { answered, failed, maxMs } = events;
  return [
    `rewards         ${plan.rewards} in ${Math.ceil(plan.rewards / plan.batch)} transactions`,
    `compared in     ${seconds.toFixed(1)} s by ${inService ? 'the service itself' : 'rewards verify'}`,
    `peak memory     ${Math.round(peakMb)} MB of that process`,
    `longest /livez  ${Math.round(livezMaxMs)} ms`,
    `events          ${answered} answered, ${failed} failed, the slowest in ${Math.round(maxMs)} ms`,
    `leases lost     ${leasesLost}`,
    `differences     ${differences}`,
  ].join('\n');
}
