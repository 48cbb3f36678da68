/** The adapters of the emulator: its database, clock, chain and keys, and what else stands in for the world outside. */
import { join } from 'node:path';
import { domainToken } from '../actions/brands/verify-dns.ts';
import { keyTree } from '../chain/lane/local-key.ts';
import type { Signer } from '../chain/lane/types.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import type { GasKeys } from '../chain/work/relay-lanes.ts';
import { settings } from '../compose/config.ts';
import type { Lifecycle } from '../compose/lifecycle.ts';
import { whereIs } from '../compose/start-problem.ts';
import type { ChatProvider } from '../constraints/chat-provider.ts';
import { fixtureTxtResolver } from '../dns/fixture.ts';
import { localAddresses, systemTxtResolver } from '../dns/system.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { walletsDerivedAhead } from '../identity/derive-ahead.ts';
import { levelOf } from '../identity/derived.ts';
import type { WalletTree } from '../identity/wallets.ts';
import { listBrands } from '../ledger/brands/brands.ts';
import type { Database } from '../ledger/database/database.ts';
import { migrate } from '../ledger/database/migrate.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { ledgerChainJournal } from '../ledger/emulator/chain-journal.ts';
import { emulatedStandings } from '../ledger/emulator/chat.ts';
import { emulatorMigrations } from '../ledger/emulator/migrations.ts';
import { type AdjustableClock, adjustableClock, type ClockStart, steadyClock } from '../lib/clock.ts';
import {
  DEV_GAS_WALLETS_PATH,
  DEV_MNEMONIC,
  DEV_PROCESSOR,
  DEV_WALLETS_PATH,
  devPaths,
} from '../lib/development.ts';
import { createAvailability } from '../lib/failures/availability.ts';
import { type Random, secureRandom } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import { verificationName, verificationRecord } from '../rules/brands/domain.ts';
import { type SupervisedAnvil, startSupervisedAnvil } from './chain/supervised-anvil.ts';
import { jumpClock, keepClock, restoreClock } from './clock/stack-clock.ts';
import { createFaultRegistry, type FaultRegistry, logFaults } from './faults/fault-registry.ts';
import { emulatorLimits } from './limits.ts';
import type { PrestartedNode } from './prestarted-node.ts';
import { type EmulatedProcessor, openProcessor } from './processor/open-processor.ts';
import type { ServeConfig } from './serve-config.ts';
import type { StackDeps } from './stack/prepare-stack.ts';
import { LEDGER } from './state/data-files.ts';
import { type CommitMark, keepLedgerMark, lostSinceMark, openCommitMark } from './state/ledger-mark.ts';
import { refuseProductionLedger, refuseRealChain } from './state/refuse-production.ts';

/** The adapter of each port in the emulator. */
export interface Adapters extends StackDeps {
  emulatedProcessor: EmulatedProcessor;
  dataDir: string;
  clock: AdjustableClock;
  random: Random;
  log: Log;
  /** The emulator's own node; undefined for one of the developer's. */
  node: SupervisedAnvil | undefined;
  /** Makes the chain's time follow a move of the service's clock. */
  syncChain: () => Promise<void>;
  signers: Record<keyof typeof devPaths, Signer>;
  wallets: WalletTree;
  dns: TxtResolver;
  outgoing: AskDeps;
  chat: ChatProvider;
  faults: FaultRegistry;
}

interface Place {
  dataDir: string;
  /** A node that runs already, for a folder without a chain. */
  prestartedNode?: PrestartedNode | undefined;
}

