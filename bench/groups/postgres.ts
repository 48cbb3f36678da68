/** Events on Postgres, beside a bare server with one insert for each request, and by the number of processes on one database. */
import { randomBytes } from 'node:crypto';
import { createOwnDatabase } from '../../src/ledger/database/postgres.ts';
import { startBaseline } from '../setup/processes.ts';
import { type Bench, type Scope, withScope } from '../setup/scope.ts';
import type { Found } from './found.ts';
import { startOnAnvil } from './on-anvil.ts';
import type { Plan } from './plan.ts';
import { inTurns, measure, perSecond, problemsOf } from './rounds.ts';
import { baselineOf } from './subjects.ts';

const PROCESSES = [1, 2, 3];

/** An empty database on the server, which goes with the scope. */
async function ownDatabase({ started }: Scope, server: string): Promise<string> {
  const name = `rewards_bench_${randomBytes(6).toString('hex')}`;
  const { url, drop } = await createOwnDatabase(server, name);
  await started({ stop: drop });
  return url;
}

export async function measurePostgres(bench: Bench, plan: Plan, server: string): Promise<Found> {
  return withScope(bench, async (scope) => {
    const postgres = await ownDatabase(scope, server);
    const { service, brands, subject } = await startOnAnvil(scope, plan, { postgres });
    const naive = await scope.started(startBaseline('postgres-server', await ownDatabase(scope, server)));
    const { callers } = plan;
    const rounds = await inTurns({
      ...bench,
      subjects: { 'naive-postgres': baselineOf(naive, brands[0]), postgres: subject },
      names: ['naive-postgres', 'postgres'],
      rounds: plan.rounds,
      warmUpSeconds: plan.warmUpSeconds,
      seconds: { 'naive-postgres': plan.seconds.naive, postgres: plan.seconds.events },
      callers: { 'naive-postgres': callers, postgres: callers },
    });
    const rewards = await service.stopAndVerify();
    bench.say(`rewards verify: ${rewards} rewards on Postgres, no difference`);
    return { rounds };
  });
}

/** One process after another on a database of its own each time; callers take the processes in turn. */
export async function measureReplicas(bench: Bench, plan: Plan, server: string): Promise<Found> {
  const replicas: NonNullable<Found['replicas']> = [];
  for (const processes of PROCESSES) {
    await withScope(bench, async (scope) => {
      const postgres = await ownDatabase(scope, server);
      const { service, subject } = await startOnAnvil(scope, plan, { postgres, processes });
      const { callers, seconds } = plan;
      await measure(bench.generator, subject, { callers, seconds: plan.warmUpSeconds });
      const measured = await measure(bench.generator, subject, { callers, seconds: seconds.events });
      for (const problem of problemsOf(measured)) bench.say(`${processes} processes: ${problem}`);
      replicas.push({ processes, perSecond: perSecond(measured), p99Ms: measured.p99Ms });
      const rewards = await service.stopAndVerify();
      bench.say(`${processes} on one Postgres: ${Math.round(perSecond(measured))} events a second`);
      bench.say(`rewards verify: ${rewards} rewards of ${processes} processes, no difference`);
    });
  }
  return { rounds: {}, replicas };
}
