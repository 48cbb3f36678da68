/** Works on a production ledger without a service: migrates its tables, compares it with the chain, shows its accounts. */
import {
  acceptPlanned,
  type NonceAcceptance,
  planAcceptance,
  planRetirement,
  retireLane,
  showLanes,
} from '../../actions/manage-lanes.ts';
import { createChainHistory } from '../../audit/chain-history.ts';
import type { VerifyReport } from '../../audit/report.ts';
import type { VerifyOptions } from '../../audit/verify-ledger.ts';
import { type ChainClient, createChainClient } from '../../chain/rpc/client.ts';
import { createRpc, type Rpc } from '../../chain/rpc/rpc.ts';
import { createRpcPool } from '../../chain/rpc/rpc-pool.ts';
import { settings } from '../../compose/config.ts';
import { createVerifier } from '../../compose/hosts/create-verifier.ts';
import { listAllEventRules } from '../../ledger/brands/brand-configuration.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { unsafeDatabaseSettings } from '../../ledger/database/durability.ts';
import { migrate, pendingMigrations } from '../../ledger/database/migrate.ts';
import { type Facts, readFact } from '../../ledger/facts.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { silentLog } from '../../lib/log.ts';
import type { SeededBrand } from '../../rules/brands/seed-changes.ts';
import { checkSequences } from '../checks.ts';
import { lookAtMoney } from '../doctor/money.ts';
import type { MoneySettings } from '../gas-money.ts';
import { userHasher } from '../requests/user-hash.ts';
import { readSecret, type Secret } from '../secrets.ts';
import { startSettings } from '../settings.ts';
import { controlRoutes, type LedgerService } from './control-routes.ts';
import {
  type LedgerPlace,
  missing,
  type OpenLedger,
  openLedger,
  refuseEmulatorLedger,
} from './open-ledger.ts';
import { openRecovery, type RecoveryGiven } from './recovery.ts';

interface Connected {
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
  finalityBlocks: number;
}

/** `by`: who decides it, and why. Throws E_PROD_LEDGER_BEHIND from `plan` when the ledger is an old copy. */
function laneCommands(
  { database, asked }: Pick<OpenLedger, 'database' | 'asked'>,
  { chain, rpc, facts, finalityBlocks }: Connected,
) {
  const deps = { database, chain, finalityBlocks };
  const nowMs = () => systemClock().now();
  return {
    show: () => asked(() => showLanes(deps)),
    plan: (account: string) =>
      asked(async () => {
        const history = createChainHistory({ rpc, contracts: facts.contracts });
        const [behind] = await checkSequences(history, { database, chain });
        if (behind) throw new PreconditionError(behind);
        return planAcceptance(deps, account);
      }),
    planRetirement: (account: string) => asked(() => planRetirement({ database }, account)),
    retire: (account: string, by: { name: string; reason: string }) =>
      asked(() => retireLane({ database }, account, { ...by, nowMs: nowMs() })),
    accept: (planned: NonceAcceptance, by: { name: string; reason: string }) =>
      asked(() => acceptPlanned(deps, planned, { ...by, nowMs: nowMs() })),
  };
}

export type OfflineLedger = Awaited<ReturnType<typeof openOfflineLedger>>;

/** Opens the ledger at a secret's address. Its functions throw a PreconditionError when database or node cannot be used. */
export async function openOfflineLedger(place: LedgerPlace) {
  const ledger = await openLedger(place);
  const { database, where, asked, close } = ledger;
  const connect = async (rpcSecret: Secret) => {
    const urls = await readSecret(startSettings.rpcUrls, { cwd: place.cwd, secret: rpcSecret });
    if (urls === undefined) throw missing('REWARDS_RPC_URL');
    const facts = await asked(() => readFact(database.db, 'chain'));
    if (!facts) {
      throw new PreconditionError({
        code: 'E_PROD_WRONG_CHAIN',
        message: 'this ledger has not been used on any chain yet',
        fix: 'start the service once with this ledger',
      });
    }
    const nodes = urls.map((url) => createRpc({ url, ...settings.rpc }));
    const rpc = createRpcPool({
      nodes,
      chainId: facts.chainId,
      log: silentLog,
      nowMs: systemClock().now,
      restMs: 0,
    });
    return { chain: createChainClient(rpc), rpc, nodes, facts };
  };
  return {
    where,
    close,
    /** What the control API says of it; the xpub is the key of users' hashes, without which users cannot be looked for. */
    control: ({ walletsXpub, ...service }: Omit<LedgerService, 'userHash'> & { walletsXpub: Secret }) =>
      controlRoutes(ledger, {
        ...service,
        async userHash() {
          const xpub = await readSecret(startSettings.walletsXpub, { cwd: place.cwd, secret: walletsXpub });
          return xpub === undefined ? undefined : userHasher(xpub);
        },
      }),
    /** The names of the migrations that this call applied. */
    migrate: (onProgress: (progress: { done: number; of: number }) => void) =>
      asked(async () => {
        await refuseEmulatorLedger(database);
        return migrate(database, undefined, onProgress);
      }),
    status: () =>
      asked(async () => ({
        pending: await pendingMigrations(database),
        unsafe: await unsafeDatabaseSettings(database),
      })),
    /** Every brand with all its rules. */
    brandsWithRules: () => asked(() => brandsWithRules(database.db)),
    /** Compares the ledger with the chain that it was written for. */
    async verify(rpcSecret: Secret, options: VerifyOptions): Promise<VerifyReport> {
      const connected = await connect(rpcSecret);
      return asked(() => createVerifier({ database, ...connected })(options));
    },
    /** What each account that signs has for gas, by a node's word. */
    money: (chain: ChainClient, given: Parameters<typeof lookAtMoney>[1], config: MoneySettings) =>
      asked(() => lookAtMoney({ db: database.db, chain }, given, config)),
    /** Takes in what the chain has and the ledger lost. */
    recovery: async (given: RecoveryGiven) =>
      openRecovery(ledger, { connected: await connect(given.nodes), cwd: place.cwd, given }),
    /** The sending accounts. */
    lanes: async (rpcSecret: Secret, finalityBlocks: number) =>
      laneCommands(ledger, { ...(await connect(rpcSecret)), finalityBlocks }),
  };
}

async function brandsWithRules(db: Queries): Promise<SeededBrand[]> {
  const found: SeededBrand[] = [];
  for (const brand of await listBrands(db))
    found.push({ brand, rules: await listAllEventRules(db, brand.brandId) });
  return found;
}
