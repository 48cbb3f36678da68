/** The emulator: what lives as long as `serve` does, and the stack behind it that can be closed and opened again. */
import { join } from 'node:path';
import { AnvilError } from '../chain/development/find-anvil.ts';
import { settings } from '../compose/config.ts';
import { createLifecycle, type Lifecycle } from '../compose/lifecycle.ts';
import { startProblem } from '../compose/start-problem.ts';
import { type RequestSummary, requestSummary } from '../http/control/requests.ts';
import type { RequestRecord } from '../http/frame/request-record.ts';
import { openDataDir } from '../ledger/database/file-lock.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { systemClock } from '../lib/clock.ts';
import { secureRandom } from '../lib/ids.ts';
import { stopwatch } from '../lib/timers.ts';
import type { StartFreshStack } from '../stack/fresh-stack.ts';
import type { Ready } from '../stack/ready.ts';
import { openRpcProxy, type RpcProxy } from './chain/rpc-proxy.ts';
import { createRequestLog } from './control/request-log.ts';
import { createRequestTally } from './control/request-tally.ts';
import { loadFixture, packagedFixture } from './fixture/fixture.ts';
import { createJobs } from './jobs/create-jobs.ts';
import { emulatorLimits, snapshotSettings } from './limits.ts';
import { type HostUrls, type ListenerApps, type ListenerName, openListeners } from './open-hosts.ts';
import type { PrestartedNode } from './prestarted-node.ts';
import type { Overrides, ServeConfig } from './serve-config.ts';
import { createSnapshots, type Snapshots } from './snapshots/create-snapshots.ts';
import { removeDrafts } from './snapshots/snapshot-folder.ts';
import { createUndoPoints } from './snapshots/undo-points.ts';
import { createDrainGate, type DrainGate } from './stack/drain-gate.ts';
import type { StackContext, StackReady } from './stack/open-stack.ts';
import type { Seed } from './stack/prepare-stack.ts';
import { createStackSupervisor, type StackSupervisor } from './stack/supervise-stack.ts';
import { resetData, SNAPSHOTS } from './state/data-files.ts';

export interface Emulator {
  /** Starts everything; a second call returns the result of the first. */
  start(): Promise<Ready>;
  /** Stops everything in reverse order; may be called at any time, and again. */
  stop(): Promise<void>;
  /** Calls `listener` with every answered request until the returned function is called. */
  onRequest(listener: (request: RequestSummary) => void): () => void;
  /** Calls `listener` when a snapshot, or a new beginning, has taken the place of the data. */
  onReplaced(listener: (ready: Ready) => void): void;
  /** Saves the running stack in a file; rejects with `SnapshotError`, and before `start`. */
  exportSnapshot(path: string): Promise<void>;
}

