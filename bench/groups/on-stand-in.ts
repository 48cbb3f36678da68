/** The service on a ledger that has a past, and on a stand-in for its node. */
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { startProgram } from '../setup/processes.ts';
import type { Scope } from '../setup/scope.ts';
import { verified } from '../setup/service.ts';
import { brandIds, planHistory } from '../verify/history.ts';
import { writeHistory } from '../verify/ledger.ts';
import { serviceEnvironment } from '../verify/measure.ts';
import type { StandInTask } from '../verify/node-process.ts';
import { startStandIn } from '../verify/start-stand-in.ts';
import type { Subject } from './rounds.ts';
import { eventLoad } from './subjects.ts';

/** Claims of a ledger that has hardly begun. */
export const LITTLE_PAST = 1_000;
/** Rewards of a transaction of the past. */
const BATCH = 250;

/**
 * A ledger with so many claims of the past, a stand-in for its node, and the service on both. A block of the stand-in costs the
 * same whatever its chain holds; Anvil hashes its whole state for each, half a second with 250,000 holders.
 */
export async function startOnStandIn({ folder: parent, started }: Scope, claims: number) {
  const folder = join(parent, String(claims));
  await mkdir(folder);
  const databaseUrl = `sqlite:${join(folder, 'ledger.sqlite')}`;
  const history = { rewards: claims, batch: BATCH, headAtMs: Date.now() };
  const database = openSqlite(join(folder, 'ledger.sqlite'));
  const task: StandInTask = { plan: history, hashes: [] };
  try {
    task.hashes = await writeHistory(database, planHistory(history));
  } finally {
    await database.close();
  }
  writeFileSync(join(folder, 'node.json'), JSON.stringify(task));
  const node = await started(startStandIn(join(folder, 'node.json')));
  // It compares by itself after a minute or so, which is not what is measured here.
  const env = serviceEnvironment({ databaseUrl, nodeUrl: node.url }, { REWARDS_VERIFY_EVERY: '0s' });
  const service = await started(startProgram(['start', '--log-level', 'warn'], { env, cwd: folder }));
  const subject: Subject = {
    load: eventLoad([service.url], {
      ...(brandIds[0] && { brandId: brandIds[0] }),
      domain: 'shop-0.example',
    }),
    pids: [service.pid],
    chainPid: node.pid,
  };
  return {
    claims,
    folder,
    env,
    databaseUrl,
    nodeUrl: node.url,
    nodePid: node.pid,
    service,
    subject,
    /** Ends the service, and throws when ledger and chain differ in anything; resolves with how many rewards agree. */
    async stopAndVerify() {
      await service.stop();
      return verified({ env, cwd: folder });
    },
  };
}
