/** Writes what brands are to be told, in the commit that makes it true: an event once, and a delivery for each endpoint. */
import { inArray } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { webhookBody } from '../../rules/webhook-body.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../schema/webhooks.ts';

/** An event that is true in this commit. `subject`: what it is about; a second one about the same is left out. */
export type NewWebhookEvent = Omit<typeof webhookEvents.$inferInsert, 'createdAt'>;

/** A statement of this many rows stays far below the number of values that a statement takes. */
const ROWS_MAX = 500;

/** What `now` says where any brand has an endpoint, else undefined; a service without one pays for nothing else. */
async function timeOfEvents(db: Queries, now: SqlTime): Promise<number | undefined> {
  const [row] = await db.select({ nowMs: now }).from(webhookEndpoints).limit(1);
  return row?.nowMs;
}

/** Which of these brands have an endpoint, and what `now` says; undefined where none has. */
export async function brandsToTell(
  db: Queries,
  { brandIds, now }: { brandIds: BrandId[]; now: SqlTime },
): Promise<{ brands: Set<BrandId>; nowMs: number | undefined }> {
  const rows = await inChunks(brandIds, (some) =>
    db
      .select({ brandId: webhookEndpoints.brandId, nowMs: now })
      .from(webhookEndpoints)
      .where(inArray(webhookEndpoints.brandId, some)),
  );
  return { brands: new Set(rows.map(({ brandId }) => brandId)), nowMs: rows[0]?.nowMs };
}

/**
 * Queues events for every endpoint of their brands that wants their type; what no endpoint wants is not written. What goes
 * to an endpoint that is turned off is held there. All are due at `now`. Returns how many deliveries are due.
 */
export async function queueWebhookEvents(
  tx: Queries,
  events: NewWebhookEvent[],
  now: SqlTime,
): Promise<number> {
  if (events.length === 0) return 0;
  const endpoints = await tx
    .select()
    .from(webhookEndpoints)
    .where(inArray(webhookEndpoints.brandId, [...new Set(events.map(({ brandId }) => brandId))]));
  const wanting = ({ brandId, type }: NewWebhookEvent) =>
    endpoints.filter(
      (one) => one.brandId === brandId && (one.types.length === 0 || one.types.includes(type)),
    );
  const wanted = events.filter((event) => wanting(event).length > 0);
  const queued = new Set<string>();
  for (let from = 0; from < wanted.length; from += ROWS_MAX) {
    const written = await tx
      .insert(webhookEvents)
      .values(wanted.slice(from, from + ROWS_MAX).map((event) => ({ ...event, createdAt: now })))
      .onConflictDoNothing()
      .returning({ id: webhookEvents.id });
    for (const { id } of written) queued.add(id);
  }
  const deliveries = wanted
    .filter(({ id }) => queued.has(id))
    .flatMap((event) =>
      wanting(event).map((endpoint) => ({
        eventId: event.id,
        endpointId: endpoint.id,
        state: endpoint.disabledAt === null ? ('waiting' as const) : ('held' as const),
        tries: 0,
        attempts: 0,
        nextAttemptAt: now,
        leaseUntil: 0,
      })),
    );
  for (let from = 0; from < deliveries.length; from += ROWS_MAX)
    await tx.insert(webhookDeliveries).values(deliveries.slice(from, from + ROWS_MAX));
  return deliveries.filter(({ state }) => state === 'waiting').length;
}

/**
 * Takes back events of transactions that may no longer be in a block. An event that no attempt was made for is forgotten,
 * and comes again with the block that holds its transaction next; any other stays as it is, since a receiver may have it.
 */
export async function takeBackEvents(tx: Queries, transactionIds: string[]): Promise<void> {
  const events = await inChunks(transactionIds, (some) =>
    tx.select({ id: webhookEvents.id }).from(webhookEvents).where(inArray(webhookEvents.transactionId, some)),
  );
  const ids = events.map(({ id }) => id);
  const deliveries = await inChunks(ids, (some) =>
    tx.select().from(webhookDeliveries).where(inArray(webhookDeliveries.eventId, some)).for('update'),
  );
  // A lease that ran out may have ended in a POST whose answer was never written down.
  const seen = new Set(
    deliveries.filter((one) => one.attempts > 0 || one.leaseUntil > 0).map(({ eventId }) => eventId),
  );
  const unseen = ids.filter((id) => !seen.has(id));
  await inChunks(unseen, async (some) => {
    await tx.delete(webhookDeliveries).where(inArray(webhookDeliveries.eventId, some));
    await tx.delete(webhookEvents).where(inArray(webhookEvents.id, some));
    return [];
  });
}

// Queues what brands are told of achievements, in the commit that unlocks them.

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
