/** Counters of claims against the rewards that they count, and what is paid once against its claims. */
import {
  auditedCounters,
  type ClaimPlace,
  everyTotal,
  lastSequence,
  uncountedRewards,
} from '../ledger/audit-pages.ts';
import { eventKeyText } from '../ledger/rewards/claims.ts';
import { auditedOnceClaims, type OnceKey, rewardedTwice } from '../ledger/rewards/once-claims.ts';
import { type Audit, isWhole } from './audit.ts';

const COUNTERS_PER_PAGE = 500;
const REWARDS_PER_PAGE = 1_000;

/** Compares counts of everything, so it has nothing to say about a part. */
export async function verifyClaims(audit: Audit): Promise<void> {
  if (!isWhole(audit)) return;
  const { db, findings } = audit;
  const claimed = new Map<string, number>();
  // Rewards that a counter was found for, by event.
  const found = new Map<string, number>();
  let after: ClaimPlace | undefined;
  while (!audit.stopped()) {
    const page = await auditedCounters(db, { after, limit: COUNTERS_PER_PAGE });
    for (const counter of page) {
      findings.checked.counters += 1;
      const { brandId, eventType, userKey, claims, rewards } = counter;
      const event = eventKeyText(counter);
      claimed.set(event, (claimed.get(event) ?? 0) + claims);
      found.set(event, (found.get(event) ?? 0) + rewards);
      if (claims === rewards) continue;
      findings.add('claim_counter', {
        message: `a counter of ${eventType} says ${claims} claims, but there are ${rewards} rewards`,
        about: { brandId, eventType, userKey },
        expected: rewards,
        found: claims,
      });
    }
    after = page.at(-1);
    audit.progress({ part: 'counters', done: findings.checked.counters, of: undefined });
    await audit.breathe();
    if (page.length < COUNTERS_PER_PAGE) break;
  }
  for (const { brandId, eventType, claims } of audit.stopped() ? [] : await everyTotal(db)) {
    const sum = claimed.get(eventKeyText({ brandId, eventType })) ?? 0;
    if (sum === claims) continue;
    findings.add('claim_total', {
      message: `${eventType} says ${claims} claims in all, its counters add up to ${sum}`,
      about: { brandId, eventType },
      expected: sum,
      found: claims,
    });
  }
  const uncounted = [...audit.counted].some(([event, count]) => count !== (found.get(event) ?? 0));
  if (uncounted) await reportUncounted(audit);
}

/** Looks for the rewards without a counter, once their number shows that there are some. */
async function reportUncounted({ db, findings, breathe, stopped }: Audit): Promise<void> {
  const last = (await lastSequence(db)) ?? -1;
  for (let from = 0; from <= last && !stopped(); from += REWARDS_PER_PAGE) {
    const page = await uncountedRewards(db, { from, below: from + REWARDS_PER_PAGE });
    for (const { sequence, id, transactionId } of page) {
      const message = `the reward of sequence ${sequence} is not counted by any counter`;
      findings.add('reward_without_counter', {
        message,
        about: { sequence, reward: id, transaction: transactionId },
      });
    }
    await breathe();
  }
}

// What is paid once for ever against its rewards: each claim has one that counts, and nothing was rewarded again after
// it.

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
