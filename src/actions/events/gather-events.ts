/**
 * Takes customer events and gives each its decision. Events that arrive together are decided together, in one
 * commit, so that they share its cost.
 */
import { type Database, isContention, tryAgain } from '../../ledger/database/database.ts';
import type { Crash } from '../../lib/crash-points.ts';
import { createGatherer } from '../../lib/gather.ts';
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
  const gatherer = createGatherer<EventToDecide, EventDecision>({
    maxItems: deps.batchMax,
    run: (events) => decideTogether(deps, events),
  });
  return {
    submit: (event: EventToDecide): Promise<EventDecision> => gatherer.submit(event),
    /** Resolves when no decision is under way. */
    idle: gatherer.idle,
  };
}

async function decideTogether(deps: SubmitEventsDeps, events: EventToDecide[]): Promise<EventDecision[]> {
  const decisions = new Map<EventToDecide, EventDecision>();
  // A round decides at most one claim of each key; claims of a key that was just granted get the next round.
  for (let open = events; open.length > 0; open = open.filter((event) => !decisions.has(event))) {
    for (const [event, decision] of await commitRound(deps, open)) decisions.set(event, decision);
  }
  return events.flatMap((event) => decisions.get(event) ?? []);
}

function commitRound(
  deps: SubmitEventsDeps,
  events: EventToDecide[],
): Promise<Map<EventToDecide, EventDecision>> {
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
  return tryAgain(decide, { triesMax: deps.triesMax, isPassing });
}
