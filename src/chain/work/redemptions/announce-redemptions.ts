/** Queues what brands are told of perks that a block shows as redeemed, in the commit that books the block. */
import type { BusinessTime, Queries } from '../../../ledger/database/database.ts';
import { doneBy } from '../../../ledger/perks/redemptions.ts';
import { queueWebhookEvents, timeOfEvents } from '../../../ledger/webhooks/queue-events.ts';
import type { Random } from '../../../lib/ids.ts';
import { webhookBody } from '../../../rules/webhooks/body.ts';
import type { Announce } from '../../follow/types.ts';

/** Costs nothing where a block redeems nothing. */
export const announceRedemptions =
  ({ random, businessTime }: { random: Pick<Random, 'uuid'>; businessTime: BusinessTime }): Announce =>
  async (tx: Queries, { transactions }) => {
    const done = transactions.filter(({ purpose, outcome }) => purpose === 'redeem' && outcome === 'done');
    if (done.length === 0) return 0;
    const now = businessTime();
    const timestamp = await timeOfEvents(tx, now);
    if (timestamp === undefined) return 0;
    const redeemed = await doneBy(
      tx,
      done.map(({ id }) => id),
    );
    const events = redeemed.map(({ redemption, perkName, transactionId }) => {
      const id = `evt_${random.uuid()}`;
      const facts = {
        userEmail: redemption.userEmail ?? '',
        perkId: redemption.perkId,
        perkName: perkName ?? '',
        redemptionCode: redemption.confirmationCode,
        timestamp,
      };
      return {
        ...{ id, brandId: redemption.brandId, type: 'perk.redeemed' as const, subject: redemption.id },
        body: webhookBody({ id, event: { type: 'perk.redeemed', facts } }),
        ...{ transactionId },
      };
    });
    return queueWebhookEvents(tx, events, now);
  };
