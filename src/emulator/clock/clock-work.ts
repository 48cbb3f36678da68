/** What works by the emulator's clock: the deliveries of webhooks, and the emulated payment processor. */
import type { Database } from '../../ledger/database/database.ts';
import { upcomingDeliveries, upcomingObjects } from '../../ledger/emulator/processor.ts';
import { scheduledAttempts } from '../../ledger/webhooks/delivery-log.ts';
import type { ClockWork, DueItem } from './due-items.ts';

interface WebhookWorkDeps {
  database: Database;
  /** What brands are told of the blocks so far is queued. */
  caughtUp: () => Promise<void>;
}

export const webhookWork = (
  { database: { db }, caughtUp }: WebhookWorkDeps,
  nudge: () => void,
): ClockWork => ({
  async upcoming(range) {
    await caughtUp();
    return (await scheduledAttempts(db, range)).map(({ atMs, eventId, type, url, attempts }) => ({
      atMs,
      kind: 'webhook-retry',
      id: eventId,
      what: `attempt ${attempts + 1} of ${type} to ${placeOf(url)}`,
    }));
  },
  isDone: async (passed) => (await scheduledAttempts(db, { ...passed, limit: 1 })).length === 0,
  nudge,
});

/** It hears of each move of the clock by itself. */
export const processorWork = ({ database: { db } }: { database: Database }): ClockWork => ({
  async upcoming(range) {
    const objects = await upcomingObjects(db, range);
    const deliveries = await upcomingDeliveries(db, range);
    return [
      ...objects.map(({ id, dueAt, body }): DueItem => {
        const expires = body.status === 'open';
        return {
          atMs: dueAt ?? 0,
          id,
          kind: expires ? 'checkout-expiry' : 'payment-arrival',
          what: expires ? 'the checkout session expires' : 'the payment of a checkout session is decided',
        };
      }),
      ...deliveries.map(
        ({ eventId, nextAt, attempts }): DueItem => ({
          atMs: nextAt ?? 0,
          kind: 'processor-retry',
          id: eventId,
          what: `attempt ${attempts.length + 1} of an event of the payment processor`,
        }),
      ),
    ];
  },
  async isDone(passed) {
    const range = { ...passed, limit: 1 };
    const [objects, deliveries] = [await upcomingObjects(db, range), await upcomingDeliveries(db, range)];
    return objects.length === 0 && deliveries.length === 0;
  },
  nudge() {},
});

/** A receiver without what its address may keep secret: user, password and query. */
const placeOf = (url: string) => (URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url);
