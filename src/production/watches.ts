/** Production's periodic checks: dependencies, backlog, and ledger against chain. */

import type { VerifyProgress } from '../audit/audit.ts';
import { heldTokens } from '../chain/contracts/roles.ts';
import type { ChainEngine } from '../chain/engine.ts';
import { createBlockLag } from '../chain/indexer/reading-progress.ts';
import type { ChainClient } from '../chain/rpc/client.ts';
import type { Rpc } from '../chain/rpc/rpc.ts';
import { settings } from '../compose/config.ts';
import { createVerifier } from '../compose/hosts/create-verifier.ts';
import type { Database } from '../ledger/database/database.ts';
import { type Facts, ledgerAnswers } from '../ledger/facts.ts';
import { mintBacklog } from '../ledger/payments/mint-queue.ts';
import { redemptionBacklog } from '../ledger/perks/redemption-queue.ts';
import { findGasWallet } from '../ledger/relay/gas-wallets.ts';
import { newestFollowed, waitingBacklog } from '../ledger/transactions/backlog.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createLoop } from '../lib/loop.ts';
import { answersWithin, stopwatch, within } from '../lib/timers.ts';
import { watchClock } from './clock.ts';
import { type LaneName, type LaneState, lookAtLanes } from './lanes-known.ts';
import type { Metrics } from './metrics.ts';
import type { StartConfig } from './start-config.ts';

/** A dependency that takes longer than this to answer counts as unavailable. */
const ANSWER_WITHIN_MS = 2_000;
const DIFFERENCES_MAX = 100;
const PROGRESS_EVERY_MS = 30_000;
/** The first differences are enough to know where to look. */
const DIFFERENCES_LOGGED = 10;

interface WatchDeps {
  database: Database;
  chain: ChainClient;
  rpc: Rpc;
  engine: ChainEngine;
  metrics: Metrics;
  facts: Facts['chain'];
  /** Address of a private key. */
  addressOf: (key: `0x${string}`) => `0x${string}`;
  /** As the start has found them. */
  lanes: Record<LaneName, LaneState>;
  clock: Clock;
  realClock: Clock;
  log: Log;
}

interface Compared {
  atMs: number;
  ok: boolean;
  differences: number;
  block: number | null;
}

export function startWatches(
  deps: WatchDeps,
  config: Pick<
    StartConfig,
    | 'workers'
    | 'keys'
    | 'payments'
    | 'identity'
    | 'verifyEveryMs'
    | 'verifyAfterMs'
    | 'confirmations'
    | 'blockLagMaxMs'
    | 'checkEveryMs'
  >,
): {
  /** Why this process should get no traffic now. */
  notReady: () => Promise<string[]>;
  /** Which process sends what brands need, as of the last look. */
  lanes: () => Record<LaneName, LaneState>;
  /** The last comparison of ledger and chain by this process; undefined before the first. */
  compared: () => Compared | undefined;
  stop: () => Promise<void>;
} {
  const { database, chain, engine, metrics, facts, clock, realClock, log } = deps;
  let { lanes } = deps;
  const sends = sendsFor(deps, config);
  const lag = lagWatch(deps, config);
  const watchTokens = relayTokensWatch(deps);
  const sampling = createLoop({
    name: 'metrics',
    async turn() {
      await lag().catch(() => undefined);
      metrics.alarms(engine.alarms);
      await watchTokens();
      await watchQueues(deps);
      lanes = await lookAtLanes(deps, config, clock.now());
      await watchClock({ database, alarms: engine.alarms }, clock);
      await metrics.sample({ database, chain, sends, firstBlock: facts.deploymentBlock }, clock.now());
      return 'idle';
    },
    pauseMs: () => config.checkEveryMs,
    log,
  });
  sampling.start();
  const verifying = config.workers.includes('outbox') && config.verifyEveryMs > 0;
  const compare = comparison(deps);
  const firstMs = firstVerifyMs(config.verifyAfterMs, realClock.now());
  const comparing = createLoop({
    name: 'verify',
    turn: compare.turn,
    pauseMs: () => (compare.isNext() ? Math.min(firstMs, config.verifyEveryMs) : config.verifyEveryMs),
    log,
  });
  if (verifying) comparing.start();
  const answers = (ask: () => Promise<unknown>) => answersWithin(ANSWER_WITHIN_MS, ask);
  return {
    async notReady() {
      const [databaseAnswers, chainAnswers] = await Promise.all([
        answers(() => ledgerAnswers(database.db)),
        answers(() => chain.block('latest')),
      ]);
      const lags =
        databaseAnswers && chainAnswers && (await within(ANSWER_WITHIN_MS, lag()).catch(() => false));
      return [
        ...(databaseAnswers ? [] : ['the database does not answer']),
        ...(chainAnswers ? [] : ['no chain node answers']),
        ...(lags ? ['the ledger has not read the newest blocks'] : []),
      ];
    },
    lanes: () => lanes,
    compared: compare.last,
    async stop() {
      await Promise.all([sampling.stop(), comparing.stop()]);
    },
  };
}

