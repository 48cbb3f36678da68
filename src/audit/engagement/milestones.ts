/** Claimed milestones of streaks against the rewards that pay them, both ways, and against the streaks that reached them. */
import { listBrands } from '../../ledger/brands/brands.ts';
import { claimedBy, milestoneUsers } from '../../ledger/engagement/audited-achievements.ts';
import { eventKeyText } from '../../ledger/rewards/claims.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type Audit, isWhole, pagesOf } from '../audit.ts';

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
    for await (const userKeys of users) claimed += await verifyUsers(audit, { brandId, userKeys });
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
async function verifyUsers({ db, findings }: Audit, of: { brandId: BrandId; userKeys: string[] }) {
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
