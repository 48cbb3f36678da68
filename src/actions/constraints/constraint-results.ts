/**
 * Looks after what brands' servers have said: it is asked again once the buyer's level or roles in a chat have changed,
 * or when the brand says so.
 */
import {
  deleteExpiredResults,
  invalidateOtherStandings,
  invalidateUrl,
  resultsWithStanding,
} from '../../ledger/constraint-results.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLoop } from '../../lib/loop.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type MembershipDeps, membershipText, readMemberships } from './check-constraints.ts';

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
  /** A look ends when so many users in a row got no answer. */
  chatFailuresMax: number;
}

export function createResultLooks(
  deps: MembershipDeps & { clock: Clock; businessTime: BusinessTime },
  settings: LookSettings,
) {
  const { database, clock, businessTime, log } = deps;
  let dueMs = clock.now() + settings.lookEveryMs;
  /** Those of whom the look before learnt nothing: they come last, so that they hold up none of the others. */
  let unanswered = new Set<string>();

  async function look(): Promise<void> {
    await deleteExpiredResults(database.db, businessTime());
    if (!deps.chat) return;
    const results = await resultsWithStanding(database.db, { now: businessTime(), limit: settings.looksMax });
    const users = new Map(results.map((one) => [`${one.brandId} ${one.userAddress}`, one]));
    // Taken from the end.
    const waiting = [...users].sort(([a], [b]) => Number(unanswered.has(b)) - Number(unanswered.has(a)));
    const failing = new Set<string>();
    let inARow = 0;
    const work = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        if (inARow >= settings.chatFailuresMax) return;
        const [name, { brandId, userAddress }] = next;
        const standings = await readMemberships(deps, { brandId, address: userAddress });
        // A provider that is away says nothing about anybody; the next look asks again.
        inARow = standings ? 0 : inARow + 1;
        if (!standings) {
          failing.add(name);
          continue;
        }
        await invalidateOtherStandings(database.db, {
          brandId,
          userAddress,
          standing: membershipText(standings),
        });
      }
    };
    await Promise.all(Array.from({ length: settings.chatAtOnce }, work));
    // Those whose turn did not come are no better known than before.
    for (const [name] of waiting) if (unanswered.has(name)) failing.add(name);
    unanswered = failing;
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

// Forgets what a constraint's URL has said about buyers (contract: Cache invalidation request).

export interface WantedInvalidation {
  brandId: BrandId;
  /** In the form of `constraintUrlKey`. */
  url: string;
  /** Lower case; absent: every user. */
  userAddress?: `0x${string}` | undefined;
  /** The perk's id on chain; absent: every perk. */
  collectionId?: number | undefined;
}

/** How many results counted until now; answers that are under way will not be kept. */
export const invalidateResults = (
  { database, businessTime }: { database: Database; businessTime: BusinessTime },
  wanted: WantedInvalidation,
): Promise<number> => database.atomically((tx) => invalidateUrl(tx, { ...wanted, now: businessTime() }));
