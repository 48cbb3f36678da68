/** What users' daily streaks multiply the rewards of events by: from the ledger, whatever the events themselves say. */
import type { Queries } from '../../ledger/database/database.ts';
import { readStreaks, userText } from '../../ledger/engagement/streaks.ts';
import type { Brand } from '../../rules/brands/brand.ts';
import { DAILY, standing, streakTerms } from '../../rules/engagement/streak.ts';

/** The multipliers of these users, in their order; 1 for a user without a streak. */
export async function streakMultipliers(
  tx: Queries,
  { users, nowMs }: { users: { brand: Brand; userKey: string }[]; nowMs: number },
): Promise<number[]> {
  const brandIds = [...new Set(users.map(({ brand }) => brand.brandId))];
  const userKeys = [...new Set(users.map(({ userKey }) => userKey))];
  const streaks = await readStreaks(tx, { brandIds, userKeys, streakType: DAILY });
  return users.map(({ brand, userKey }) => {
    const streak = streaks.get(userText({ brandId: brand.brandId, userKey }));
    return standing(streak, { terms: streakTerms(brand), nowMs, claimed: new Set() }).multiplier;
  });
}
