/** What follows from booked payouts, mints and redemptions: leaderboards, achievements, webhooks. A new consumer is a value here. */

import { unlockByRewards } from '../../ledger/engagement/achievements.ts';
import { countPaidRewards } from '../../ledger/engagement/count-activity.ts';
import {
  brandsToTell,
  type NewWebhookEvent,
  queueWebhookEvents,
  takeBackEvents,
  tellUnlocks,
} from '../../ledger/webhooks/queue-events.ts';
import { type WebhookEvent, webhookBody } from '../../rules/webhook-body.ts';
import type { Consumer, Fact } from './consumer.ts';

/** Counts what was paid on the leaderboards, and takes it off again with its block. */
export const boards: Consumer = {
  name: 'boards',
  begins: 'at the first fact',
  async digest(tx, { kind, facts }) {
    const paid = facts.flatMap((fact) => (fact.of === 'reward' ? fact.reward : []));
    await countPaidRewards(tx, paid, kind === 'booked' ? 1 : -1);
    return 0;
  },
};

/** Unlocks achievements by what was paid, and tells the brands. An unlock stays when its block does not. */
const achievements: Consumer = {
  name: 'achievements',
  begins: 'now',
  async digest(tx, { kind, isGone, facts }, { clock, random, businessTime }) {
    if (kind === 'taken_back' || isGone) return 0;
    const unlock = (some: Fact[]) =>
      unlockByRewards(tx, {
        users: some.flatMap((fact) => (fact.of === 'reward' ? fact.reward : [])),
        nowMs: clock.now(),
      });
    const unlocked = await unlock(facts.filter(({ isRecovered }) => !isRecovered));
    await unlock(facts.filter(({ isRecovered }) => isRecovered));
    return tellUnlocks(tx, { unlocked, newId: () => random.uuid(), now: businessTime() });
  },
};

/** Queues what brands are told of what was paid, minted and redeemed, once for each; what nobody may have heard goes back with its block. */
export const webhooks: Consumer = {
  name: 'webhooks',
  begins: 'now',
  async digest(tx, { kind, isGone, transactionIds, facts }, { businessTime, random }) {
    if (kind === 'taken_back') await takeBackEvents(tx, transactionIds);
    if (kind === 'taken_back' || isGone || facts.length === 0) return 0;
    const now = businessTime();
    const { brands, nowMs } = await brandsToTell(tx, {
      brandIds: [...new Set(facts.map(({ brandId }) => brandId))],
      now,
    });
    if (nowMs === undefined) return 0;
    const told = facts.filter(({ brandId, isRecovered }) => !isRecovered && brands.has(brandId));
    const events = told.map((fact): NewWebhookEvent => {
      const id = `evt_${random.uuid()}`;
      const { event, subject } = eventOf(fact, nowMs);
      const { brandId, transactionId } = fact;
      return { id, brandId, type: event.type, subject, body: webhookBody({ id, event }), transactionId };
    });
    return queueWebhookEvents(tx, events, now);
  },
};

/** What a brand is told of a fact; `subject`: what it is about. */
function eventOf(fact: Fact, timestamp: number): { event: WebhookEvent; subject: string } {
  if (fact.of === 'reward') {
    const { id, brandId, userKey, userEmail, wallet, amount, eventType, hash } = fact.reward;
    const facts = {
      brandId,
      userId: userKey,
      email: userEmail ?? '',
      walletAddress: wallet,
      amount,
      eventType,
      transactionHash: hash,
      timestamp,
    };
    return { event: { type: 'reward.distributed', facts }, subject: id };
  }
  if (fact.of === 'redemption') {
    const { redemption, perkName } = fact.redemption;
    const facts = {
      userEmail: redemption.userEmail ?? '',
      perkId: redemption.perkId,
      perkName: perkName ?? '',
      redemptionCode: redemption.confirmationCode,
      timestamp,
    };
    return { event: { type: 'perk.redeemed', facts }, subject: redemption.id };
  }
  const { mint, userEmail, hash } = fact.mint;
  const facts = {
    userEmail: userEmail ?? '',
    sessionId: mint.sessionId,
    walletAddress: mint.wallet,
    mintTo: mint.kind,
    usdAmount: mint.usdCents / 100,
    rwtAmount: mint.rwtAmount,
    transactionHash: hash,
    timestamp,
  };
  return { event: { type: 'payment.minted', facts }, subject: mint.sessionId };
}

/** In the order in which those at one position digest the same facts. */
export const consumers: readonly Consumer[] = [boards, webhooks, achievements];
