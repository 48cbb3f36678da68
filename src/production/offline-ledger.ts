/** Works on a production ledger without a service: migrates its tables, compares it with the chain, shows its accounts. */
import { acceptPlanned, type NonceAcceptance, planAcceptance } from '../actions/lanes/accept-nonce.ts';
import { showLanes } from '../actions/lanes/show-lanes.ts';
import { createChainHistory } from '../audit/chain-history.ts';
import type { VerifyReport } from '../audit/report.ts';
import type { VerifyOptions } from '../audit/verify-ledger.ts';
import { createChainClient } from '../chain/rpc/client.ts';
import { createRpc } from '../chain/rpc/rpc.ts';
import { createRpcPool } from '../chain/rpc/rpc-pool.ts';
import { settings } from '../compose/config.ts';
import { createVerifier } from '../compose/create-verifier.ts';
import { PreconditionError } from '../compose/precondition.ts';
import { whereIs } from '../compose/start-problem.ts';
import type { Database } from '../ledger/database/database.ts';
import { unsafeDatabaseSettings } from '../ledger/database/durability.ts';
import { migrate, pendingMigrations } from '../ledger/database/migrate.ts';
import { readFact } from '../ledger/facts.ts';
import { readLedgerOwner } from '../ledger/ledger-owner.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLog } from '../lib/log.ts';
import { checkSequences, databaseProblem } from './checks.ts';
import { openLedgerAt } from './create-production.ts';
import { readSecret, type Secret, settingsProblem } from './secrets.ts';
import { sqliteProblem, startSettings } from './settings.ts';
import { problemOf } from './start-errors.ts';

/** The address that a secret holds. Throws a PreconditionError when it holds none, or one that production refuses. */
export async function ledgerAddress(of: {
  cwd: string;
  secret: Secret;
  allowSqlite: boolean;
}): Promise<string> {
  const databaseUrl = await readSecret(startSettings.databaseUrl, of);
  if (databaseUrl === undefined) throw missing('REWARDS_DATABASE_URL');
  if (!/^(?:postgres(?:ql)?:\/\/|sqlite:)./.test(databaseUrl))
    throw settingsProblem(['REWARDS_DATABASE_URL begins with neither postgres:// nor sqlite:']);
  const unsafe = sqliteProblem(databaseUrl, of);
  if (unsafe) throw new PreconditionError(unsafe);
  return databaseUrl;
}

/** Opens the ledger at a secret's address. Its functions throw a PreconditionError when the database cannot be used. */
export async function openOfflineLedger(of: { cwd: string; secret: Secret; allowSqlite: boolean }) {
  const databaseUrl = await ledgerAddress(of);
  const isSqlite = databaseUrl.startsWith('sqlite:');
  const { database, release } = await openLedgerAt(databaseUrl, silentLog);
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PreconditionError) throw error;
      const [code, message, fix] = databaseProblem(error);
      throw new PreconditionError({ code: EXIT_CODES[code] ?? code, message, fix });
    }
  };
  const connect = async (rpcSecret: Secret) => {
    const urls = await readSecret(startSettings.rpcUrls, { cwd: of.cwd, secret: rpcSecret });
    if (urls === undefined) throw missing('REWARDS_RPC_URL');
    const facts = await asked(() => readFact(database.db, 'chain'));
    if (!facts) {
      throw new PreconditionError({
        code: 'E_PROD_WRONG_CHAIN',
        message: 'this ledger has not been used on any chain yet',
        fix: 'start the service once with this ledger',
      });
    }
    const rpc = createRpcPool({
      nodes: urls.map((url) => createRpc({ url, ...settings.rpc })),
      chainId: facts.chainId,
      log: silentLog,
      nowMs: systemClock().now,
      restMs: 0,
    });
    return { chain: createChainClient(rpc), rpc, facts };
  };
  return {
    /** The database's address without its secrets. */
    where: isSqlite ? databaseUrl : `postgres://${whereIs(databaseUrl)}`,
    /** The names of the migrations that this call applied. */
    migrate: () =>
      asked(async () => {
        await refuseEmulatorLedger(database);
        return migrate(database);
      }),
    status: () =>
      asked(async () => ({
        pending: await pendingMigrations(database),
        unsafe: await unsafeDatabaseSettings(database),
      })),
    /** Compares the ledger with the chain that it was written for. */
    async verify(rpcSecret: Secret, options: VerifyOptions): Promise<VerifyReport> {
      return createVerifier({ database, ...(await connect(rpcSecret)) })(options);
    },
    /** The sending accounts. Throws E_PROD_LEDGER_BEHIND from `plan` when the ledger is an old copy. */
    async lanes(rpcSecret: Secret, finalityBlocks: number) {
      const { chain, rpc, facts } = await connect(rpcSecret);
      const deps = { database, chain, finalityBlocks };
      return {
        show: () => asked(() => showLanes(deps)),
        plan: (account: string) =>
          asked(async () => {
            const history = createChainHistory({ rpc, contracts: facts.contracts });
            const [behind] = await checkSequences(history, { database, chain });
            if (behind) throw new PreconditionError(behind);
            return planAcceptance(deps, account);
          }),
        accept: (planned: NonceAcceptance, by: { name: string; reason: string }) =>
          asked(() => acceptPlanned(deps, planned, { ...by, nowMs: systemClock().now() })),
      };
    },
    async close() {
      await database.close();
      await release();
    },
  };
}

/** A command run by hand has no supervisor that would start it again. */
const EXIT_CODES: Record<string, string> = { E_START_DATABASE: 'E_DATABASE_UNREACHABLE' };

const missing = (name: string) =>
  new PreconditionError({
    code: 'E_SETTINGS',
    message: `${name} is not set`,
    fix: `set it, or ${name}_FILE, or the flag for that file`,
  });

/** Throws E_PROD_EMULATOR_LEDGER before anything is written. */
export async function refuseEmulatorLedger(database: Database): Promise<void> {
  const { owner } = await readLedgerOwner(database);
  if (owner === 'emulator') throw new PreconditionError(problemOf('E_PROD_EMULATOR_LEDGER'));
}
