/** Production from its parts: the same hosts and actions as the emulator, with the adapters of a real service. */
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { Hono } from 'hono';
import { createChainHistory } from '../audit/chain-history.ts';
import { createChainEngine, createWatchingEngine } from '../chain/engine.ts';
import { keysGrownFrom, keyTree, localKeySigner } from '../chain/lane/local-key.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc, type Rpc } from '../chain/rpc/rpc.ts';
import { createRpcPool } from '../chain/rpc/rpc-pool.ts';
import { settings } from '../compose/config.ts';
import { createHosts } from '../compose/create-hosts.ts';
import { createLifecycle } from '../compose/lifecycle.ts';
import { listen } from '../compose/listen.ts';
import { onOnePort } from '../compose/one-port.ts';
import { systemTxtResolver } from '../dns/system.ts';
import { openDataDir } from '../emulator/state/data-dir.ts';
import { DEV_MNEMONIC, DEV_WALLETS_PATH } from '../emulator/world/dev-accounts.ts';
import { createAdminHost } from '../http/admin.ts';
import { measured } from '../http/frame/measured.ts';
import { derivedWallets } from '../identity/derived.ts';
import { providerTokens } from '../identity/provider.ts';
import type { WalletTree } from '../identity/wallets.ts';
import type { Database } from '../ledger/database/database.ts';
import { openPostgres } from '../ledger/database/postgres.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { type Facts, readFact, writeFact } from '../ledger/facts.ts';
import { systemClock } from '../lib/clock.ts';
import { neverCrash } from '../lib/crash-points.ts';
import { secureRandom } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import {
  checkAccounts,
  checkChain,
  checkDatabase,
  checkSequences,
  checkSettings,
  type KnownKeys,
  type Problem,
  startRefused,
} from './checks.ts';
import { createMetrics } from './metrics.ts';
import { productionEngine, productionRelay, productionTokens } from './service-config.ts';
import type { StartConfig, Worker } from './start-config.ts';
import { startWatches } from './watches.ts';

/** What production says when it is ready: nothing secret. */
export interface ProductionReady {
  pid: number;
  /** `events` is absent on a process without the role `api`. */
  urls: { events?: string; admin: string };
  workers: Worker[];
  chain: { id: number };
  contracts: Facts['chain']['contracts'];
}

export interface Production {
  /** Every problem that would keep it from starting; changes nothing. */
  check(): Promise<Problem[]>;
  /** Throws a PreconditionError with the code of the first lasting problem. */
  start(): Promise<ProductionReady>;
  /** Takes itself out of traffic, finishes what is under way, gives its leases back. */
  stop(): Promise<void>;
}

type Lifecycle = ReturnType<typeof createLifecycle>;

/** A node that failed is left alone for so long. */
const NODE_RESTS_MS = 10_000;

