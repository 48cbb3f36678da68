/** Production: picks the adapters of a real service, runs the checks, and builds the same service as the emulator. */
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { Hono } from 'hono';
import type { ChainEngineDeps } from '../chain/engine.ts';
import { createReadingReport } from '../chain/indexer/reading-progress.ts';
import { keysDerivedFrom, keyTree, localKeySigner } from '../chain/lane/local-key.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import { createRpcPool } from '../chain/rpc/rpc-pool.ts';
import { settings } from '../compose/config.ts';
import { createService } from '../compose/create-service.ts';
import { onOnePort, type ServiceHosts } from '../compose/hosts/one-port.ts';
import { createLifecycle, type Lifecycle } from '../compose/lifecycle.ts';
import { type Listener, listen } from '../compose/listen.ts';
import { systemAddresses, systemTxtResolver } from '../dns/system.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { type AdminHostDeps, createAdminHost } from '../http/admin.ts';
import { tidyPath } from '../http/frame/host-frame.ts';
import { measured } from '../http/frame/measured.ts';
import { walletsDerivedAhead } from '../identity/derive-ahead.ts';
import { derivedWallets, levelOf } from '../identity/derived.ts';
import { providerTokens } from '../identity/provider.ts';
import type { TokenVerifier } from '../identity/tokens.ts';
import type { Database, Pooler } from '../ledger/database/database.ts';
import { openDataDir } from '../ledger/database/file-lock.ts';
import { openPostgres } from '../ledger/database/postgres.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import type { Facts } from '../ledger/facts.ts';
import { type Clock, steadyClock, systemClock } from '../lib/clock.ts';
import { neverCrash } from '../lib/crash-points.ts';
import { DEV_MNEMONIC, DEV_WALLETS_PATH } from '../lib/development.ts';
import { createAvailability } from '../lib/failures/availability.ts';
import { type Random, secureRandom } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { stopwatch } from '../lib/timers.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import { createStripe } from '../payments/stripe.ts';
import { type CheckedParts, checkAgain, checkAll, checkNotBehindAgain } from './all-checks.ts';
import { type KnownKeys, startRefused } from './checks.ts';
import { type LaneName, type LaneState, lookAtLanes, warnOfMissing } from './lanes-known.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { askReach } from './reach.ts';
import { rememberChain } from './remember-chain.ts';
import { createRequestTraces } from './requests/request-traces.ts';
import { userHasher } from './requests/user-hash.ts';
import { settingsProblem } from './secrets.ts';
import { productionPayments, productionService, productionTokens } from './service-config.ts';
import type { StartConfig, Worker } from './start-config.ts';
import type { Problem } from './start-errors.ts';
import { asked } from './start-failure.ts';
import { fault } from './start-setting.ts';
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

const MB = 1024 * 1024;

