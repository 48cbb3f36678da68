/** Queues what brands are told of what was paid, minted and redeemed, once for each; what nobody may have heard goes back with its block. */
import {
  brandsToTell,
  type NewWebhookEvent,
  queueWebhookEvents,
  takeBackEvents,
} from '../../ledger/webhooks/queue-events.ts';
import { type WebhookEvent, webhookBody } from '../../rules/webhook-body.ts';
import type { Consumer, Fact } from './consumer.ts';

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
