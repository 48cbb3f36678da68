/** Unlocked achievements and claimed milestones against the rewards and streaks that they rest on. */
import { listBrands } from '../../ledger/brands/brands.ts';
import {
  claimedBy,
  grantedEver,
  longestStreaks,
  milestoneUsers,
  unlockedUsers,
  unlocksOf,
} from '../../ledger/engagement/audited-achievements.ts';
import { eventKeyText } from '../../ledger/rewards/claims.ts';
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

// Claimed milestones of streaks against the rewards that pay them, both ways, and against the streaks that reached
// them.

const BONUS = 'streak_milestone';

/** After the rewards, which are counted by event: each bonus that was not given up belongs to one claim. */
export async function verifyMilestones(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  for (const { brandId } of await listBrands(audit.db)) {
    let claimed = 0;
    const users = pagesOf(
      audit,
      (db, page) => milestoneUsers(db, { brandId, ...page }),
      (userKey) => userKey,
    );
    for await (const userKeys of users) claimed += await verifyMilestonesOf(audit, { brandId, userKeys });
    const granted = audit.counted.get(eventKeyText({ brandId, eventType: BONUS })) ?? 0;
    if (claimed === granted || audit.stopped()) continue;
    const message = `${granted} rewards of ${brandId} are bonuses of milestones, which users claimed ${claimed} times`;
    audit.findings.add('streak_milestone', {
      message,
      about: { brandId },
      expected: claimed,
      found: granted,
    });
  }
}

/** Returns how many bonuses these users have by rewards that were not given up. */
async function verifyMilestonesOf({ db, findings }: Audit, of: { brandId: BrandId; userKeys: string[] }) {
  let bonuses = 0;
  for (const { claim, reward, longest } of await claimedBy(db, of)) {
    const { userKey, streakType, days, bonus, rewardId } = claim;
    const about = { brandId: of.brandId, userKey, streak: streakType, days, reward: rewardId };
    if ((longest ?? 0) < days)
      findings.add('streak_milestone', {
        message: `${userKey} claimed the milestone of ${days} days, and their longest streak has ${longest ?? 0}`,
        about,
        expected: days,
        found: longest ?? 0,
      });
    if (rewardId === null) continue;
    if (reward?.releasedAt === null) bonuses += 1;
    const isPaidSo =
      reward?.eventType === BONUS &&
      reward.brandId === of.brandId &&
      reward.userKey === userKey &&
      reward.amount === bonus;
    if (isPaidSo) continue;
    const found = reward ? `${reward.amount} RWT to ${reward.userKey} for ${reward.eventType}` : null;
    findings.add('streak_milestone', {
      message: `the bonus of ${userKey} for ${days} days is not the reward ${rewardId}`,
      about,
      expected: `${bonus} RWT to ${userKey}`,
      found,
    });
  }
  return bonuses;
}
