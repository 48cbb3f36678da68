/** Looks after what brands' servers have said: it is asked again once the buyer's level or roles in a chat have changed. */
import {
  deleteExpiredResults,
  invalidateOtherStandings,
  resultsWithStanding,
} from '../../ledger/constraints/results.ts';
import type { BusinessTime } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLoop } from '../../lib/loop.ts';
import { readStandings, type StandingDeps, standingText } from './read-standing.ts';

/** What the looks are bounded by. */
interface LookSettings {
  /** Contract: automatic invalidation on chat level or role changes. */
  lookEveryMs: number;
  /** How often the clock, which a developer may move, is asked whether a look is due. */
  pollMs: number;
  /** Results that one look compares. */
  looksMax: number;
  /** Questions to the chat provider at once. */
  chatAtOnce: number;
}

export function createResultLooks(
  deps: StandingDeps & { clock: Clock; businessTime: BusinessTime },
  settings: LookSettings,
) {
  const { database, clock, businessTime, log } = deps;
  let dueMs = clock.now() + settings.lookEveryMs;

  async function look(): Promise<void> {
    await deleteExpiredResults(database.db, businessTime());
    if (!deps.chat) return;
    const results = await resultsWithStanding(database.db, { now: businessTime(), limit: settings.looksMax });
    const users = new Map(results.map((one) => [`${one.brandId} ${one.userAddress}`, one]));
    const waiting = [...users.values()];
    const work = async () => {
      for (let user = waiting.pop(); user; user = waiting.pop()) {
        const { brandId, userAddress } = user;
        const standings = await readStandings(deps, { brandId, address: userAddress });
        // A provider that is away says nothing about anybody; the next look asks again.
        if (!standings) continue;
        await invalidateOtherStandings(database.db, {
          brandId,
          userAddress,
          standing: standingText(standings),
        });
      }
    };
    await Promise.all(Array.from({ length: settings.chatAtOnce }, work));
  }

  return createLoop({
    name: 'constraint results',
    log,
    pauseMs: () => settings.pollMs,
    async turn() {
      if (clock.now() < dueMs) return 'idle';
      dueMs = clock.now() + settings.lookEveryMs;
      await look();
      return 'idle';
    },
  });
}
