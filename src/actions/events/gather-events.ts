/**
 * Takes customer events and gives each its decision. Events that arrive together are decided together, in one
 * commit, so that they share its cost.
 */
import {
  type Database,
  isContention,
  isLockTimeout,
  isUniqueViolation,
  tryAgain,
} from '../../ledger/database/database.ts';
import { lockedFunds } from '../../ledger/rewards/funds.ts';
import { readRewardProgress } from '../../ledger/rewards/rewards.ts';
import type { Crash } from '../../lib/crash-points.ts';
import { createGatherer } from '../../lib/gather.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import {
  type DecideDeps,
  decideRound,
  type EventDecision,
  type EventToDecide,
  Overtaken,
} from './decide-events.ts';

export interface SubmitEventsDeps extends DecideDeps {
  database: Database;
  /** Events decided in one commit. */
  batchMax: number;
  /** Tries of a commit that conflicts with another process. */
  triesMax: number;
  crash: Crash;
}

/** Returns the function that decides one event; calls that arrive together share a commit. */
export function createEventSubmitter(deps: SubmitEventsDeps) {
  /** Brands whose row stayed locked: each has rounds of its own, so that the others do not wait for it. */
  const apart = new Map<BrandId, Gatherer>();
  const together: Gatherer = createGatherer<EventToDecide, Decided>({
    maxItems: deps.batchMax,
    run: (events) => decideTogether(deps, events, decideApart),
  });

  function decideApart(event: EventToDecide): Promise<Decided> {
    const { brandId } = event.submission;
    const alone = apart.get(brandId) ?? gatherAlone(deps, onFree);
    apart.set(brandId, alone);
    return alone.submit(event);
    function onFree() {
      if (apart.get(brandId)?.waiting() === 0) apart.delete(brandId);
    }
  }

  return {
    async submit(event: EventToDecide): Promise<EventDecision> {
      const isApart = apart.has(event.submission.brandId);
      const { decision } = await (isApart ? decideApart(event) : together.submit(event));
      return decision;
    },
    /** Resolves when no decision is under way. */
    async idle() {
      await together.idle();
      await Promise.all([...apart.values()].map((alone) => alone.idle()));
    },
  };
}

/** A decision, or the promise of one: the round that it was taken out of does not wait for it. */
interface Decided {
  decision: EventDecision | Promise<EventDecision>;
}
type Gatherer = ReturnType<typeof createGatherer<EventToDecide, Decided>>;

/** Decides events of all brands; when a brand's row is locked, the others' are decided without it. */
async function decideTogether(
  deps: SubmitEventsDeps,
  events: EventToDecide[],
  decideApart: (event: EventToDecide) => Promise<Decided>,
): Promise<Decided[]> {
  try {
    return await decideRounds(deps, events);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    const brandIds = [...new Set(events.map(({ submission }) => submission.brandId))];
    const locked = await deps.database.atomically((tx) => lockedFunds(tx, brandIds));
    const isLocked = ({ submission }: EventToDecide) => locked.has(submission.brandId);
    const free = events.filter((event) => !isLocked(event));
    const decided = new Map<EventToDecide, Decided>();
    for (const event of events.filter(isLocked)) {
      const decision = decideApart(event).then((later) => later.decision);
      // Its caller hears of a failure; until then it is nobody's.
      decision.catch(() => undefined);
      decided.set(event, { decision });
    }
    const others = free.length > 0 ? await decideRounds(deps, free) : [];
    for (const [place, event] of free.entries()) decided.set(event, others[place] as Decided);
    return events.map((event) => decided.get(event) as Decided);
  }
}

/** How often the events of a locked brand wait for its row, after the first time. */
const LOCK_TRIES_MAX = 2;

/** Decides the events of one brand; `onFree` is called when its row could be locked again. */
function gatherAlone(deps: SubmitEventsDeps, onFree: () => void): Gatherer {
  return createGatherer<EventToDecide, Decided>({
    maxItems: deps.batchMax,
    async run(events) {
      try {
        const decided = await tryAgain(() => decideRounds(deps, events), {
          triesMax: LOCK_TRIES_MAX,
          isPassing: isLockTimeout,
        });
        onFree();
        return decided;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        const nowMs = deps.clock.now();
        return events.map(() => ({ decision: { nowMs, refusal: { code: 'database_busy' } } }));
      }
    },
  });
}

/** A round decides at most one claim of each key; claims of a key that was just granted get the next round. */
async function decideRounds(deps: SubmitEventsDeps, events: EventToDecide[]): Promise<Decided[]> {
  const decisions = new Map<EventToDecide, EventDecision>();
  for (let open = events; open.length > 0; open = open.filter((event) => !decisions.has(event))) {
    for (const [event, decision] of await commitRound(deps, open)) decisions.set(event, decision);
  }
  return events.map((event) => ({ decision: decisions.get(event) as EventDecision }));
}

type Decisions = Map<EventToDecide, EventDecision>;

async function commitRound(deps: SubmitEventsDeps, events: EventToDecide[]): Promise<Decisions> {
  const decide = async () => {
    const decided = await deps.database.atomically(async (tx) => {
      const decisions = await decideRound(deps, tx, events);
      deps.crash('reserve.before-commit');
      return decisions;
    });
    deps.crash('reserve.committed');
    return decided;
  };
  const isPassing = (error: unknown) => error instanceof Overtaken || isContention(error);
  try {
    return await tryAgain(decide, { triesMax: deps.triesMax, isPassing });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return commitWithoutTwins(deps, events, error);
  }
}

/**
 * A reward of one of these ids is there already: another try of its request was granted meanwhile. Its event is left out,
 * and its caller finds that reward; the others are decided without it.
 */
async function commitWithoutTwins(
  deps: SubmitEventsDeps,
  events: EventToDecide[],
  error: unknown,
): Promise<Decisions> {
  const ids = events.map(({ rewardId }) => rewardId);
  const there = new Set((await readRewardProgress(deps.database.db, ids)).map(({ rewardId }) => rewardId));
  const twins = events.filter(({ rewardId }) => there.has(rewardId));
  const others = events.filter(({ rewardId }) => !there.has(rewardId));
  if (twins.length === 0) throw error;
  const decisions: Decisions = others.length > 0 ? await commitRound(deps, others) : new Map();
  const nowMs = deps.clock.now();
  for (const twin of twins) decisions.set(twin, { nowMs, refusal: { code: 'database_busy' } });
  return decisions;
}
