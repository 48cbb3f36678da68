/** Events of new users on ledgers that hold a thousand claims to a million, and how long the largest takes to be compared with its chain. */
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { program, startProgram } from '../setup/processes.ts';
import { type Bench, type Scope, withScope } from '../setup/scope.ts';
import { verified } from '../setup/service.ts';
import { brandIds, planHistory } from '../verify/history.ts';
import { writeHistory } from '../verify/ledger.ts';
import { measureVerify, serviceEnvironment } from '../verify/measure.ts';
import type { StandInTask } from '../verify/node-process.ts';
import { startStandIn } from '../verify/start-stand-in.ts';
import type { Found } from './found.ts';
import type { Plan } from './plan.ts';
import { inTurns, type Subject } from './rounds.ts';
import { eventLoad } from './subjects.ts';

const SMALLEST = 1_000;
/** Rewards of a transaction of the past. */
const BATCH = 250;

/** A thousand, ten thousand, … and `largest`. */
export function sizesUpTo(largest: number): number[] {
  const sizes = [];
  for (let size = SMALLEST; size < largest; size *= 10) sizes.push(size);
  return [...sizes, largest];
}

export async function measureGrowth(bench: Bench, plan: Plan): Promise<Found> {
  return withScope(bench, async (scope) => {
    const sizes = sizesUpTo(plan.claims);
    const ledgers: Awaited<ReturnType<typeof prepare>>[] = [];
    for (const claims of sizes) {
      bench.say(`writing a ledger of ${claims} claims`);
      ledgers.push(await prepare(scope, claims));
    }
    const names = sizes.map(String);
    const of = <Value>(value: (ledger: (typeof ledgers)[number]) => Value) =>
      Object.fromEntries(ledgers.map((ledger) => [String(ledger.claims), value(ledger)])) as Record<
        string,
        Value
      >;
    const rounds = await inTurns({
      ...{ ...bench, names, subjects: of(({ subject }) => subject) },
      ...{ rounds: plan.rounds, warmUpSeconds: plan.warmUpSeconds },
      seconds: of(() => plan.seconds.events),
      callers: of(() => plan.callers),
    });
    for (const { service } of ledgers) await service.stop();
    let verify: Found['verify'];
    for (const { claims, env, databaseUrl, nodeUrl, folder } of ledgers) {
      if (claims === plan.claims) {
        const { say } = bench;
        const measured = await measureVerify({ program: program(), databaseUrl, nodeUrl, say });
        if (measured.differences > 0)
          throw new Error(`ledger and chain: ${measured.differences} differences`);
        verify = { ...measured, rewards: claims };
      } else await verified({ env, cwd: folder });
      bench.say(`rewards verify: the ledger that began with ${claims}, no difference`);
    }
    const growth = ledgers.flatMap(({ claims }) => {
      const found = rounds[String(claims)];
      return found ? [{ claims, rounds: found }] : [];
    });
    return { rounds: {}, growth, ...(verify && { verify }) };
  });
}

/** A ledger with a past, a stand-in for its node, and the service on both. */
async function prepare({ folder: parent, started }: Scope, claims: number) {
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
  return { claims, folder, env, databaseUrl, nodeUrl: node.url, service, subject };
}