/** Nothing runs before `start`. */
export function createProduction(config: StartConfig): Production {
  const lifecycle = createLifecycle();
  const traffic = { stopping: false };
  let starting: Promise<ProductionReady> | undefined;
  return {
    async check() {
      const checking = createLifecycle();
      try {
        return (await checkAll(config, await openParts(config, checking))).problems;
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
  const { log } = config;
  const isWorking = (worker: Worker) => config.workers.includes(worker);
  const metrics = createMetrics();
  let dependencies: (() => Promise<string[]>) | undefined;
  const admin = await listen(
    createAdminHost({
      async notReady() {
        if (traffic.stopping) return ['stopping'];
        return dependencies ? dependencies() : ['starting'];
      },
      metrics: metrics.text,
    }),
    { host: config.adminHost, port: config.adminPort, explicit: true },
  );
  lifecycle.onStop(() => admin.close(0));

  const parts = await openParts(config, lifecycle, metrics.rpc);
  const { database, rpc, wallets } = parts;
  const { problems, genesisHash } = await checkAll(config, parts);
  if (problems.length > 0 || !genesisHash) throw startRefused(problems);
  const facts = await rememberChain(database, config, genesisHash);

  const clock = systemClock();
  const random = secureRandom(clock);
  const chain = metrics.countSends(createChainClient(rpc));
  const engineDeps = {
    database,
    chain,
    rpc,
    clock,
    realClock: clock,
    random,
    log,
    crash: neverCrash,
    facts,
    settings: productionEngine(config),
  };
  const { payout, relay } = config.keys;
  const signers = payout && { payout: localKeySigner(payout), relay: relay && keysGrownFrom(relay) };
  const engine =
    isWorking('outbox') && signers
      ? createChainEngine({ ...engineDeps, signers })
      : createWatchingEngine(engineDeps);
  lifecycle.onStop(() => engine.stop());
  await engine.start();

  const watches = startWatches({ ...engineDeps, engine, metrics, rpc }, config);
  lifecycle.onStop(() => watches.stop());
  let eventsUrl: string | undefined;
  if (isWorking('api') && wallets) {
    const tokens = productionTokens(config);
    const { idle, ...hosts } = createHosts({
      ...{ database, chain, rpc, engine, facts, wallets, clock, random, log },
      tokens: tokens && providerTokens({ ...engineDeps, db: database.db }, tokens),
      relay: productionRelay(config),
      dns: systemTxtResolver(),
      ownHosts: config.publicHosts,
      proxies: config.trustedProxies,
      serviceName: config.serviceName,
      apiPrefix: config.apiPrefix,
      ownDomain: config.ownDomain,
      httpsOnly: true,
      answerWhen: 'sent',
      errorDialect: config.errorDialect,
      duplicateWindowMs: config.duplicateWindowMs,
      onDecision: metrics.decision,
      onRelay: metrics.relay,
    });
    lifecycle.onStop(idle);
    const app = new Hono().use(measured(metrics.request)).route('/', onOnePort(hosts, config));
    const listener = await listen(app, { host: config.host, port: config.port, explicit: true });
    lifecycle.onStop(() => listener.close(config.drainTimeoutMs));
    eventsUrl = listener.url;
  }
  dependencies = watches.unreachable;
  return {
    pid: process.pid,
    urls: { ...(eventsUrl && { events: eventsUrl }), admin: admin.url },
    workers: config.workers,
    chain: { id: facts.chainId },
    contracts: facts.contracts,
  };
}

interface Parts {
  database: Database;
  /** Each node by itself, for the checks. */
  nodes: readonly Rpc[];
  rpc: Rpc;
  wallets: WalletTree | undefined;
}

async function openParts(
  config: StartConfig,
  lifecycle: Lifecycle,
  onRpc?: ReturnType<typeof createMetrics>['rpc'],
): Promise<Parts> {
  const { log } = config;
  const { database, release } = await openLedgerAt(config.databaseUrl, log);
  lifecycle.onStop(release);
  lifecycle.onStop(() => database.close());
  const nodes = config.rpcUrls.map((url) => createRpc({ url, timeoutMs: settings.rpcTimeoutMs }));
  const rpc = createRpcPool({
    nodes,
    chainId: config.chainId,
    log,
    nowMs: systemClock().now,
    restMs: NODE_RESTS_MS,
    ...(onRpc && { onOutcome: onRpc }),
  });
  const wallets = config.walletsXpub === undefined ? undefined : derivedWallets(config.walletsXpub);
  return { database, nodes, rpc, wallets };
}

/** A database of Postgres, or `sqlite:FILE`; `release` after closing it. */
export async function openLedgerAt(
  url: string,
  log: Log,
): Promise<{ database: Database; release: () => Promise<void> }> {
  if (!url.startsWith('sqlite:')) {
    const onError = ({ message }: Error) => log.warn({ error: message }, 'a database connection was lost');
    return { database: openPostgres(url, { onError }), release: async () => {} };
  }
  const path = resolve(url.slice('sqlite:'.length));
  // One process only: the lock beside the file holds for as long as this one lives.
  const folder = await openDataDir({ path: dirname(path), ephemeral: false });
  return { database: openSqlite(path), release: () => folder.release() };
}

async function checkAll(
  config: StartConfig,
  { database, nodes, rpc, wallets }: Parts,
): Promise<{ problems: Problem[]; genesisHash?: `0x${string}` }> {
  const known = knownKeys();
  const ledger = await checkDatabase(database, wallets);
  const seen = await checkChain(
    config,
    nodes.map((node) => ({ rpc: node, chain: createChainClient(node) })),
    ledger.facts,
  );
  const problems = [...checkSettings(config, known, wallets), ...ledger.problems, ...seen.problems];
  // Roles and payments mean something only on the right contracts of the right chain.
  if (seen.problems.length === 0) {
    problems.push(...(await checkAccounts({ rpc, addressOf: known.addressOf }, config)));
    if (ledger.problems.length === 0) {
      const history = createChainHistory({ rpc, contracts: config.contracts });
      problems.push(...(await checkSequences(history, { database, chain: createChainClient(rpc) })));
    }
  }
  return { problems, ...(seen.genesisHash && { genesisHash: seen.genesisHash }) };
}

/** Mnemonics that tools and documentation print: whoever watches a chain watches their accounts. */
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
    const { signerAt } = keyTree(mnemonic);
    const paths = [...numbers.map((index) => `m/44'/60'/0'/0/${index}`), `${DEV_WALLETS_PATH}/0`];
    return paths.map((path) => signerAt(path).address);
  });
  const small = numbers.map((index) => addressOf(`0x${(index + 1).toString(16).padStart(64, '0')}`));
  const known = new Set([...trees, ...small].map((address) => address.toLowerCase()));
  return { addressOf, isKnownAccount: (address) => known.has(address.toLowerCase()) };
}

/** The first start writes down which chain the ledger belongs to; of several at once, one. */
async function rememberChain(
  database: Database,
  config: StartConfig,
  genesisHash: `0x${string}`,
): Promise<Facts['chain']> {
  const { chainId, deploymentBlock, contracts } = config;
  return database.atomically(async (tx) => {
    const known = await readFact(tx, 'chain');
    if (known) return known;
    const facts = { chainId, genesisHash, deploymentBlock, contracts };
    await writeFact(tx, 'chain', facts);
    return facts;
  });
}

/** Name of this process among its replicas, for its log. */
export const processName = () => `${hostname()}:${process.pid}`;
