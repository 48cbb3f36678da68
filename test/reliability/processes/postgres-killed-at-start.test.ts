/**
 * A Postgres that is killed, with all its processes, while a `rewards start` asks it: at messages by chance, before or
 * after the server has them. TORTURE_POINTS=all: at every message; TORTURE_SEED: of the first of three.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { postgresMissing } from '../../kits/databases/databases.ts';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import { rewardsJson, startHere } from '../../kits/service/cli.ts';
import { type ProductionKit, prepareLedger, startProductionKit } from '../../kits/service/production.ts';
import { type Cluster, openCluster, type Server } from './postgres-cluster.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const firstSeed = Number(process.env.TORTURE_SEED ?? 1);
const seeds = [0, 1, 2].map((nth) => firstSeed + nth);
const isEvery = process.env.TORTURE_POINTS === 'all';
const KILLS = 4;
/** A start and a server's recovery take seconds for each message of some hundred. */
const TIMEOUT_MS = isEvery ? 7_200_000 : 600_000;

let kit: ProductionKit;
let cluster: Cluster;
let server: Server;
let proxy: TcpProxy;

interface Started {
  ready: boolean;
  code: number;
  error: Record<string, unknown>;
  log: string;
  messages: number;
}

/** One start, which ends by itself or is stopped once it is ready. */
async function startOnce(): Promise<Started> {
  const env = kit.environment(proxy.urlOf(server.url), { REWARDS_WORKERS: 'api,outbox' });
  const run = startHere(['start', '-o', 'json'], { env });
  const line = await Promise.race([run.nextLine(), run.ended.then(() => undefined)]);
  const ready = line !== undefined && JSON.parse(line).type === 'ready';
  const messages = proxy.messages();
  if (ready) {
    proxy.atMessage(undefined);
    run.signal('SIGTERM');
  }
  const code = await run.ended;
  const error = ready ? {} : JSON.parse(line ?? run.stdout()).error;
  return { ready, code, error, log: run.stderr(), messages };
}

/** A start whose server dies with this message, and comes back once the start has ended. */
async function startKilledAt(nth: number, isPassedOn: boolean): Promise<Started> {
  let killed: Promise<void> | undefined;
  proxy.atMessage({
    nth,
    isPassedOn,
    act() {
      killed = server.killWhole();
    },
  });
  const started = await startOnce();
  proxy.atMessage(undefined);
  await killed;
  if (killed) await server.start();
  return started;
}

const isTold = ({ code, error, log }: Started) =>
  code === 75 &&
  error.code === 'E_START_DATABASE' &&
  error.retryable === true &&
  !/\n\s+at /.test(`${error.message}${log}`);

describe.skipIf(postgresMissing())('Postgres is killed during a start', { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    [kit, cluster] = await Promise.all([startProductionKit(), openCluster()]);
    server = await cluster.primary();
    proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port });
    const database = openPostgres(server.url);
    await prepareLedger(database);
    await database.close();
  }, 120_000);
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all([cluster?.close(), kit?.stop()]);
  }, 60_000);

  test.each(seeds)(
    'seed %i: the supervisor is told to try again, and the next start goes on',
    async (seed) => {
      const chance = seededChance(seed);
      proxy.atMessage(undefined);
      const whole = await startOnce();
      expect(whole, whole.log).toMatchObject({ ready: true, code: 0 });
      const moments = isEvery
        ? Array.from({ length: whole.messages }, (_, message) => message + 1)
        : Array.from({ length: KILLS }, () => 1 + chance.below(whole.messages));
      const wrong: unknown[] = [];
      let told = 0;
      for (const nth of moments) {
        const isPassedOn = chance.unit() < 0.5;
        const started = await startKilledAt(nth, isPassedOn);
        if (isTold(started)) told += 1;
        // The last messages may be those of work that goes on beside a start, and be sent once it is ready.
        else if (!started.ready) wrong.push({ nth, isPassedOn, ...started });
      }
      expect(wrong).toEqual([]);
      expect(told).toBeGreaterThan(0);
      const last = await startOnce();
      expect(last, last.log).toMatchObject({ ready: true, code: 0 });
      const env = kit.environment(server.url);
      const verified = await rewardsJson(['verify'], { cwd: kit.folder, env });
      expect(verified.envelope, JSON.stringify(verified.envelope)).toMatchObject({ ok: true });
    },
  );
});
