/** A Postgres that dies, moves, or goes silent after a COMMIT. TORTURE_LOAD_MS: how long each load goes on. */
import { afterEach, describe, expect, test } from 'vitest';
import { postgresMissing } from '../../kits/databases/databases.ts';
import { askAgain, type Load, pause, startLoad, until } from './load.ts';
import { type Cluster, openCluster } from './postgres-cluster.ts';
import { type Life, startLife } from './program.ts';
import { openStage, type Stage } from './stage.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const LOAD_MS = Number(process.env.TORTURE_LOAD_MS ?? 800);
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Running {
  cluster: Cluster;
  proxy: TcpProxy;
  stage: Stage;
  life: Life;
  base: string;
  load: Load;
}

/** A service on a Postgres behind a proxy, under load. */
async function underLoad(
  settings: string[] = [],
): Promise<Running & { primary: Awaited<ReturnType<Cluster['primary']>> }> {
  const cluster = await openCluster();
  cleanUps.push(cluster.close);
  const primary = await cluster.primary(settings);
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: primary.port, seed: 3 });
  cleanUps.push(proxy.stop);
  const databaseUrl = proxy.urlOf(primary.url);
  const stage = await openStage({ seed: 3, blockTimeSeconds: 1, databaseUrl });
  cleanUps.push(stage.close);
  const life = startLife([...stage.serveArgs, '--database-url', databaseUrl], { cwd: stage.folder });
  cleanUps.push(async () => void (life.isOver() || (await life.stop('SIGKILL'))));
  const base = (await life.ready)?.urls.events;
  if (!base) throw new Error(`the service did not start: ${life.stderr()}`);
  const load = startLoad(stage, [base]);
  return { cluster, primary, proxy, stage, life, base, load };
}

/** The same process answers again by itself; everybody gets a clear answer, and what they were told is so. */
async function comesBack({ stage, life, base, load }: Running): Promise<void> {
  const before = stage.calls.length;
  await until('an event is rewarded again', () =>
    stage.calls.slice(before).some(({ kind }) => kind === 'ok'),
  );
  await pause(LOAD_MS / 2);
  await load.stop();
  await askAgain(stage, base, load.users);
  const ready = await life.ready;
  if (!ready) throw new Error('it was ready before');
  const { violations, paid } = await stage.verdict(ready);
  expect(violations).toEqual([]);
  expect(paid).toBe(load.users.length);
  expect(stage.calls.filter(({ kind }) => kind === 'ok').length).toBeGreaterThan(10);
  expect(life.isOver()).toBe(false);
}

describe.skipIf(postgresMissing())('Postgres', { timeout: 90_000 }, () => {
  test('killed with SIGKILL and started again, under load', async () => {
    const running = await underLoad();
    await pause(LOAD_MS);
    await running.primary.kill('SIGKILL');
    await pause(500);
    await running.primary.start();
    await comesBack(running);
  });

  test('a synchronous standby is promoted in place of a primary that was killed', async () => {
    const running = await underLoad();
    const { primary, cluster } = running;
    const standby = await cluster.standbyOf(primary);
    await primary.query("alter system set synchronous_standby_names = 'FIRST 1 (standby)'");
    await primary.query('select pg_reload_conf()');
    const states = () => primary.query('select sync_state from pg_stat_replication');
    await until('the standby is synchronous', async () => (await states())[0]?.sync_state === 'sync');
    await pause(LOAD_MS);
    await running.primary.kill('SIGKILL');
    standby.promote();
    running.proxy.moveTo('127.0.0.1', standby.port);
    await comesBack(running);
  });

  test('the connection is cut after one COMMIT in ten', async () => {
    const running = await underLoad();
    running.proxy.cutAfterCommits(0.1);
    await until('enough commits were cut', () => running.proxy.cuts.afterCommit >= LOAD_MS / 300, 30_000);
    running.proxy.cutAfterCommits(0);
    await comesBack(running);
  });
});
