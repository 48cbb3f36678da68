/** Where users' streaks stand now, and what they multiply rewards by. */
import { readBrandsAndTime } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Database, Queries } from '../../ledger/database/database.ts';
import {
  claimedMilestones,
  findStreak,
  readStreaks,
  type StreakKey,
  userText,
} from '../../ledger/engagement/streaks.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import type { Brand } from '../../rules/brands/brand.ts';
import {
  DAILY,
  type StreakCalendar,
  type StreakStanding,
  standing,
  streakCalendar,
  streakTerms,
  termsOfType,
} from '../../rules/engagement/streak.ts';

interface ReadStreakDeps {
  database: Database;
  businessTime: BusinessTime;
}

/** Undefined when the brand does not exist; a user of whom it has heard nothing has zeros. */
export async function readStreak(deps: ReadStreakDeps, key: StreakKey): Promise<StreakStanding | undefined> {
  const found = await findWithTerms(deps, key);
  return found && standing(found.streak, found);
}

/** The same with the days of a year. */
export async function readStreakCalendar(
  deps: ReadStreakDeps,
  key: StreakKey,
): Promise<(StreakStanding & StreakCalendar) | undefined> {
  const found = await findWithTerms(deps, key);
  return found && { ...standing(found.streak, found), ...streakCalendar(found.streak, found) };
}

async function findWithTerms({ database: { db }, businessTime }: ReadStreakDeps, key: StreakKey) {
  const { brands, nowMs } = await readBrandsAndTime(db, { brandIds: [key.brandId], now: businessTime() });
  const brand = brands.get(key.brandId);
  if (!brand || nowMs === undefined) return undefined;
  const terms = termsOfType(streakTerms(brand), key.streakType);
  const [userKey, ...aliases] = brand.aliases ? (await keysOfUsers(db, [key]))(key) : [key.userKey];
  const own = { ...key, userKey };
  const streak = await findStreak(db, own);
  return { streak, terms, nowMs, claimed: await claimedMilestones(db, own, aliases) };
}

// What users' daily streaks multiply the rewards of events by: from the ledger, whatever the events themselves say.

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
