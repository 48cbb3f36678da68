/** Unlocked achievements against the rewards and streaks that unlocked them. */
import { listBrands } from '../../ledger/brands/brands.ts';
import {
  grantedEver,
  longestStreaks,
  unlockedUsers,
  unlocksOf,
} from '../../ledger/engagement/audited-achievements.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type Audit, isWhole, pagesOf } from '../audit.ts';

/**
 * An unlock stays when its block is taken back and when the brand asks for more, so it is held against every reward that the
 * user ever got. What only clients count cannot be counted again.
 */
export async function verifyAchievements(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  for (const { brandId } of await listBrands(audit.db)) {
    const users = pagesOf(
      audit,
      (db, page) => unlockedUsers(db, { brandId, ...page }),
      (userKey) => userKey,
    );
    for await (const userKeys of users) await verifyUsers(audit, { brandId, userKeys });
  }
}

async function verifyUsers({ db, findings }: Audit, of: { brandId: BrandId; userKeys: string[] }) {
  const unlocks = await unlocksOf(db, of);
  const granted = await grantedEver(db, of);
  const longest = await longestStreaks(db, of);
  for (const { userKey, achievementType, unlockedBy, unlockedAt, progress } of unlocks) {
    if (unlockedBy === null || unlockedBy === 'manual') continue;
    const { claims = 0, rwt = 0 } = granted.get(userKey) ?? {};
    const has = { claims, rwt_earned: rwt, streak_days: longest.get(userKey) ?? 0 }[unlockedBy];
    if (unlockedAt !== null && has >= progress) continue;
    findings.add('achievement_unlock', {
      message: `${achievementType} of ${userKey} was unlocked by ${progress} ${unlockedBy}, and the ledger has ${has}`,
      about: { brandId: of.brandId, userKey, achievement: achievementType },
      expected: `at most ${has}`,
      found: progress,
    });
  }
}
