/** The emulator: picks its adapters, sets up contracts and accounts on its chain, and builds the service. */
import { join } from 'node:path';
import type { Hono } from 'hono';
import { domainToken } from '../actions/brands/verify-dns.ts';
import { keyTree } from '../chain/lane/local-key.ts';
import type { Signer } from '../chain/lane/signer.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import type { GasKeys } from '../chain/work/relay-lanes.ts';
import { engineSettings, type Overrides, type ServeConfig, settings } from '../compose/config.ts';
import { createService, type Service, type ServiceConfig } from '../compose/create-service.ts';
import type { ServiceHosts } from '../compose/hosts/one-port.ts';
import { type HostUrls, openHosts } from '../compose/hosts/open-hosts.ts';
import { createLifecycle, type Lifecycle } from '../compose/lifecycle.ts';
import { startProblem, whereIs } from '../compose/start-problem.ts';
import type { ChatProvider } from '../constraints/chat-provider.ts';
import { fixtureTxtResolver } from '../dns/fixture.ts';
import { localAddresses, systemTxtResolver } from '../dns/system.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { type RequestSummary, requestSummary } from '../http/control/request-summary.ts';
import type { RequestRecord } from '../http/frame/request-record.ts';
import { derivedWallets } from '../identity/derived.ts';
import type { WalletTree } from '../identity/wallets.ts';
import { listBrands, listEventRules } from '../ledger/brands/brands.ts';
import { ledgerChainJournal } from '../ledger/chain-journal.ts';
import { atMs, type Database } from '../ledger/database/database.ts';
import { migrate } from '../ledger/database/migrate.ts';
import { openPostgres } from '../ledger/database/postgres.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { type AdjustableClock, type Clock, steadyClock } from '../lib/clock.ts';
import { neverCrash } from '../lib/crash-points.ts';
import { createAvailability } from '../lib/failures/availability.ts';
import { type Random, secureRandom } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import { createStripe } from '../payments/stripe.ts';
import type { EventRule } from '../rules/brands/brand.ts';
import { verificationName, verificationRecord } from '../rules/brands/dns-verification.ts';
import { AnvilError } from './chain/find-anvil.ts';
import { type KeptChain, startKeptChain } from './chain/kept-chain.ts';
import { type NodeDoor, openNodeDoor } from './chain/node-door.ts';
import { createControl } from './control/create-control.ts';
import { createRequestLog } from './control/request-log.ts';
import { loadFixture, packagedFixture } from './fixture/fixture.ts';
import { openLocalIdentity } from './issuer/local-issuer.ts';
import { type EmulatedProcessor, openProcessor } from './processor/open-processor.ts';
import { openDataDir } from './state/data-dir.ts';
import { keepLedgerMark, lostSinceMark } from './state/ledger-mark.ts';
import { demoPeople, type Ready } from './state/ready.ts';
import { refuseProductionLedger, refuseRealChain } from './state/refuse-production.ts';
import { resetData } from './state/reset-data.ts';
import { keepClock, restoreClock } from './state/restore-clock.ts';
import { DEV_GAS_WALLETS_PATH, DEV_MNEMONIC, DEV_WALLETS_PATH, devPaths } from './world/dev-accounts.ts';
import { DEV_PROCESSOR } from './world/dev-processor.ts';
import { emulatedChat } from './world/emulated-chat.ts';
import { createBrandOpener } from './world/open-brand.ts';
import { openWebhooks } from './world/open-webhooks.ts';
import { perksOnChain } from './world/perks-on-chain.ts';
import { prepareWorld, type Seed, type Seeded, type WorldDeps } from './world/prepare-world.ts';

export interface Emulator {
  /** Starts everything; a second call returns the result of the first. */
  start(): Promise<Ready>;
  /** Stops everything in reverse order; may be called at any time, and again. */
  stop(): Promise<void>;
  /** Calls `listener` with every answered request until the returned function is called. */
  onRequest(listener: (request: RequestSummary) => void): () => void;
}

