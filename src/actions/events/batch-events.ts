/**
 * Takes customer events and gives each its decision. Events that arrive together are decided together, in one
 * commit, so that they share its cost.
 */
import { commitOnce } from '../../ledger/database/commit-once.ts';
import { type Database, isContention, isLockTimeout, tryAgain } from '../../ledger/database/database.ts';
import { lockedFunds } from '../../ledger/rewards/funds.ts';
import { readRewardProgress } from '../../ledger/rewards/rewards.ts';
import { createKeyedBatcher } from '../../lib/batch/keyed-batcher.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { Overtaken } from '../rewards/record-grants.ts';
import { type DecideDeps, decideRound, type EventDecision, type EventToDecide } from './decide-events.ts';

export interface SubmitEventsDeps extends DecideDeps {
  database: Database;
  /** Events decided in one commit. */
  batchMax: number;
  /** Tries of a commit that conflicts with another process. */
  triesMax: number;
  /** How long a round waits for a brand's row; then it is decided without that brand. Default: as any statement. */
  lockWaitMs?: number | undefined;
  crash: Crash;
}

/** How often the events of a locked brand wait for its row, after the first time. */
const LOCK_TRIES_MAX = 2;

/** Returns the function that decides one event; calls that arrive together share a commit. */
export function createEventSubmitter(deps: SubmitEventsDeps) {
  const { database, clock, batchMax: maxItems } = deps;
  // A brand whose row stays locked has rounds of its own, so that the others do not wait for it.
  const rounds = createKeyedBatcher<EventToDecide, EventDecision, BrandId>({
    maxItems,
    keyOf: ({ submission }) => submission.brandId,
    isLocked: isLockTimeout,
    run: (events) => decideRounds(deps, events, { lockWaitMs: deps.lockWaitMs }),
    runAgain: (events) => decideRounds(deps, events),
    lockedKeys: (brandIds) => database.atomically((tx) => lockedFunds(tx, brandIds)),
    runApart: (events) =>
      tryAgain(() => decideRounds(deps, events), { triesMax: LOCK_TRIES_MAX, isPassing: isLockTimeout }),
  });
  const whenLocked = (error: unknown): EventDecision => {
    if (!isLockTimeout(error)) throw error;
    return { nowMs: clock.now(), refusal: { code: 'database_busy' } };
  };
  return {
    submit: (event: EventToDecide): Promise<EventDecision> => rounds.submit(event).catch(whenLocked),
    /** Resolves when no decision is under way. */
    idle: rounds.idle,
  };
}

/** A round decides at most one claim of each key; claims of a key that was just granted get the next round. */
async function decideRounds(
  deps: SubmitEventsDeps,
  events: EventToDecide[],
  wait?: LockWait,
): Promise<EventDecision[]> {
  const decisions: Decisions = new Map();
  for (let open = events; open.length > 0; open = open.filter((event) => !decisions.has(event))) {
    for (const [event, decision] of await commitRound(deps, open, wait)) decisions.set(event, decision);
  }
  return events.map((event) => decisions.get(event) as EventDecision);
}

type Decisions = Map<EventToDecide, EventDecision>;
type LockWait = { lockWaitMs: number | undefined };

/** An event whose reward id is in the ledger already is told so; the others are decided without it. */
async function commitRound(
  deps: SubmitEventsDeps,
  round: EventToDecide[],
  wait?: LockWait,
): Promise<Decisions> {
  const { database, clock, crash, triesMax } = deps;
  const decide = async (events: EventToDecide[]) => {
    const decided = await database.atomically(async (tx) => {
      const decisions = await decideRound(deps, tx, events);
      crash('reserve.before-commit');
      return decisions;
    }, wait);
    crash('reserve.committed');
    return decided;
  };
  const isPassing = (error: unknown) => error instanceof Overtaken || isContention(error);
  return commitOnce<EventToDecide, EventDecision>(round, {
    commit: (events) => tryAgain(() => decide(events), { triesMax, isPassing }),
    async there(events) {
      const ids = events.map(({ rewardId }) => rewardId);
      const known = new Set((await readRewardProgress(database.db, ids)).map(({ rewardId }) => rewardId));
      return events.filter(({ rewardId }) => known.has(rewardId));
    },
    answerThere: () => ({ nowMs: clock.now(), refusal: { code: 'reward_id_taken' } }),
  });
}