/** A production service that does nothing before `start`. */
export function createProduction(config: StartConfig): Production {
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
      starting ??= lifecycle.start(() => startProduction(config, lifecycle, traffic));
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
  traffic: { stopping: boolean },
): Promise<ProductionReady> {
  const metrics = createMetrics();
  let watches: ReturnType<typeof startWatches> | undefined;
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
  });
  lifecycle.onStop(() => admin.close(0));

  const adapters = await pickAdapters(config, lifecycle, metrics.rpc);
  metrics.watchConnections(adapters.database);
  const { problems, warnings, genesisHash } = await checkAgain(config, () =>
    checkAll(config, adapters, 'start'),
  );
  if (problems.length > 0 || !genesisHash) throw startRefused(problems);
  const warn = ({ code, message, fix }: Problem) => config.log.warn({ code, fix }, message);
  warnings.forEach(warn);
  const head = (await asked('the newest block', () => adapters.chain.block('latest')))?.number;
  const facts = await asked('the chain that it belongs to', () =>
    rememberChain(adapters.database, config, genesisHash),
  );

  const deps = { ...adapters, chain: metrics.countSends(adapters.chain), facts };
  const traces = openTraces(deps, { config, metrics, lifecycle });
  const service = createService(
    {
      ...deps,
      businessTime: () => deps.database.now,
      wallets: config.workers.includes('api') ? deps.wallets : undefined,
      crash: neverCrash,
      onReading(read) {
        reading.onReading(read);
        metrics.reading(read);
      },
      beforeSending() {
        step = `waiting for the next block, to check once more that the ledger is not an old copy`;
        return checkNotBehindAgain(config, adapters, { after: head, isOver: () => traffic.stopping });
      },
      observer: {
        request(record) {
          metrics.decided(record.traces);
          traces?.observe(record);
        },
        withoutBodies: true,
      },
    },
    productionService(config),
  );
  lifecycle.onStop(service.stop);
  await asked('the blocks that it has read', service.start);
  service.reachOthers();
  const lanes = await asked('its lanes', () => lookAtLanes(adapters, config, adapters.clock.now()));
  const { addressOf } = adapters.known;
  watches = startWatches({ ...deps, addressOf, engine: service.engine, metrics, lanes }, config);
  lifecycle.onStop(watches.stop);
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
  { metrics, notReady, workers }: { metrics: Metrics } & Pick<AdminHostDeps, 'notReady' | 'workers'>,
): Promise<Listener> =>
  listen(createAdminHost({ notReady, workers, metrics: metrics.text }), {
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

/** The adapter of each port in production. */
interface Adapters extends CheckedParts {
  /** Absent in a process that leaves chain work to others. */
  signers: ChainEngineDeps['signers'] | undefined;
  tokens: TokenVerifier | undefined;
  dns: TxtResolver;
  outgoing: AskDeps;
  /** Time that no correction of the machine's clock moves. */
  realClock: Clock;
  random: Random;
  log: Log;
}

function openWallets(extendedPublicKey: string, { log, lifecycle }: { log: Log; lifecycle: Lifecycle }) {
  const wallets = walletsDerivedAhead(levelIn(extendedPublicKey), { log });
  lifecycle.onStop(wallets.stop);
  return wallets;
}

/** Throws E_SETTINGS for a key that looks right and is mistyped. */
function levelIn(extendedPublicKey: string) {
  try {
    return levelOf(extendedPublicKey);
  } catch {
    const message = 'REWARDS_WALLETS_XPUB is not an extended public key: a character of it is wrong';
    throw settingsProblem([fault(message, 'copy it again, whole, from where `rewards keys new` wrote it')]);
  }
}

async function pickAdapters(
  config: StartConfig,
  lifecycle: Lifecycle,
  onRpc?: Metrics['rpc'],
): Promise<Adapters> {
  const { log } = config;
  const { database, release } = await openLedgerAt(config.databaseUrl, log, config.databasePooler);
  lifecycle.onStop(release);
  lifecycle.onStop(() => database.close());
  const clock = systemClock();
  const realClock = steadyClock();
  const answerMaxBytes = config.rpcAnswerMaxMb * MB;
  const nodes = config.rpcUrls.map((url) => createRpc({ url, ...settings.rpc, answerMaxBytes }));
  const rpc = createRpcPool({
    nodes,
    chainId: config.chainId,
    log,
    nowMs: realClock.now,
    restMs: config.checkEveryMs,
    ...(onRpc && { onRequest: onRpc }),
  });
  const tokens = productionTokens(config);
  const payments = productionPayments(config);
  return {
    database,
    nodes,
    rpc,
    clock,
    log,
    known: knownKeys(),
    chain: createChainClient(rpc),
    signers: pickSigners(config),
    wallets:
      config.walletsXpub === undefined ? undefined : openWallets(config.walletsXpub, { log, lifecycle }),
    tokens: tokens && providerTokens({ db: database.db, clock, realClock, log }, tokens),
    processor: payments && createStripe({ clock }, payments),
    dns: systemTxtResolver(),
    outgoing: {
      reach: {
        to: 'public',
        ports: config.outgoingPorts.map(Number),
        networks: config.outgoingNetworks,
      },
      addressesOf: systemAddresses(),
    },
    realClock,
    random: secureRandom(clock),
  };
}

function pickSigners({
  workers,
  log,
  keys: { payout, mint, redemption, relay },
}: StartConfig): Adapters['signers'] {
  if (!workers.includes('outbox') || !payout) return undefined;
  if (!mint)
    log.info(
      { setting: 'REWARDS_MINT_KEY_FILE' },
      'this process has no key to mint with: payments and mints by hand wait for one that has',
    );
  if (!redemption)
    log.info(
      { setting: 'REWARDS_REDEMPTION_KEY_FILE' },
      'this process has no key to redeem with: redemptions of perks wait for one that has',
    );
  return {
    payout: localKeySigner(payout),
    mint: mint && localKeySigner(mint),
    redeem: redemption && localKeySigner(redemption),
    relay: relay && keysDerivedFrom(relay),
  };
}

/** Users' wallets below an extended public key, for a command. */
export const walletsBelow = derivedWallets;

/** Rejects when the SQLite module cannot be loaded. */
export const trySqlite = (): Promise<void> => openSqlite(':memory:').close();

/**
 * A database of Postgres, or `sqlite:FILE`; `release` after closing it. Commands that only look in use it as if behind a
 * pooler that shares connections, which is right whatever stands in between.
 */
export async function openLedgerAt(
  url: string,
  log: Log,
  pooler: Pooler = 'transaction',
): Promise<{ database: Database; release: () => Promise<void> }> {
  if (!url.startsWith('sqlite:')) {
    const availability = createAvailability({ what: 'the database', log });
    return {
      database: openPostgres(url, { availability, watchNesting: false, pooler }),
      release: async () => {},
    };
  }
  const path = resolve(url.slice('sqlite:'.length));
  // The lock beside the file keeps other processes out while this one lives.
  const folder = await openDataDir({ path: dirname(path), ephemeral: false });
  return { database: openSqlite(path, { watchNesting: false }), release: () => folder.release() };
}

/** Mnemonics that tools and documentation print; thieves watch their accounts. */
const KNOWN_MNEMONICS = [
  DEV_MNEMONIC,
  'candy maple cake sugar pudding cream honey rich smooth crumble sweet treat',
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
];
const KNOWN_ACCOUNTS = 10;

function knownKeys(): KnownKeys {
  const addressOf = (key: `0x${string}`) => localKeySigner(key).address;
  const numbers = Array.from({ length: KNOWN_ACCOUNTS }, (_, index) => index);
  const trees = KNOWN_MNEMONICS.flatMap((mnemonic) => {
    const { extendedPublicKeyAt } = keyTree(mnemonic);
    const accounts = derivedWallets(extendedPublicKeyAt("m/44'/60'/0'/0"));
    const users = derivedWallets(extendedPublicKeyAt(DEV_WALLETS_PATH));
    return [...numbers.map(accounts.addressAt), users.addressAt(0)];
  });
  const small = numbers.map((index) => addressOf(`0x${(index + 1).toString(16).padStart(64, '0')}`));
  const known = new Set([...trees, ...small].map((address) => address.toLowerCase()));
  return { addressOf, isKnownAccount: (address) => known.has(address.toLowerCase()) };
}

/** Name of this process among its replicas, for its log. */
export const processName = () => `${hostname()}:${process.pid}`;