/** Creates an emulator from `config`; nothing runs before `start`. */
export async function createEmulator(config: ServeConfig, overrides: Overrides = {}): Promise<Emulator> {
  const fixture = await loadFixture(seedPaths(config.seedFiles));
  const seed = { fixture, named: config.seedFiles.length > 0 };
  const lifecycle = createLifecycle();
  const listeners = new Set<(request: RequestSummary) => void>();
  const tell = (record: RequestRecord) => {
    if (listeners.size === 0) return;
    const request = requestSummary(record);
    for (const listener of listeners) listener(request);
  };
  let starting: Promise<Ready> | undefined;
  return {
    start() {
      starting ??= lifecycle.start(() =>
        startEmulator({ lifecycle, tell }, { config, overrides, seed }).catch((error: unknown) => {
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
  };
}

/** Deletes what a stopped emulator has kept in a folder; returns the paths. */
export const resetEmulator = (folder: string) => resetData({ openLedger: openSqlite }, folder);

/** Brands and users of the ready line. */
async function people({ db }: Database, seeded: Seeded) {
  const stored = await listBrands(db);
  const events = new Map<string, string[]>();
  for (const { brandId } of stored) {
    const open = (await listEventRules(db, brandId)).filter(isOpenToPages);
    events.set(
      brandId,
      open.map(({ eventType }) => eventType),
    );
  }
  return demoPeople(seeded, stored, (brandId) => events.get(brandId) ?? []);
}

/** Neither limited to channels of a chat nor paid by what an order cost. */
const isOpenToPages = ({ detail }: EventRule) =>
  !detail.detectionConfig.channels?.length && detail.dynamic?.perUsd === undefined;

/** The packaged demo where no file is named. */
const seedPaths = (named: readonly string[]) => (named.length > 0 ? named : [packagedFixture('demo')]);

const LOOPBACK = ['127.0.0.0/8', '::1'];
const SERVICE_DOMAINS = ['127.0.0.1', 'localhost'];

async function startEmulator(
  deps: { lifecycle: Lifecycle; tell: (record: RequestRecord) => void },
  { config, overrides, seed }: { config: ServeConfig; overrides: Overrides; seed: Seed },
): Promise<Ready> {
  const { lifecycle } = deps;
  const adapters = await pickAdapters(config, lifecycle);
  const { facts, seeded } = await prepareWorld(adapters, seed);
  const requests = createRequestLog<RequestRecord>(settings.requestLog);
  const ownDomain = config.ownDomain ?? `${settings.serviceName}.localhost`;
  const identity = await openLocalIdentity(adapters, { ...settings.identity, ownDomain });
  const { database, clock, signers, wallets } = adapters;

  const duplicateWindowMs = config.duplicateWindowMs ?? settings.duplicateWindowMs;
  const payments = stripeOfEmulator(clock, overrides);
  const service = createService(
    {
      ...adapters,
      facts,
      processor: payments.processor,
      // What a developer moves; the database's own clock is the machine's.
      businessTime: () => atMs(clock.now()),
      signers: {
        ...{ payout: signers.payout, mint: signers.mint, redeem: signers.redemption },
        relay: adapters.keys,
      },
      ownAccounts: Object.values(signers).map(({ address }) => address),
      tokens: identity.verifier,
      crash: overrides.crash ?? neverCrash,
      // The owner of the file owns the lanes, so the lease of a previous, dead process need not run out.
      owner: database.dialect === 'sqlite' ? 'the owner of the file' : undefined,
      observer: {
        request(record) {
          requests.add(record);
          deps.tell(record);
        },
      },
    },
    serviceConfig(config, overrides, { ownDomain, duplicateWindowMs }),
  );
  lifecycle.onStop(service.stop);
  // The ledger must have read the whole chain before it decides the first event.
  await service.start();
  const { confirmations } = engineSettings(overrides.engine).follow;
  await perksOnChain({ ...adapters, confirmations });

  let inboxUrl = '';
  const opener = createBrandOpener(adapters, facts.contracts);
  const { control, controlToken } = createControl(
    {
      ...{ ...adapters, facts, requests, identity, addressAt: wallets.addressAt },
      processor: adapters.emulatedProcessor.control,
      ...opener,
      applyFixture: fixtureApplier({ ...opener, service, adapters, confirmations, inboxUrl: () => inboxUrl }),
      nudgeWebhooks: service.nudgeWebhooks,
      ...{ nudgePerks: service.engine.redemptions.nudge, checkConstraints: service.checkConstraints },
      mints: service.engine.mints,
      seedFiles: seedPaths(config.seedFiles),
    },
    { serviceDomains: SERVICE_DOMAINS, ownDomain, duplicateWindowMs },
  );
  const urls = await openToCallers({ config, lifecycle, adapters, identity }, { ...service.hosts, control });
  inboxUrl = `${urls.control}/inbox`;
  await openWebhooks(adapters, seeded.fixture.brands, inboxUrl);
  payments.announce(new URL(urls.control).origin);
  service.reconcilePayments();
  return {
    pid: process.pid,
    urls: { ...urls, rpc: adapters.publicRpcUrl },
    chain: { id: facts.chainId },
    contracts: facts.contracts,
    ...(await people(database, seeded)),
    ...(!seeded.isFirst && seeded.changes.length > 0 && { seedChanges: seeded.changes }),
    processor: { url: new URL(urls.control).origin, ...DEV_PROCESSOR },
    controlToken,
    clock: new Date(clock.now()).toISOString(),
    dataDir: adapters.dataDir,
  };
}

/** Applies a fixture while the service runs; resolves when the chain and the endpoints of webhooks follow it. */
const fixtureApplier =
  (deps: {
    applyFixture: ReturnType<typeof createBrandOpener>['applyFixture'];
    service: Pick<Service, 'engine'>;
    adapters: Adapters;
    confirmations: number;
    inboxUrl: () => string;
  }): ReturnType<typeof createBrandOpener>['applyFixture'] =>
  async (fixture) => {
    const changes = await deps.applyFixture(fixture);
    await openWebhooks(deps.adapters, fixture.brands, deps.inboxUrl());
    deps.service.engine.redemptions.nudge();
    await perksOnChain({ ...deps.adapters, confirmations: deps.confirmations });
    return changes;
  };

/** How the service runs in an emulator. */
const serviceConfig = (
  config: ServeConfig,
  overrides: Overrides,
  of: { ownDomain: string; duplicateWindowMs: number },
): ServiceConfig => ({
  // A shop under development is on this machine.
  loopbackReturns: true,
  serviceDomains: SERVICE_DOMAINS,
  // Loopback is trusted, so that a load test can play many users, each with an address.
  proxies: LOOPBACK,
  addressRequestsMax: config.addressRequestsMax ?? 0,
  // A developer who has just sent a transaction must see what it did.
  balanceKeptMs: 0,
  relay: overrides.relay,
  engine: engineSettings(overrides.engine),
  serviceName: settings.serviceName,
  apiPrefix: settings.apiPrefix,
  httpsOnly: false,
  // With instant blocks, a developer who looks at the chain after the answer must find the reward.
  answerWhen: config.blockTimeSeconds === 0 ? 'included' : 'sent',
  errorDialect: config.errorDialect,
  ...of,
});

/** Stripe's package, which asks the emulated processor once it is announced where that is. */
function stripeOfEmulator(clock: Clock, { processorAt = (origin) => origin }: Overrides) {
  let at: URL | undefined;
  const { secretKey, webhookSecret } = DEV_PROCESSOR;
  const address = () => {
    if (!at) throw new Error('the emulated processor is not open yet');
    return { host: at.hostname, port: Number(at.port), protocol: 'http' as const };
  };
  const keys = { secretKey, webhookSecrets: [webhookSecret], livemode: false };
  return {
    processor: createStripe({ clock }, { ...settings.payments, ...keys, address }),
    announce(origin: string) {
      at = new URL(processorAt(origin));
    },
  };
}

/** Opens the hosts. Identity provider and processor learn where they are; the processor begins to work. */
async function openToCallers(
  deps: {
    config: ServeConfig;
    lifecycle: Lifecycle;
    adapters: Pick<Adapters, 'emulatedProcessor'>;
    identity: Awaited<ReturnType<typeof openLocalIdentity>>;
  },
  hosts: ServiceHosts & { control: Hono },
): Promise<HostUrls> {
  const { identity, adapters } = deps;
  const processor = adapters.emulatedProcessor;
  const urls = await openHosts(deps.config, { ...hosts, issuer: identity.issuer, processor }, deps.lifecycle);
  const { origin } = new URL(urls.control);
  identity.announce(`${origin}/_idp`);
  await processor.start({ origin, eventsTo: `${urls.events}${settings.apiPrefix}/payment-mint` });
  return urls;
}

/** The adapter of each port in the emulator. */
interface Adapters extends WorldDeps {
  emulatedProcessor: EmulatedProcessor;
  dataDir: string;
  clock: AdjustableClock;
  random: Random;
  log: Log;
  /** The node's address for everybody else. */
  publicRpcUrl: string;
  /** Makes the chain's time follow a move of the service's clock. */
  syncChain: () => Promise<void>;
  signers: Record<keyof typeof devPaths, Signer>;
  wallets: WalletTree;
  dns: TxtResolver;
  outgoing: AskDeps;
  chat: ChatProvider;
}

async function pickAdapters(config: ServeConfig, lifecycle: Lifecycle): Promise<Adapters> {
  const dataDir = await openDataDir({ path: config.dataDir, ephemeral: config.ephemeral });
  lifecycle.onStop(() => dataDir.release());
  const database = openLedger(config, dataDir.path);
  lifecycle.onStop(() => database.close());
  await refuseProduction(config, database, dataDir.path);
  await migrate(database);
  if (!config.ephemeral && config.databaseUrl === undefined)
    await watchForLoss({ database, lifecycle, log: config.log }, dataDir.path);
  const clock = await restoreClock(config, database);
  await keepClock(database, clock);
  const local = await startOwnChain({ database, clock, lifecycle }, config, dataDir.path);
  const rpcUrl = config.rpcUrl ?? '';
  const rpc = local?.rpc ?? createRpc({ url: rpcUrl, ...settings.rpc });
  const random = secureRandom(clock);
  const emulatedProcessor = openProcessor({
    ...{ database, clock, random, log: config.log },
    settings: settings.processorDelivery,
    secrets: DEV_PROCESSOR,
  });
  lifecycle.onStop(() => emulatedProcessor.stop());
  return {
    ...{ dataDir: dataDir.path, database, clock, rpc, random, emulatedProcessor, log: config.log },
    publicRpcUrl: local?.publicUrl ?? rpcUrl,
    chain: createChainClient(rpc),
    realClock: steadyClock(),
    syncChain: async () => local?.syncClock(),
    dns: pickDns(config, database),
    // A brand's server runs on the developer's own machine.
    outgoing: { reach: { to: 'any' }, addressesOf: localAddresses },
    chat: emulatedChat({ database }),
    ...developmentKeys(),
  };
}

type DevelopmentKeys = ReturnType<typeof deriveDevelopmentKeys>;
let derived: DevelopmentKeys | undefined;

/** They never change: a process that starts several stacks derives them once. */
function developmentKeys(): DevelopmentKeys {
  derived ??= deriveDevelopmentKeys();
  return derived;
}

/** The accounts of the development mnemonic, each with its duty; for users' wallets, only addresses. */
function deriveDevelopmentKeys() {
  const tree = keyTree(DEV_MNEMONIC);
  const signers = Object.fromEntries(
    Object.entries(devPaths).map(([duty, path]) => [duty, tree.signerAt(path)]),
  ) as Record<keyof typeof devPaths, Signer>;
  const keys: GasKeys = (index) =>
    index === null ? signers.relay : tree.signerAt(`${DEV_GAS_WALLETS_PATH}/${index}`);
  return {
    signers,
    keys,
    wallets: derivedWallets(tree.extendedPublicKeyAt(DEV_WALLETS_PATH)),
    admin: signers.admin,
    accounts: {
      distributor: signers.payout.address,
      operator: signers.mint.address,
      redeemer: signers.redemption.address,
      relayers: [signers.relay.address],
    },
  };
}

/** Undefined when the user gave a development node. `publicUrl` is for everybody but this process. */
async function startOwnChain(
  deps: { database: Database; clock: AdjustableClock; lifecycle: Lifecycle },
  config: ServeConfig,
  dataDir: string,
): Promise<(KeptChain & { publicUrl: string }) | undefined> {
  if (config.rpcUrl) return undefined;
  const { bindAddress, blockTimeSeconds, log } = config;
  const local = await startKeptChain({
    rpc: settings.rpc,
    journal: config.ephemeral ? undefined : ledgerChainJournal(deps.database),
    ...{ dataDir, clock: deps.clock, bindAddress, blockTimeSeconds, log },
    port: 0,
  });
  deps.lifecycle.onStop(() => local.stop());
  const door = await openDoorSomewhere(config, local);
  deps.lifecycle.onStop(() => door.close());
  return { ...local, publicUrl: door.url };
}

/** A default port that is taken is replaced by any free port. */
async function openDoorSomewhere(
  { bindAddress, rpcPort, rpcPortExplicit }: ServeConfig,
  { port }: KeptChain,
): Promise<NodeDoor> {
  const node = { port, bindAddress };
  try {
    return await openNodeDoor(node, { port: rpcPort });
  } catch (error) {
    const taken = error instanceof AnvilError && error.code === 'E_PORT_TAKEN';
    if (!taken || rpcPortExplicit) throw error;
    return openNodeDoor(node, { port: 0 });
  }
}

/** Asked before the first write. */
async function refuseProduction(
  { databaseUrl, rpcUrl }: ServeConfig,
  database: Database,
  dataDir: string,
): Promise<void> {
  await refuseProductionLedger(database, databaseUrl ? whereIs(databaseUrl) : dataDir);
  if (!rpcUrl) return;
  const rpc = createRpc({ url: rpcUrl, ...settings.rpc });
  await refuseRealChain(createChainClient(rpc), rpcUrl);
}

/** Says what the ledger has lost since the last run, and keeps the mark that shows it. */
async function watchForLoss(
  deps: { database: Database; lifecycle: Lifecycle; log: Log },
  dataDir: string,
): Promise<void> {
  const lost = await lostSinceMark(deps.database, dataDir);
  if (lost) {
    deps.log.warn(
      { ...lost },
      `the ledger has lost its last commits: ${lost.rewards} rewards and ${lost.blocks} blocks are gone. A file of ${dataDir} was deleted or replaced, such as ledger.sqlite-wal; bring it back while the stack is stopped, or go on without them`,
    );
  }
  deps.lifecycle.onStop(keepLedgerMark(deps, dataDir));
}

function openLedger({ databaseUrl, log }: ServeConfig, dataDir: string): Database {
  const availability = createAvailability({ what: 'the database', log });
  return databaseUrl
    ? openPostgres(databaseUrl, { availability })
    : openSqlite(join(dataDir, 'ledger.sqlite'));
}

/** The emulator answers DNS from a table, in which every domain of a brand has the record that links it. */
function pickDns({ dns }: ServeConfig, database: Database): TxtResolver {
  if (dns) return systemTxtResolver(dns === 'system' ? {} : dns);
  return fixtureTxtResolver(async (name) => {
    const brands = await listBrands(database.db);
    return brands.flatMap(({ brandId, profile, verificationSecret }) =>
      profile.domains
        .filter((domain) => verificationName(settings.serviceName, domain) === name)
        .map((domain) => verificationRecord({ brandId, token: domainToken(verificationSecret, domain) })),
    );
  });
}
