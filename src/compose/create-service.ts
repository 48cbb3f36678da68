/** The one place where everything meets: picks every adapter, wires the parts, starts and stops them in order. */
import { join } from 'node:path';
import { domainToken } from '../actions/brands/verify-dns.ts';
import { createChainEngine } from '../chain/engine.ts';
import { keyTree } from '../chain/lane/local-key.ts';
import type { Signer } from '../chain/lane/signer.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import type { GasKeys } from '../chain/work/relay-lanes.ts';
import { fixtureTxtResolver } from '../dns/fixture.ts';
import { systemTxtResolver } from '../dns/system.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { AnvilError } from '../emulator/chain/anvil.ts';
import { type LocalChain, type LocalChainSettings, startLocalChain } from '../emulator/chain/local-chain.ts';
import { createControl } from '../emulator/control/create-control.ts';
import { createRequestLog } from '../emulator/control/request-log.ts';
import { type Fixture, loadFixture, packagedFixture } from '../emulator/fixture/fixture.ts';
import { seedLedger } from '../emulator/fixture/seed-ledger.ts';
import { openLocalIdentity } from '../emulator/issuer/local-issuer.ts';
import { openDataDir } from '../emulator/state/data-dir.ts';
import { demoPeople, type Ready } from '../emulator/state/ready.ts';
import { keepClock, restoreClock } from '../emulator/state/restore-clock.ts';
import {
  DEV_GAS_WALLETS_PATH,
  DEV_MNEMONIC,
  DEV_WALLETS_PATH,
  devPaths,
} from '../emulator/world/dev-accounts.ts';
import { createBrandOpener } from '../emulator/world/open-brand.ts';
import { openGasWallet } from '../emulator/world/open-gas-wallet.ts';
import { openPerks } from '../emulator/world/open-perks.ts';
import { aloneInSetup, fundBrands, prepareContracts } from '../emulator/world/prepare-chain.ts';
import { type RequestSummary, requestSummary } from '../http/control/request-summary.ts';
import type { RequestRecord } from '../http/frame/request-record.ts';
import { derivedWallets } from '../identity/derived.ts';
import { listBrands } from '../ledger/brands/brands.ts';
import { ledgerChainJournal } from '../ledger/chain-journal.ts';
import type { Database } from '../ledger/database/database.ts';
import { migrate } from '../ledger/database/migrate.ts';
import { openPostgres } from '../ledger/database/postgres.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { systemClock } from '../lib/clock.ts';
import { neverCrash } from '../lib/crash-points.ts';
import { secureRandom } from '../lib/ids.ts';
import { startProblem } from '../production/start-problem.ts';
import { verificationName, verificationRecord } from '../rules/brands/dns-verification.ts';
import { engineSettings, type ServeConfig, settings } from './config.ts';
import { createHosts } from './create-hosts.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { openHosts } from './open-hosts.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

export interface Service {
  /** Starts everything; a second call gets the first one's answer. */
  start(): Promise<Ready>;
  /** Stops everything in reverse order; may be called at any time, and again. */
  stop(): Promise<void>;
  /** Tells `listener` of every request once it is answered, until the returned function is called. */
  onRequest(listener: (request: RequestSummary) => void): () => void;
}

