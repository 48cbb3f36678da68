import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import { createReadingReport } from '../chain/indexer/reading-progress.ts';
import type { Reading } from '../chain/indexer/types.ts';
import { settings } from '../compose/config.ts';
import { createService, type Service } from '../compose/create-service.ts';
import { onOnePort, type ServiceHosts } from '../compose/hosts/one-port.ts';
import { createLifecycle, type Lifecycle } from '../compose/lifecycle.ts';
import { type Listener, listen } from '../compose/listen.ts';
import { type AdminHostDeps, createAdminHost, type LookAt } from '../http/admin.ts';
import { tidyPath } from '../http/frame/host-frame.ts';
import { measured } from '../http/frame/measured.ts';
import type { Observer } from '../http/frame/request-record.ts';
import { newestMigration } from '../ledger/database/migrate.ts';
import type { Facts } from '../ledger/facts.ts';
import { neverCrash } from '../lib/crash-points.ts';
import type { Hex } from '../lib/hex.ts';
import { stopwatch } from '../lib/timers.ts';
import { checkAgain, checkAll, checkNotBehindAgain } from './all-checks.ts';
import { startRefused } from './checks.ts';
import { type LaneName, type LaneState, lookAtLanes, warnOfMissing } from './lanes-known.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { type OperatorDeps, operatorPages } from './operator/operator-pages.ts';
import { type Adapters, pickAdapters, processName } from './pick-adapters.ts';
import { askReach } from './reach.ts';
import { rememberChain } from './remember-chain.ts';
import { createRequestTraces } from './requests/request-traces.ts';
import { userHasher } from './requests/user-hash.ts';
import { productionService } from './service-config.ts';
import type { StartConfig, Worker } from './start-config.ts';
import type { Problem } from './start-errors.ts';
import { asked } from './start-failure.ts';
import { startWatches } from './watches.ts';

/** The ready line of production; without secrets. */
export interface ProductionReady {
  pid: number;
  /** `events` is absent on a process without the role `api`. */
  urls: { events?: string; admin: string };
  workers: Worker[];
  /** Which process sends what the ledger's brands need. */
  lanes: Record<LaneName, LaneState>;
  chain: { id: number };
  contracts: Facts['chain']['contracts'];
}

export interface Production {
  /** Every problem that would prevent a start, and what an operator should know beside them; changes nothing. */
  check(): Promise<{ problems: Problem[]; warnings: Problem[] }>;
  /** Throws a PreconditionError with the code of the first lasting problem. */
  start(): Promise<ProductionReady>;
  /** Takes the process out of traffic, finishes requests in progress, and returns its leases. */
  stop(): Promise<void>;
}

/** A production service that does nothing before `start`. `onReading` hears how far the reading of the chain is. */
export function createProduction(
  config: StartConfig,
  onReading: (reading: Reading) => void = () => {},
): Production {
  const lifecycle = createLifecycle();
  const traffic = { stopping: false };
  let starting: Promise<ProductionReady> | undefined;
  return {
    async check() {
      const checking = createLifecycle();
      try {
        const adapters = await pickAdapters(config, checking);
        return await checkAgain(config, () => checkAll(config, adapters, 'check'));
      } finally {
        await checking.stop();
      }
    },
    start() {
      starting ??= lifecycle.start(() => startProduction(config, lifecycle, { traffic, onReading }));
      return starting;
    },
    stop() {
      traffic.stopping = true;
      return lifecycle.stop();
    },
  };
}