/** Creates an emulator from `config`; nothing runs before `start`, but for the node that the caller has started early. */
export async function createEmulator(
  config: ServeConfig,
  overrides: Overrides = {},
  prestartedNode?: PrestartedNode,
): Promise<Emulator> {
  const fixture = await loadFixture(seedPaths(config.seedFiles));
  const seed = { fixture, named: config.seedFiles.length > 0 };
  const lifecycle = createLifecycle();
  if (prestartedNode) lifecycle.onStop(prestartedNode.drop);
  const listeners = new Set<(request: RequestSummary) => void>();
  const tell = (record: RequestRecord) => {
    if (listeners.size === 0) return;
    const request = requestSummary(record);
    for (const listener of listeners) listener(request);
  };
  const replaced = new Set<(ready: Ready) => void>();
  const onReplaced = (ready: Ready) => {
    for (const listener of replaced) listener(ready);
  };
  let starting: Promise<Ready> | undefined;
  let snapshots: Snapshots | undefined;
  const onSnapshots = (ofStack: Snapshots) => {
    snapshots = ofStack;
  };
  return {
    start() {
      starting ??= lifecycle.start(() =>
        startEmulator(
          { lifecycle, tell, onReplaced, onSnapshots, prestartedNode },
          { config, overrides, seed },
        ).catch((error: unknown) => {
          throw startProblem(error, config);
        }),
      );
      return starting;
    },
    stop: () => lifecycle.stop(),
    onRequest(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onReplaced: (listener) => void replaced.add(listener),
    async exportSnapshot(path) {
      if (!snapshots) throw new Error('the stack is not started');
      await snapshots.exportTo(path);
    },
  };
}

/** Deletes what a stopped emulator has kept in a folder; returns the paths. */
export const resetEmulator = (folder: string) => resetData({ openLedger: openSqlite }, folder);

/** A Postgres database of its own for a stack that is not kept; `drop` removes it. */
export async function ownDatabase(url: string, name: string) {
  const { createOwnDatabase } = await import('../ledger/database/postgres.ts');
  return createOwnDatabase(url, name);
}

/** The packaged demo where no file is named. */
const seedPaths = (named: readonly string[]) => (named.length > 0 ? named : [packagedFixture('demo')]);

async function startEmulator(
  deps: {
    lifecycle: Lifecycle;
    tell: (record: RequestRecord) => void;
    onReplaced: (ready: Ready) => void;
    onSnapshots: (snapshots: Snapshots) => void;
    prestartedNode?: PrestartedNode | undefined;
  },
  { config, overrides, seed }: { config: ServeConfig; overrides: Overrides; seed: Seed },
): Promise<Ready> {
  const { lifecycle } = deps;
  const dataDir = await openDataDir({ path: config.dataDir, ephemeral: config.ephemeral });
  lifecycle.onStop(() => dataDir.release());
  await removeDrafts(join(dataDir.path, SNAPSHOTS));
  let urls: HostUrls | undefined;
  const machine = systemClock();
  const undo = config.undo ? createUndoPoints(() => runningOf(keeper, dataDir.path), machine) : undefined;
  const gate = createDrainGate(
    { ...snapshotSettings.restore, drainTimeoutMs: settings.drainTimeoutMs },
    undo,
  );
  const keeper = createStackSupervisor({
    context: () => context,
    gate,
    urls: () => urls,
    onReplaced: (ready) => deps.onReplaced(whole(ready)),
  });
  const controlToken = Buffer.from(secureRandom(machine).bytes(24)).toString('base64url');
  const target = () => urls && { url: urls.events, token: controlToken };
  const jobs = createJobs({ workbench: config.workbench, clock: machine, target });
  const context: StackContext = {
    config,
    overrides,
    seed,
    seedFiles: seedPaths(config.seedFiles),
    dataDir: dataDir.path,
    prestartedNode: deps.prestartedNode,
    controlToken,
    jobs,
    requests: createRequestLog<RequestRecord>(emulatorLimits.requestLog),
    tally: createRequestTally(stopwatch()),
    tell: deps.tell,
    urls: () => urls,
    snapshots: createSnapshots({
      keeper,
      dataDir: dataDir.path,
      clock: machine,
      undo,
      hasLedgerFile: config.databaseUrl === undefined,
    }),
  };
  const whole = ({ clock, dataDir: folder, ...ready }: StackReady): Ready => ({
    pid: process.pid,
    urls: { ...(urls as HostUrls), rpc: door?.url ?? config.rpcUrl ?? '' },
    ...ready,
    controlToken,
    clock,
    dataDir: folder,
  });
  let door: RpcProxy | undefined;
  deps.onSnapshots(context.snapshots);
  lifecycle.onStop(keeper.close);
  const { importFile } = config;
  const stack = await keeper.open(
    importFile ? () => context.snapshots.imported(importFile, config) : undefined,
  );
  // A folder that seemed empty got its former data back.
  await deps.prestartedNode?.drop();
  if (stack.node) {
    const opened = await openDoorSomewhere(config, nodePort(gate, keeper));
    lifecycle.onStop(() => opened.close());
    door = opened;
  }
  gate.open(stack.apps);
  urls = await openListeners(config, behind(gate, stack.apps), lifecycle);
  lifecycle.onStop(async () => keeper.current()?.settle());
  lifecycle.onStop(jobs.close);
  return whole(await stack.connect(urls));
}

/** Undefined while it is away, and for one whose files are not all its own. */
const runningOf = (keeper: StackSupervisor, dataDir: string) => {
  const stack = keeper.current();
  return stack?.node && { dataDir, clock: stack.clock, node: stack.node };
};

/** Where the node of the present stack listens; a caller that asks between two stacks waits for the next one. */
const nodePort =
  (gate: DrainGate, keeper: StackSupervisor): NodePort =>
  async () => {
    await gate.opened();
    return keeper.current()?.node?.port();
  };

/** The gate's side of each listener that a stack needs. */
const behind = (gate: DrainGate, { events, ...others }: ListenerApps): ListenerApps => ({
  events: gate.at('events'),
  ...Object.fromEntries(Object.keys(others).map((name) => [name, gate.at(name as ListenerName)])),
});

type NodePort = Parameters<typeof openRpcProxy>[0]['port'];

/** A default port that is taken is replaced by any free port. */
async function openDoorSomewhere(
  { bindAddress, rpcPort, rpcPortExplicit }: ServeConfig,
  port: NodePort,
): Promise<RpcProxy> {
  const node = { port, bindAddress };
  try {
    return await openRpcProxy(node, { port: rpcPort });
  } catch (error) {
    const taken = error instanceof AnvilError && error.code === 'E_PORT_TAKEN';
    if (!taken || rpcPortExplicit) throw error;
    return openRpcProxy(node, { port: 0 });
  }
}

/** Starts a stack; what it has started is stopped when it cannot. */
export const startFreshStack: StartFreshStack = async (options) => {
  const emulator = await createEmulator({
    ...options,
    bindAddress: '127.0.0.1',
    port: 0,
    portExplicit: false,
    splitHosts: false,
    ephemeral: true,
    dataDir: '',
    rpcPort: 0,
    rpcPortExplicit: false,
    blockTimeSeconds: 0,
  });
  try {
    const ready = await emulator.start();
    return { ready, stop: () => emulator.stop() };
  } catch (error) {
    await emulator.stop().catch(() => undefined);
    throw error;
  }
};
