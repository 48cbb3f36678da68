/** What is paid once for ever against its rewards: each claim has one that counts, and nothing was rewarded again after it. */
import { auditedOnceClaims, type OnceKey, rewardedTwice } from '../ledger/rewards/once-claims.ts';
import { type Audit, isWhole } from './audit.ts';

const PER_PAGE = 500;

/** Like the counters of claims, it is compared as a whole. */
export async function verifyOnceClaims(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  const { db, findings } = audit;
  let after: OnceKey | undefined;
  while (!audit.stopped()) {
    const page = await auditedOnceClaims(db, { after, limit: PER_PAGE });
    for (const { claim, reward } of page) {
      const { brandId, eventType, userKey, field, value, rewardId } = claim;
      const isIts =
        reward?.releasedAt === null &&
        reward.brandId === brandId &&
        reward.eventType === eventType &&
        reward.userKey === userKey;
      if (isIts) continue;
      findings.add('once_claim', {
        message: `${field} ${value} of ${userKey} counts as rewarded, and its reward ${rewardId} is not there or came to nothing`,
        about: { brandId, eventType, userKey, reward: rewardId },
      });
    }
    const twice =
      page.length === 0
        ? []
        : await rewardedTwice(
            db,
            page.map(({ claim }) => claim.rewardId),
          );
    for (const { claim, again } of twice) {
      const { brandId, eventType, userKey, field, value } = claim;
      findings.add('once_claim', {
        message: `${field} ${value} of ${userKey} was rewarded again by the reward of sequence ${again.sequence}`,
        about: { brandId, eventType, userKey, reward: again.id },
      });
    }
    after = page.at(-1)?.claim;
    await audit.breathe();
    if (page.length < PER_PAGE) break;
  }
}