/** Opens each of them on the files of `dataDir`; `lifecycle` closes them. */
export async function pickAdapters(
  config: ServeConfig,
  {
    dataDir,
    clockStart,
    prestartedNode,
    watchNesting = false,
  }: Place & { clockStart?: ClockStart | undefined; watchNesting?: boolean | undefined },
  lifecycle: Lifecycle,
): Promise<Adapters> {
  const isKept = !config.ephemeral && config.databaseUrl === undefined;
  const commits = isKept ? openCommitMark(dataDir) : undefined;
  if (commits) lifecycle.onStop(async () => commits.close());
  const database = await openLedger(config, { dataDir, watchNesting, counted: commits });
  lifecycle.onStop(() => database.close());
  await refuseProduction(config, database, dataDir);
  await migrate(database);
  await migrate(database, emulatorMigrations);
  if (commits) await watchForLoss({ database, lifecycle, log: config.log, commits }, dataDir);
  const clock = clockStart ? adjustableClock(clockStart) : await restoreClock(config, database);
  await keepClock(database, clock);
  const local = await startOwnChain({ database, clock, lifecycle }, config, { dataDir, prestartedNode });
  const rpcUrl = config.rpcUrl ?? '';
  const rpc = local?.rpc ?? createRpc({ url: rpcUrl, ...settings.rpc });
  const random = secureRandom(clock);
  const syncChain = async () => local?.syncClock();
  const faults = createFaultRegistry(
    { clock, listeners: [jumpClock({ clock, follow: () => void syncChain() }), logFaults(config.log)] },
    emulatorLimits.faults,
  );
  const emulatedProcessor = openProcessor({
    database,
    clock,
    random,
    faults,
    log: config.log,
    settings: emulatorLimits.processorDelivery,
    secrets: DEV_PROCESSOR,
  });
  lifecycle.onStop(() => emulatedProcessor.stop());
  const { walletsLevel, ...keys } = developmentKeys();
  const wallets = walletsDerivedAhead(walletsLevel, config);
  lifecycle.onStop(wallets.stop);
  return {
    dataDir,
    faults,
    database,
    clock,
    rpc,
    random,
    emulatedProcessor,
    log: config.log,
    node: local,
    chain: createChainClient(rpc),
    realClock: steadyClock(),
    syncChain,
    dns: pickDns(config, database),
    // A brand's server runs on the developer's own machine.
    outgoing: { reach: { to: 'any' }, addressesOf: localAddresses },
    chat: emulatedChat({ database }),
    wallets,
    ...keys,
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
    walletsLevel: levelOf(tree.extendedPublicKeyAt(DEV_WALLETS_PATH)),
    admin: signers.admin,
    accounts: {
      distributor: signers.payout.address,
      operator: signers.mint.address,
      redeemer: signers.redemption.address,
      relayers: [signers.relay.address],
    },
  };
}

/** Undefined when the user gave a development node. */
async function startOwnChain(
  deps: { database: Database; clock: AdjustableClock; lifecycle: Lifecycle },
  config: ServeConfig,
  { dataDir, prestartedNode }: Place,
): Promise<SupervisedAnvil | undefined> {
  if (config.rpcUrl) return undefined;
  const { bindAddress, blockTimeSeconds, log, onBlocks } = config;
  const local = await startSupervisedAnvil({
    rpc: settings.rpc,
    journal: config.databaseUrl && config.ephemeral ? undefined : ledgerChainJournal(deps.database),
    isSavedOnlyOnDemand: config.ephemeral,
    dataDir,
    clock: deps.clock,
    bindAddress,
    blockTimeSeconds,
    log,
    port: 0,
    takePrestartedNode: prestartedNode?.take,
    onRestoring: onBlocks && ((progress) => onBlocks('restoring', progress)),
  });
  deps.lifecycle.onStop(() => local.stop());
  return local;
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
  deps: { database: Database; lifecycle: Lifecycle; log: Log; commits: CommitMark },
  dataDir: string,
): Promise<void> {
  const commits = deps.commits.lost();
  const known = await lostSinceMark(deps.database, dataDir);
  if (known || commits > 0) {
    const { rewards, blocks } = known ?? { rewards: 0, blocks: 0 };
    const among = `${rewards} rewards and ${blocks} blocks`;
    const gone = commits > 0 ? `${commits} that were answered, with at least ${among},` : among;
    deps.log.warn(
      { commits, rewards, blocks },
      `the ledger has lost its last commits: ${gone} are gone. A file of ${dataDir} was deleted or replaced, such as ledger.sqlite-wal; bring it back while the stack is stopped, or go on without them`,
    );
  }
  deps.commits.keep();
  deps.lifecycle.onStop(keepLedgerMark(deps, dataDir));
}

async function openLedger(
  { databaseUrl, ephemeral, log }: ServeConfig,
  of: { dataDir: string; watchNesting: boolean; counted: CommitMark | undefined },
): Promise<Database> {
  const { dataDir, ...how } = of;
  if (!databaseUrl) return openSqlite(join(dataDir, LEDGER), { durable: !ephemeral, ...how });
  // Loaded only here: the driver takes as long to load as the ledger takes to open.
  const { openPostgres } = await import('../ledger/database/postgres.ts');
  const availability = createAvailability({ what: 'the database', log });
  return openPostgres(databaseUrl, { availability, watchNesting: how.watchNesting });
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

/** Users who share a wallet count as one: the highest level, and all their roles. */
const emulatedChat = ({ database }: { database: Database }): ChatProvider => ({
  async standingsOf({ brandId, userKeys }) {
    if (userKeys.length === 0) return [];
    const byPlatform = new Map<string, { platform: string; level: number; roles: string[] }>();
    for (const { platform, level, roles } of await emulatedStandings(database.db, { brandId, userKeys })) {
      const known = byPlatform.get(platform) ?? { platform, level: 0, roles: [] };
      byPlatform.set(platform, {
        platform,
        level: Math.max(known.level, level),
        roles: [...new Set([...known.roles, ...roles])],
      });
    }
    return [...byPlatform.values()];
  },
});
