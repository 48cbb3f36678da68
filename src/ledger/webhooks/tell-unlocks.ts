/** Queues what brands are told of achievements, in the commit that unlocks them. */
import type { BrandId } from '../../rules/brands/brand.ts';
import { webhookBody } from '../../rules/webhook-body.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { queueWebhookEvents, timeOfEvents } from './queue-events.ts';

/** An achievement that a user has reached. */
interface Unlock {
  brandId: BrandId;
  userKey: string;
  achievement: { type: string; name: string };
}

/** Returns how many deliveries are due now. An unlock stays when its block does not, so it is told of no transaction. */
export async function tellUnlocks(
  tx: Queries,
  { unlocked, newId, now }: { unlocked: readonly Unlock[]; newId: () => string; now: SqlTime },
): Promise<number> {
  const timestamp = unlocked.length === 0 ? undefined : await timeOfEvents(tx, now);
  if (timestamp === undefined) return 0;
  const type = 'achievement.unlocked' as const;
  return queueWebhookEvents(
    tx,
    unlocked.map(({ brandId, userKey, achievement }) => {
      const id = `evt_${newId()}`;
      const facts = {
        // A user who is known by an address alone has none.
        userEmail: userKey.includes('@') ? userKey : '',
        achievementId: achievement.type,
        achievementName: achievement.name,
        timestamp,
      };
      return {
        id,
        brandId,
        type,
        subject: `${brandId} ${achievement.type} ${userKey}`,
        body: webhookBody({ id, event: { type, facts } }),
        transactionId: null,
      };
    }),
    now,
  );
}
