/** Production's recovery on the model chain: it plans, applies, is killed half-way, meets the faults of its node, and is run again. */
import { createChainHistory } from '../../../src/audit/chain-history.ts';
import { createChainClient } from '../../../src/chain/rpc/client.ts';
import type { Rpc } from '../../../src/chain/rpc/rpc.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import { PreconditionError } from '../../../src/lib/failures/precondition.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { RecoveryDeps } from '../../../src/production/recovery/context.ts';
import { applyRecovery, planRecovery } from '../../../src/production/recovery/recover.ts';
import type { RecoveryReport } from '../../../src/production/recovery/report.ts';
import { checkApplied, checkPlan } from './checks/check-recovery.ts';
import { CHAIN_ID, CONTRACTS, OUR_ACCOUNTS } from './model/accounts.ts';
import { withCodes } from './redeeming.ts';
import { addressAt, DatabaseFault, expected, textOf } from './replica.ts';
import { intercept } from './sim-ledger.ts';
import type { World } from './world.ts';

const TRIES_MAX = 40;
const GWEI = 10n ** 9n;
/** Commits after the first few, a recovery is over. */
const KILLED_WITHIN = 12;

const never = new Promise<never>(() => {});

/** Brings the ledger to what the chain has, as an operator does who runs it again until it is done. */
export async function recoverLedger(world: World): Promise<void> {
  const { plan, chain, findings, ledger, time } = world;
  let kills = plan.loss?.kills ?? 0;
  const bindings = await noteBindings(world);
  world.isRecovering = true;
  for (let tries = 1; findings.list.length === 0; tries += 1) {
    const outcome = await runOnce(world, { name: String(tries), mayBeKilled: kills > 0 });
    world.note(`recovery ${tries}: ${outcome}`);
    if (outcome === 'killed') kills -= 1;
    if (outcome === 'done') break;
    if (outcome === 'waits') for (let n = 0; n < plan.finalityBlocks; n += 1) chain.mine();
    if (outcome === 'hidden') mineHidden(world);
    time.advance(1_000);
    if (tries === TRIES_MAX) findings.add('everything comes to an end', 'the recovery does not');
  }
  world.isRecovering = false;
  await bindings.forgetNew();
  for (const { hash } of await ledger.rows<{ hash: string }>('select hash from attempts'))
    world.stored.add(hash);
}

type Outcome = 'done' | 'killed' | 'failed' | 'waits' | 'hidden';

async function runOnce(world: World, of: { name: string; mayBeKilled: boolean }): Promise<Outcome> {
  const { findings, ledger } = world;
  const process = createProcess(world, of.mayBeKilled);
  const known = await ledger.copy();
  try {
    const planned = await planRecovery(process.deps);
    await checkPlan(world, { planned, known });
    process.begin();
    const report = await Promise.race([applyRecovery(process.deps, of.name), process.death]);
    if (report === 'killed') return report;
    world.note(`recovered: ${JSON.stringify(report.transactions)}, ${report.state}`);
    if (report.state === 'applied') world.lost.isRecovered = true;
    if (report.pendingUnknown.length > 0) return 'hidden';
    await checkApplied(world, report, () => again(process.deps));
    return 'done';
  } catch (error) {
    if (error instanceof PreconditionError && error.code === 'E_RECOVERY_WAITS') return 'waits';
    if (!expected(error)) findings.add('no surprise', textOf(error));
    return 'failed';
  }
}

/** What another plan finds; undefined where a node's fault kept it from that. */
const again = (deps: RecoveryDeps): Promise<RecoveryReport | undefined> =>
  planRecovery(deps).catch((error: unknown) => {
    if (expected(error)) return undefined;
    throw error;
  });

/** Nodes show nothing of what waits: the operator lets blocks take it, and looks again. */
function mineHidden({ chain }: World): void {
  const { baseFeeWei } = chain;
  chain.baseFeeWei = GWEI;
  chain.mine();
  chain.baseFeeWei = baseFeeWei;
}

/** One run of the command, which ends with a commit when it is killed: just before or just after. */
function createProcess(world: World, mayBeKilled: boolean) {
  const { plan, lossChance: chance, ledger, chain, node, mutant, time } = world;
  let [isAlive, isApplying] = [true, false];
  let left = mayBeKilled ? chance.below(KILLED_WITHIN) : Number.POSITIVE_INFINITY;
  let die: () => void = () => {};
  const death = new Promise<'killed'>((resolve) => {
    die = () => {
      isAlive = false;
      resolve('killed');
    };
  });
  const base = ledger.database;
  const db = intercept(
    base.db,
    (run) =>
      (...statement) =>
        isAlive ? run(...statement) : never,
  );
  const atomically = async <T>(work: (tx: Queries) => Promise<T>): Promise<T> => {
    if (!isAlive) return never;
    if (world.strikes('commit refused')) throw new DatabaseFault('SQLITE_FULL');
    if (isApplying) left -= 1;
    const isLast = left < 0;
    if (isLast && chance.hit(0.5)) {
      die();
      return never;
    }
    const value = await base.atomically(work);
    if (isLast) {
      die();
      return never;
    }
    if (isApplying && world.strikes('commit lost')) throw new DatabaseFault('08006');
    return value;
  };
  const rpc: Rpc = (method, params) => {
    if (!isAlive) return never;
    // Blocks come while it works.
    if (chance.hit(plan.loss?.mines ?? 0)) chain.mine();
    return node.rpc(method, params);
  };
  const database: Database = { ...base, db, atomically };
  const deps: RecoveryDeps = {
    database,
    rpc,
    chain: createChainClient(rpc),
    nodes: [rpc],
    history: createChainHistory({ rpc, contracts: CONTRACTS }),
    facts: { chainId: CHAIN_ID, genesisHash: '0x', deploymentBlock: 1, contracts: CONTRACTS },
    wallets: { addressAt },
    // The gas wallets of the model were there before everything: none can be lost.
    gasWalletAt: undefined,
    ownAccounts: OUR_ACCOUNTS,
    random: withCodes(world),
    log: silentLog,
    clock: { now: time.now, sleep: () => never },
    settings: { confirmations: plan.confirmations, finalityBlocks: plan.finalityBlocks },
    sleep: async (ms) => time.advance(ms),
    progress() {},
    committed() {},
  };
  return {
    death,
    deps: { ...deps, ...mutant.recover?.(deps, world) },
    begin() {
      isApplying = true;
    },
  };
}

/**
 * What leaves a transaction by the hand of a recovery is judged by the chain alone: the ledger's word for how that
 * transaction stood is as old as the copy.
 */
async function noteBindings({ ledger }: World) {
  const tables = ['sim_bindings', 'sim_relay_bindings', 'sim_mint_bindings', 'sim_redemption_bindings'];
  const last = new Map<string, number>();
  for (const table of tables) {
    const [row] = await ledger.rows<{ last: number | null }>(`select max(rowid) as last from ${table}`);
    last.set(table, row?.last ?? 0);
  }
  return {
    async forgetNew(): Promise<void> {
      for (const table of tables) await ledger.rows(`delete from ${table} where rowid > ?`, last.get(table));
    },
  };
}
