/**
 * The way back of a ledger that has lost commits, as after a restored dump or a failover: reads what the chain and the pools
 * have beyond it, takes that in, and goes on behind everything that was used. Each commit can be the last one of a process:
 * the next run goes on with what is missing.
 */
import { createAlarms } from '../../chain/alarms.ts';
import { createFollower } from '../../chain/indexer/indexer.ts';
import { settlements } from '../../chain/work/settlements.ts';
import { listBrands } from '../../ledger/brands/brands.ts';
import { type Queries, readTime } from '../../ledger/database/database.ts';
import {
  beginRecovery,
  everyRecovery,
  finishRecovery,
  noteSearched,
  raiseCounter,
  readCounters,
  rowsOfRecovery,
  unfinishedRecovery,
} from '../../ledger/recovery/recoveries.ts';
import { findByHashes } from '../../ledger/transactions/transactions.ts';
import { neverCrash } from '../../lib/crash-points.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import { silentLog } from '../../lib/log.ts';
import { problemOf } from '../start-errors.ts';
import { adoptForeignMints } from './adopt-keyed.ts';
import { turnNewPerksOff } from './adopt-terms.ts';
import { adopt } from './adopt-transaction.ts';
import { carriers, type LostWork, type RecoveryContext, type RecoveryDeps } from './context.ts';
import { contradictionsOf } from './contradictions.ts';
import { type HeldLanes, holdLanes } from './hold-lanes.ts';
import { readLostWork } from './read-lost-work.ts';
import { type RecoveryReport, recoveredOf, reportOf } from './report.ts';

/**
 * Reads up to the newest block that was searched and has its confirmations. A later one may hold what no node showed: that
 * is found again only in a block that nobody has read yet.
 */
async function followRecovered(
  deps: RecoveryDeps,
  { headBlock, onBlock }: { headBlock: number; onBlock: () => Promise<void> },
): Promise<void> {
  const { database, chain, clock, facts, settings, progress } = deps;
  let renewal: Promise<void> = Promise.resolve();
  const follower = createFollower({
    database,
    chain: { ...chain, block: (which) => chain.block(which === 'latest' ? headBlock : which) },
    clock,
    log: silentLog,
    alarms: createAlarms({ now: clock.now, log: silentLog }),
    crash: neverCrash,
    settlements,
    settings: {
      ...settings,
      escrow: facts.contracts.escrow,
      token: facts.contracts.token,
      pointsSale: facts.contracts.pointsSale,
      firstBlock: facts.deploymentBlock,
    },
    onIncluded: () => {},
    onReorganized: () => {},
    onReading: ({ block, of }) => {
      progress('follow', block, of);
      renewal = renewal.then(onBlock);
    },
  });
  await follower.catchUp();
  await renewal;
}

/** Ends the commit that a plan was made in. */
class PlanEnds extends Error {
  readonly report: RecoveryReport;
  constructor(report: RecoveryReport) {
    super('a plan changes nothing');
    this.report = report;
  }
}

export interface RecoveryChoice {
  /**
   * Skips numbers also where the chain shows nothing of what was lost: a wallet that was shown in lost commits, and was never
   * paid, leaves no trace there.
   */
  skipNumbers?: boolean;
}

/** What `applyRecovery` would do: the same work in a commit that is taken back. */
export async function planRecovery(
  deps: RecoveryDeps,
  { skipNumbers = false }: RecoveryChoice = {},
): Promise<RecoveryReport> {
  const begun = await unfinishedRecovery(deps.database.db);
  const work = await readLostWork(deps, begun?.beganWith);
  if (!begun && !skipNumbers && !(await isBehind(deps, work)))
    return reportIn(deps.database.db, { work, state: 'nothing' });
  try {
    await deps.database.atomically(async (tx) => {
      const context = await begin(deps, tx, { work, epochOf: () => 0 });
      for (const found of work.transactions) await adopt(tx, context, found);
      await adoptForeignMints(tx, context);
      await turnNewPerksOff(tx, context);
      const { recoveryId: id } = context;
      const report = await reportIn(tx, { work, state: 'planned', id });
      // It is there for the plan alone.
      const recoveries = begun ? report.recoveries : report.recoveries.filter((one) => one.id !== id);
      throw new PlanEnds({ ...report, recoveries });
    });
  } catch (error) {
    if (error instanceof PlanEnds) return error.report;
    throw error;
  }
  throw new Error('a plan was committed');
}

