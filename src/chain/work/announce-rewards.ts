/** Queues what brands are told of rewards that a block has paid, in the commit that books the block. */
import type { BusinessTime, Queries } from '../../ledger/database/database.ts';
import { paidRewards, queueWebhookEvents, timeOfEvents } from '../../ledger/webhooks/queue-events.ts';
import type { Random } from '../../lib/ids.ts';
import { webhookBody } from '../../rules/webhooks/body.ts';
import type { Announce } from '../follow/types.ts';
import { payoutsAmong, sequencesIn } from './count-paid-rewards.ts';

/** What is told of the rewards in a block; costs one small query where no brand has an endpoint. */
export const announceRewards =
  ({ random, businessTime }: { random: Pick<Random, 'uuid'>; businessTime: BusinessTime }): Announce =>
  async (tx: Queries, { transactions }) => {
    const paying = payoutsAmong(transactions);
    if (paying.length === 0) return 0;
    const now = businessTime();
    const timestamp = await timeOfEvents(tx, now);
    if (timestamp === undefined) return 0;
    const paid = await paidRewards(tx, {
      sequences: paying.flatMap(sequencesIn),
      transactionIds: paying.map(({ id }) => id),
    });
    const events = paid.map((reward) => {
      const id = `evt_${random.uuid()}`;
      const facts = {
        ...{ brandId: reward.brandId, userId: reward.userKey, email: reward.userEmail ?? '' },
        ...{ walletAddress: reward.wallet, amount: reward.amount, eventType: reward.eventType },
        ...{ transactionHash: reward.hash, timestamp },
      };
      return {
        ...{ id, brandId: reward.brandId, type: 'reward.distributed' as const, subject: reward.id },
        body: webhookBody({ id, event: { type: 'reward.distributed', facts } }),
        ...{ transactionId: reward.transactionId },
      };
    });
    return queueWebhookEvents(tx, events, now);
  };
