/** The adapters of production: what each port of the service is behind, by the settings. */
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { ChainEngineDeps } from '../chain/engine.ts';
import { keysDerivedFrom, keyTree, localKeySigner } from '../chain/lane/local-key.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import { createRpcPool, type NodeState } from '../chain/rpc/rpc-pool.ts';
import { settings } from '../compose/config.ts';
import type { Lifecycle } from '../compose/lifecycle.ts';
import { systemAddresses, systemTxtResolver } from '../dns/system.ts';
import type { TxtResolver } from '../dns/txt.ts';
import { walletsDerivedAhead } from '../identity/derive-ahead.ts';
import { derivedWallets, levelOf } from '../identity/derived.ts';
import { providerTokens } from '../identity/provider.ts';
import type { TokenVerifier } from '../identity/tokens.ts';
import type { Database, Pooler } from '../ledger/database/database.ts';
import { openDataDir } from '../ledger/database/file-lock.ts';
import { openPostgres } from '../ledger/database/postgres.ts';
import { openSqlite } from '../ledger/database/sqlite.ts';
import { type Clock, steadyClock, systemClock } from '../lib/clock.ts';
import { DEV_MNEMONIC, DEV_WALLETS_PATH } from '../lib/development.ts';
import { type Away, createAvailability } from '../lib/failures/availability.ts';
import { type Random, secureRandom } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { AskDeps } from '../outgoing/ask.ts';
import { createStripe } from '../payments/stripe.ts';
import type { CheckedParts } from './all-checks.ts';
import type { KnownKeys } from './checks.ts';
import type { Metrics } from './metrics.ts';
import { settingsProblem } from './secrets.ts';
import { productionPayments, productionTokens } from './service-config.ts';
import type { StartConfig } from './start-config.ts';
import { fault } from './start-setting.ts';

const MB = 1024 * 1024;

/** The adapter of each port in production. */
export interface Adapters extends CheckedParts {
  /** Absent in a process that leaves chain work to others. */
  signers: ChainEngineDeps['signers'] | undefined;
  tokens: TokenVerifier | undefined;
  dns: TxtResolver;
  outgoing: AskDeps;
  /** Time that no correction of the machine's clock moves. */
  realClock: Clock;
  random: Random;
  log: Log;
  /** Why the database does not answer this process, as its uses have shown; undefined while it does. */
  databaseAway: () => Away | undefined;
  nodeStates: () => NodeState[];
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

/** Opens what stays open until the end of `lifecycle`. */
export async function pickAdapters(
  config: StartConfig,
  lifecycle: Lifecycle,
  onRpc?: Metrics['rpc'],
): Promise<Adapters> {
  const { log } = config;
  const { database, databaseAway, release } = await openLedgerAt(
    config.databaseUrl,
    log,
    config.databasePooler,
  );
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
    databaseAway,
    nodeStates: rpc.nodeStates,
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
): Promise<{ database: Database; databaseAway: () => Away | undefined; release: () => Promise<void> }> {
  if (!url.startsWith('sqlite:')) {
    const availability = createAvailability({ what: 'the database', log });
    return {
      database: openPostgres(url, { availability, watchNesting: false, pooler }),
      databaseAway: availability.away,
      release: async () => {},
    };
  }
  const path = resolve(url.slice('sqlite:'.length));
  // The lock beside the file keeps other processes out while this one lives.
  const folder = await openDataDir({ path: dirname(path), ephemeral: false });
  return {
    database: openSqlite(path, { watchNesting: false }),
    databaseAway: () => undefined,
    release: () => folder.release(),
  };
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