/** Whether this process has the key of a lane; every gas wallet grows from the relay key. */
function sendsFor(
  { addressOf }: Pick<WatchDeps, 'addressOf'>,
  { workers, keys }: Pick<StartConfig, 'workers' | 'keys'>,
): (lane: { address: string; purpose: string }) => boolean {
  if (!workers.includes('outbox')) return () => false;
  const own = new Set(Object.values(keys).map((key) => addressOf(key).toLowerCase()));
  return ({ address, purpose }) =>
    own.has(address.toLowerCase()) || (purpose === 'relay' && keys.relay !== undefined);
}

/** Looks how far the ledger has read; true, and an alarm, when it has been behind for too long. */
function lagWatch(
  { database, chain, engine, realClock }: WatchDeps,
  { confirmations, blockLagMaxMs }: Pick<StartConfig, 'confirmations' | 'blockLagMaxMs'>,
): () => Promise<boolean> {
  const blockLag = createBlockLag({ confirmations, nowMs: realClock.now });
  return async () => {
    const head = await chain.block('latest');
    if (!head) return false;
    const read = await newestFollowed(database.db);
    const lagMs = blockLag.look({ head: head.number, read });
    if (lagMs === 0) engine.alarms.clear('block_lag', 'follower');
    if (lagMs === 0 || lagMs < blockLagMaxMs) return false;
    engine.alarms.raise('block_lag', 'follower', { head: head.number, read: read ?? 0 });
    return true;
  };
}

/**
 * An alarm while a reward, a mint or a redemption has waited for too long, in every process: the one with the key may be the one that
 * is missing.
 */
async function watchQueues({ database, engine, clock }: WatchDeps): Promise<void> {
  for (const [code, about, backlog, { waitingMaxMs }] of [
    ['reward_waiting', 'rewards', waitingBacklog, settings.payout],
    ['mint_waiting', 'mints', mintBacklog, settings.mint],
    ['redemption_waiting', 'redemptions', redemptionBacklog, settings.redeem],
  ] as const) {
    const { waiting, oldestAt } = await backlog(database.db);
    const waitedMs = oldestAt === undefined ? 0 : clock.now() - oldestAt;
    if (waitedMs < waitingMaxMs) engine.alarms.clear(code, about);
    else engine.alarms.raise(code, about, { waiting, waitedMs });
  }
}

/** Tells the log how far a long comparison is, every half minute. */
function slowly(log: Log): (progress: VerifyProgress) => void {
  let elapsedMs = stopwatch();
  return ({ part, done, of }) => {
    if (elapsedMs() < PROGRESS_EVERY_MS) return;
    elapsedMs = stopwatch();
    log.info({ part, done, ...(of !== undefined && { of }) }, 'comparing ledger and chain');
  };
}

/** Anybody can send tokens to the account that pays users' gas, and no call can move them again, so a log line and a gauge tell it. */
function relayTokensWatch({ database, rpc, facts, metrics, log }: WatchDeps): () => Promise<void> {
  let last = 0n;
  return async () => {
    const wallet = await findGasWallet(database.db, 'service');
    if (!wallet) return;
    const tokens = await heldTokens({ rpc, contracts: facts.contracts }, wallet.address);
    metrics.relayTokens(tokens);
    if (tokens > last)
      log.warn(
        { account: wallet.address, tokens: String(tokens) },
        "the account that pays users' gas was sent tokens; they can stay there",
      );
    last = tokens;
  };
}

/** In the last two thirds of the time that is set, by when this process started: a moment that replicas do not share. */
function firstVerifyMs(verifyAfterMs: number, nowMs: number): number {
  const earliestMs = Math.floor(verifyAfterMs / 3);
  return earliestMs + (nowMs % (verifyAfterMs - earliestMs + 1));
}

/** Compares ledger and chain, but not in the first turn: soon after it, and not at one moment, so that replicas that start together do not all read the chain at once. */
function comparison(deps: WatchDeps): {
  turn: (signal: AbortSignal) => Promise<'idle'>;
  /** Whether nothing was compared yet. */
  isNext: () => boolean;
  last: () => Compared | undefined;
} {
  const { engine, metrics, clock, log } = deps;
  const verify = createVerifier(deps);
  let turns = 0;
  let last: Compared | undefined;
  const turn = async (signal: AbortSignal): Promise<'idle'> => {
    turns += 1;
    if (turns === 1) return 'idle';
    const elapsedMs = stopwatch();
    const report = await verify({ differencesMax: DIFFERENCES_MAX, signal, onProgress: slowly(log) });
    if (signal.aborted) return 'idle';
    metrics.verified(report, { nowMs: clock.now(), tookMs: elapsedMs() });
    const { differences, block } = report;
    last = { atMs: clock.now(), ok: report.ok, differences: differences.length, block };
    for (const { kind, message, about } of differences.slice(0, DIFFERENCES_LOGGED)) {
      log.error({ difference: kind, ...about }, message);
    }
    if (report.ok) engine.alarms.clear('ledger_differs', 'ledger');
    else engine.alarms.raise('ledger_differs', 'ledger', { differences: differences.length, block });
    return 'idle';
  };
  return { turn, isNext: () => turns === 1, last: () => last };
}