/** Does it. Rejects with a PreconditionError while a service holds an account, or while the chain is not far enough. */
export async function applyRecovery(
  deps: RecoveryDeps,
  owner: string,
  { skipNumbers = false }: RecoveryChoice = {},
): Promise<RecoveryReport> {
  const { database } = deps;
  const held = await holdLanes(deps, { accounts: [], owner });
  try {
    const begun = await unfinishedRecovery(database.db);
    const work = await readLostWork(deps, begun?.beganWith);
    if (!begun && !skipNumbers && !(await isBehind(deps, work)))
      return await reportIn(database.db, { work, state: 'nothing' });
    const tooYoung = await contradictionsOf(deps, work);
    if (tooYoung) throw new PreconditionError(problemOf('E_RECOVERY_WAITS', tooYoung));
    const commit = committing(deps, held);
    const context = await commit((tx) => begin(deps, tx, { work, epochOf: held.epochOf }));
    for (const [place, found] of work.transactions.entries()) {
      if ((await findByHashes(database.db, [found.hash])).length === 0)
        await commit((tx) => adopt(tx, context, found));
      deps.progress('transactions', place + 1, work.transactions.length);
    }
    await commit((tx) => adoptForeignMints(tx, context));
    await followRecovered(deps, { headBlock: work.headBlock, onBlock: held.renew });
    const { recoveryId: id } = context;
    await commit(async (tx) => {
      await turnNewPerksOff(tx, context);
      // What no node shows may be an offer of a transaction that the ledger has: a service would take it for a stranger's.
      if (work.pendingUnknown.length > 0) return;
      await finishRecovery(tx, { id, nowMs: await readTime({ db: tx, now: database.now }) });
    });
    return await reportIn(database.db, { work, state: 'applied', id });
  } finally {
    await held.release();
  }
}

/** One commit under the leases that are held. */
function committing({ database, committed }: RecoveryDeps, held: HeldLanes) {
  return async <T>(write: (tx: Queries) => Promise<T>): Promise<T> => {
    await held.renew();
    const written = await database.atomically(async (tx) => {
      await held.fence(tx);
      return write(tx);
    });
    committed();
    return written;
  };
}

/** Whether the chain or a pool has anything that the ledger lacks. */
async function isBehind({ database }: RecoveryDeps, work: LostWork): Promise<boolean> {
  const hashes = work.transactions.map(({ hash }) => hash);
  const known = new Set((await findByHashes(database.db, hashes)).map(({ hash }) => hash));
  return (
    work.paidAheadOfLedger !== undefined ||
    work.pendingUnknown.length > 0 ||
    hashes.some((hash) => !known.has(hash))
  );
}

/** Begins a recovery, or goes on with one; first of all, nothing that was used may be handed out again. */
async function begin(
  deps: RecoveryDeps,
  tx: Queries,
  { work, epochOf }: { work: LostWork; epochOf: RecoveryContext['epochOf'] },
): Promise<RecoveryContext> {
  const nowMs = await readTime({ db: tx, now: deps.database.now });
  const begun = await unfinishedRecovery(tx);
  const id = begun?.id ?? deps.random.uuid();
  const { headBlock, agreedBlock } = work;
  if (begun) await noteSearched(tx, { id, headBlock });
  else {
    const beganWith = await readCounters(tx);
    await beginRecovery(tx, { id, startedAt: nowMs, finishedAt: null, agreedBlock, headBlock, beganWith });
  }
  for (const name of ['reward_sequence', 'wallet_index', 'gas_wallet_index'] as const)
    await raiseCounter(tx, { name, next: work.unused[name] });
  return {
    deps,
    recoveryId: id,
    work,
    nowMs,
    epochOf,
    carrierOf: carriers(work.transactions),
    sessions: new Map(),
  };
}

async function reportIn(
  db: Queries,
  of: { work: LostWork; state: RecoveryReport['state']; id?: string },
): Promise<RecoveryReport> {
  const { work, state, id } = of;
  const recoveries = [];
  for (const recovery of await everyRecovery(db))
    recoveries.push(recoveredOf(recovery, await rowsOfRecovery(db, recovery.id)));
  return reportOf({
    state,
    id: id ?? null,
    work,
    rows: id === undefined ? [] : await rowsOfRecovery(db, id),
    knownBrands: new Set((await listBrands(db)).map(({ brandId }) => brandId)),
    recoveries,
  });
}