/** An emulator as `config` describes it; nothing runs before `start`. */
export async function createService(config: ServeConfig): Promise<Service> {
  const fixture = await loadFixture(
    config.seedFiles.length > 0 ? config.seedFiles : [packagedFixture('demo')],
  );
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
        startEmulator(config, { fixture, lifecycle, tell }).catch((error: unknown) => {
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

async function startEmulator(
  config: ServeConfig,
  parts: { fixture: Fixture; lifecycle: Lifecycle; tell: (record: RequestRecord) => void },
): Promise<Ready> {
  const { fixture, lifecycle } = parts;
  const { log, host } = config;
  const dataDir = await openDataDir({ path: config.dataDir, ephemeral: config.ephemeral });
  lifecycle.onStop(() => dataDir.release());
  const database = await openLedger(config, dataDir.path);
  lifecycle.onStop(() => database.close());
  const clock = await restoreClock(config, database);
  await keepClock(database, clock);
  const random = secureRandom(clock);

  const localChain = config.rpcUrl
    ? undefined
    : await startChainSomewhere(config, {
        journal: config.ephemeral ? undefined : ledgerChainJournal(database),
        dataDir: dataDir.path,
        clock,
        host,
        port: config.rpcPort,
        blockTimeSeconds: config.blockTimeSeconds,
        log,
      });
  if (localChain) lifecycle.onStop(() => localChain.stop());
  const rpcUrl = localChain?.rpcUrl ?? config.rpcUrl ?? '';
  const rpc = createRpc({ url: rpcUrl, timeoutMs: settings.rpcTimeoutMs });
  const chain = createChainClient(rpc);

  const keys = keyTree(DEV_MNEMONIC);
  const signers = Object.fromEntries(
    Object.entries(devPaths).map(([duty, path]) => [duty, keys.signerAt(path)]),
  ) as Record<keyof typeof devPaths, Signer>;
  const gasKeys: GasKeys = (index) =>
    index === null ? signers.relay : keys.signerAt(`${DEV_GAS_WALLETS_PATH}/${index}`);
  const preparation = {
    database,
    rpc,
    chain,
    admin: signers.admin,
    accounts: {
      distributor: signers.payout.address,
      operator: signers.mint.address,
      redeemer: signers.redemption.address,
      relayers: [signers.relay.address],
    },
  };
  const gasPreparation = { ...preparation, keys: gasKeys, clock };
  const wallets = derivedWallets(keys.extendedPublicKeyAt(DEV_WALLETS_PATH));
  const realClock = systemClock();
  const { facts, seeded } = await aloneInSetup(
    { ...preparation, owner: random.uuid(), realClock },
    async () => {
      const facts = await prepareContracts(preparation);
      const seeding = { database, random, addressAt: wallets.addressAt };
      const seeded = await seedLedger(seeding, { fixture, nowMs: clock.now() });
      const deposits = fixture.brands.map(({ brand, escrow }) => ({
        brandId: brand.brandId,
        amount: escrow,
      }));
      await fundBrands(preparation, facts.contracts.pointsSale, deposits);
      const { perks } = facts.contracts;
      for (const { brandId } of deposits)
        await openGasWallet(gasPreparation, { brandId, perks, nowMs: clock.now() });
      const onSale = fixture.brands.flatMap(({ brand: { brandId }, perks: own }) =>
        own.map(({ tokenId, cost, stock }) => ({ brandId, tokenId, cost, stock })),
      );
      await openPerks(preparation, perks, onSale);
      return { facts, seeded };
    },
  );

  const engine = createChainEngine({
    database,
    chain,
    rpc,
    signers: { payout: signers.payout, relay: gasKeys },
    clock,
    realClock: systemClock(),
    random,
    log,
    crash: config.crash ?? neverCrash,
    facts,
    settings: engineSettings(config.engine),
    // Whoever has the file has the lanes: a lease of the process before, which is dead, need not run out.
    owner: database.dialect === 'sqlite' ? 'the owner of the file' : undefined,
  });
  lifecycle.onStop(() => engine.stop());
  // What the chain holds is in the ledger before the first event is judged by it.
  await engine.start();

  const ownHosts = ['127.0.0.1', 'localhost'];
  const ownDomain = `${settings.serviceName}.localhost`;
  const duplicateWindowMs = config.duplicateWindowMs ?? settings.duplicateWindowMs;
  const requests = createRequestLog<RequestRecord>();
  const identity = await openLocalIdentity(
    { database, clock, realClock: systemClock(), random, log },
    settings.identity,
  );
  const { idle, ...hosts } = createHosts({
    database,
    chain,
    rpc,
    engine,
    facts,
    wallets,
    tokens: identity.verifier,
    dns: createDns(config, database),
    clock,
    random,
    log,
    ownHosts,
    // Loopback is trusted, so that a load test can be many users with an address each.
    proxies: LOOPBACK,
    relay: config.relay,
    serviceName: settings.serviceName,
    apiPrefix: settings.apiPrefix,
    ownDomain,
    httpsOnly: false,
    // With blocks at once, a developer's next look at the chain shall show the reward.
    answerWhen: config.blockTimeSeconds === 0 ? 'included' : 'sent',
    errorDialect: config.errorDialect,
    duplicateWindowMs,
    onRequest(record) {
      requests.add(record);
      parts.tell(record);
    },
    crash: config.crash,
  });
  lifecycle.onStop(idle);
  const { control, controlToken } = createControl({
    ...{
      database,
      chain,
      rpc,
      facts,
      clock,
      random,
      log,
      requests,
      identity,
      ownHosts,
      ownDomain,
      duplicateWindowMs,
    },
    addressAt: wallets.addressAt,
    ...createBrandOpener(gasPreparation, facts.contracts),
    syncChain: async () => localChain?.syncClock(),
  });

  const urls = await openHosts(config, { ...hosts, control, issuer: identity.issuer }, lifecycle);
  identity.announce(`${new URL(urls.control).origin}/_idp`);
  return {
    pid: process.pid,
    urls: { ...urls, rpc: rpcUrl },
    chain: { id: facts.chainId },
    contracts: facts.contracts,
    ...demoPeople(fixture, seeded.addresses),
    controlToken,
    clock: new Date(clock.now()).toISOString(),
    dataDir: dataDir.path,
  };
}

/** A port that was not asked for by number gives way to any free one. */
async function startChainSomewhere(
  { rpcPortExplicit }: ServeConfig,
  chain: LocalChainSettings,
): Promise<LocalChain> {
  try {
    return await startLocalChain(chain);
  } catch (error) {
    const taken = error instanceof AnvilError && error.code === 'E_PORT_TAKEN';
    if (!taken || rpcPortExplicit) throw error;
    return startLocalChain({ ...chain, port: 0 });
  }
}

/** A Postgres ledger as it is: nothing is migrated. `onLost` hears of idle connections that were cut. */
export const openDatabase = (url: string, onLost: (error: Error) => void): Database =>
  openPostgres(url, { onError: onLost });

async function openLedger({ databaseUrl, log }: ServeConfig, dataDir: string): Promise<Database> {
  const database = databaseUrl
    ? openDatabase(databaseUrl, ({ message }) =>
        log.warn({ error: message }, 'a database connection was lost'),
      )
    : openSqlite(join(dataDir, 'ledger.sqlite'));
  await migrate(database);
  return database;
}

/** The emulator's names stand in a table: every domain of a brand has the record that links it. */
function createDns({ dns }: ServeConfig, database: Database): TxtResolver {
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
