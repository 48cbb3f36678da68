/** Where a user's streak stands now. */
import { readBrandsAndTime } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import { claimedMilestones, findStreak, type StreakKey } from '../../ledger/engagement/streaks.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import { type StreakStanding, standing, streakTerms, termsOfType } from '../../rules/engagement/streak.ts';

/** Undefined when the brand does not exist; a user of whom it has heard nothing has zeros. */
export async function readStreak(
  { database: { db }, businessTime }: { database: Database; businessTime: BusinessTime },
  key: StreakKey,
): Promise<StreakStanding | undefined> {
  const { brands, nowMs } = await readBrandsAndTime(db, { brandIds: [key.brandId], now: businessTime() });
  const brand = brands.get(key.brandId);
  if (!brand || nowMs === undefined) return undefined;
  const terms = termsOfType(streakTerms(brand), key.streakType);
  const [userKey, ...aliases] = brand.aliases ? (await keysOfUsers(db, [key]))(key) : [key.userKey];
  const own = { ...key, userKey };
  const streak = await findStreak(db, own);
  return standing(streak, { terms, nowMs, claimed: await claimedMilestones(db, own, aliases) });
}
