/** Gives the brands of a fixture the webhook endpoints that it names; the built-in inbox is where this stack listens now. */
import type { Database } from '../../ledger/database/database.ts';
import { addEndpoint, changeEndpoint, listEndpoints } from '../../ledger/webhooks/endpoints.ts';
import type { Clock } from '../../lib/clock.ts';
import type { FixtureBrand } from '../fixture/fixture.ts';

/** A brand that has an endpoint keeps what it has, but for the inbox, whose port may be another after each start. */
export async function openWebhooks(
  { database, clock }: { database: Database; clock: Pick<Clock, 'now'> },
  brands: readonly FixtureBrand[],
  inboxUrl: string,
): Promise<void> {
  for (const { brand, webhook } of brands) {
    if (!webhook) continue;
    const { brandId } = brand;
    const id = `we_${brandId}`;
    const url = new URL('url' in webhook ? webhook.url : inboxUrl).href;
    await database.atomically(async (tx) => {
      const present = await listEndpoints(tx, brandId);
      const own = present.find((one) => one.id === id);
      if (own && 'inbox' in webhook && isInbox(own.url)) await changeEndpoint(tx, id, { url });
      if (present.length > 0) return;
      await addEndpoint(tx, {
        id,
        brandId,
        url,
        types: [],
        isDefault: true,
        secret: webhook.secret,
        createdAt: clock.now(),
      });
    });
  }
}

const isInbox = (url: string) => new URL(url).pathname === '/_rewards/inbox';