async function startProduction(
  config: StartConfig,
  lifecycle: Lifecycle,
  { traffic, onReading }: { traffic: { stopping: boolean }; onReading: (reading: Reading) => void },
): Promise<ProductionReady> {
  const metrics = createMetrics();
  let watches: ReturnType<typeof startWatches> | undefined;
  let pages: LookAt | undefined;
  let isReady = false;
  let step = 'starting';
  const reading = createReadingReport({ log: config.log, stopwatch });
  const admin = await openAdmin(config, {
    metrics,
    async notReady() {
      if (traffic.stopping) return ['stopping'];
      return isReady && watches ? watches.notReady() : [reading.text() ?? step];
    },
    workers: () => watches?.lanes(),
    pages: () => pages,
  });
  lifecycle.onStop(() => admin.close(0));

  const adapters = await pickAdapters(config, lifecycle, metrics.rpc);
  metrics.watchConnections(adapters.database);
  const { problems, warnings, genesisHash } = await checkAgain(config, () =>
    checkAll(config, adapters, 'start'),
  );
  if (problems.length > 0 || !genesisHash) throw startRefused(problems);
  const warn = warningsOf(config);
  warnings.forEach(warn);
  const head = (await asked('the newest block', () => adapters.chain.block('latest')))?.number;
  const facts = await asked('the chain that it belongs to', () =>
    rememberChain(adapters.database, config, genesisHash),
  );

  // Its log has the same name; the rest tells it from one that had the same host and number before.
  const own = `${processName()} ${adapters.random.uuid().slice(0, 8)}`;
  const deps = { ...adapters, owner: own, chain: metrics.countSends(adapters.chain), facts };
  const traces = openTraces(deps, { config, metrics, lifecycle });
  const service = createService(
    {
      ...deps,
      businessTime: () => deps.database.now,
      wallets: config.workers.includes('api') ? deps.wallets : undefined,
      crash: neverCrash,
      onReading(read) {
        for (const hear of [reading.onReading, metrics.reading, onReading]) hear(read);
      },
      beforeSending() {
        step = `waiting for the next block, to check once more that the ledger is not an old copy`;
        return checkNotBehindAgain(config, adapters, { after: head, isOver: () => traffic.stopping });
      },
      observer: observing({ metrics, traces }),
    },
    productionService(config),
  );
  lifecycle.onStop(service.stop);
  await asked('the blocks that it has read', service.start);
  service.reachOthers();
  const lanes = await asked('its lanes', () => lookAtLanes(adapters, config, adapters.clock.now()));
  const { engine } = service;
  watches = startWatches({ ...deps, ...adapters.known, engine, metrics, lanes }, config);
  lifecycle.onStop(watches.stop);
  pages = operatorPages(lookedAtBy(deps, { config, service, watches }));
  const events = service.hosts && (await openEvents(config, { hosts: service.hosts, metrics }));
  if (events) lifecycle.onStop(() => events.close(config.drainTimeoutMs));
  isReady = true;
  warnOfMissing(lanes, config.log);
  warnOfStrangers(adapters, config, warn);
  return {
    pid: process.pid,
    urls: { ...(events && { events: events.url }), admin: admin.url },
    workers: config.workers,
    lanes,
    chain: { id: facts.chainId },
    contracts: facts.contracts,
  };
}

const observing = (of: { metrics: Metrics; traces: ReturnType<typeof openTraces> }): Observer => ({
  request(record) {
    of.metrics.decided(record.traces);
    of.traces?.observe(record);
  },
  withoutBodies: true,
});

const warningsOf =
  ({ log }: StartConfig) =>
  ({ code, message, fix }: Problem) =>
    log.warn({ code, fix }, message);

/** What the operator's pages show of this process. */
function lookedAtBy(
  { facts, owner: own, ...deps }: Adapters & { facts: Facts['chain']; owner: string },
  {
    config,
    service,
    watches: { compared, lanes },
  }: { config: StartConfig; service: Service; watches: Pick<OperatorDeps, 'compared' | 'lanes'> },
): OperatorDeps {
  const { addressOf } = deps.known;
  const accounts = Object.entries(config.keys).map(([name, key]): [string, Hex] => [name, addressOf(key)]);
  return {
    ...deps,
    alarms: service.engine.alarms.list,
    accounts: Object.fromEntries(accounts),
    process: {
      version: manifest.version,
      schema: String(newestMigration),
      startedMs: deps.clock.now(),
      contracts: facts.contracts,
    },
    compared,
    lanes,
    lease: { own, leaseMs: settings.lane.leaseMs },
  };
}

/** Strangers that are away do not hold up a start; a line of the log says that they are. */
function warnOfStrangers(adapters: Adapters, config: StartConfig, warn: (problem: Problem) => void): void {
  const right = { settings: true, chain: true, ledger: true };
  askReach({ ...adapters, addressOf: adapters.known.addressOf }, config, right, 'ready').then(
    ({ problems }) => problems.forEach(warn),
    () => undefined,
  );
}

/** What `rewards requests` looks up; absent without the key under which users are named in it. */
function openTraces(
  deps: Adapters,
  { config, metrics, lifecycle }: { config: StartConfig; metrics: Metrics; lifecycle: Lifecycle },
) {
  if (config.walletsXpub === undefined) return undefined;
  const traces = createRequestTraces(
    { ...deps, userHash: userHasher(config.walletsXpub), onDropped: metrics.traceDropped },
    {
      keptMs: config.tracesKeptMs,
      keep: config.tracesKeep,
      bodyLimitBytes: settings.bodyLimitBytes,
      duplicateWindowMs: config.duplicateWindowMs,
    },
  );
  lifecycle.onStop(traces.stop);
  return traces;
}

const openAdmin = (
  { adminBindAddress, adminPort }: StartConfig,
  { metrics, ...deps }: { metrics: Metrics } & Pick<AdminHostDeps, 'notReady' | 'workers' | 'pages'>,
): Promise<Listener> =>
  listen(createAdminHost({ ...deps, metrics: metrics.text }), {
    bindAddress: adminBindAddress,
    port: adminPort,
    explicit: true,
    flag: '--admin-port',
  });

const openEvents = (
  config: StartConfig,
  { hosts, metrics }: { hosts: ServiceHosts; metrics: Metrics },
): Promise<Listener> =>
  listen(
    new Hono({ getPath: tidyPath }).use(measured(metrics.request)).route('/', onOnePort(hosts, config)),
    {
      bindAddress: config.bindAddress,
      port: config.port,
      explicit: true,
      limits: { connectionsMax: config.connectionsMax, keepAliveMs: config.keepAliveMs },
    },
  );
