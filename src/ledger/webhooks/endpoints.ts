/** The endpoints of brands: where webhooks go, and the secrets that sign them. */
import { and, asc, desc, eq, inArray, isNotNull, lt, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { webhookDeliveries, webhookEndpoints } from '../schema/webhooks.ts';

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect;
/** What is given with a new endpoint; everything else begins empty. */
type NewEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'brandId' | 'url' | 'types' | 'isDefault' | 'secret' | 'createdAt'
>;

export async function addEndpoint(tx: Queries, endpoint: NewEndpoint): Promise<WebhookEndpoint> {
  const [added] = await tx
    .insert(webhookEndpoints)
    .values({ ...endpoint, pausedUntil: 0 })
    .returning();
  if (!added) throw new Error('an endpoint was not written');
  return added;
}

/** A brand's endpoints, oldest first. */
export const listEndpoints = (db: Queries, brandId: BrandId): Promise<WebhookEndpoint[]> =>
  db
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.brandId, brandId))
    .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id));

/** The endpoints of all brands that have exactly this address, oldest first. */
export const endpointsAt = (db: Queries, url: string): Promise<WebhookEndpoint[]> =>
  db
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.url, url))
    .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id));

export async function findEndpoint(db: Queries, id: string): Promise<WebhookEndpoint | undefined> {
  const [row] = await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id));
  return row;
}

/** The endpoint, locked until the commit. */
export async function lockEndpoint(tx: Queries, id: string): Promise<WebhookEndpoint | undefined> {
  const [row] = await tx.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)).for('update');
  return row;
}

/** The same for several, locked in one order; those that are removed are left out. */
export const lockEndpoints = (tx: Queries, ids: string[]): Promise<WebhookEndpoint[]> =>
  lockedOf(tx, { ids });

const lockedOf = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db
    .select()
    .from(webhookEndpoints)
    .where(isOneOf(webhookEndpoints.id, of.ids))
    .orderBy(asc(webhookEndpoints.id))
    .for('update'),
);

export async function changeEndpoint(
  tx: Queries,
  id: string,
  changed: Partial<Omit<WebhookEndpoint, 'id' | 'brandId' | 'createdAt'>>,
): Promise<void> {
  await tx.update(webhookEndpoints).set(changed).where(eq(webhookEndpoints.id, id));
}

/** Removes an endpoint with what was still on its way; what was delivered stays in the log. */
export async function removeEndpoint(tx: Queries, id: string): Promise<void> {
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id));
  await tx
    .delete(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, id), inArray(webhookDeliveries.state, ['waiting', 'held'])));
}

/** Turns an endpoint off: nothing more goes there, and what waits is held. */
export async function disableEndpoint(
  tx: Queries,
  id: string,
  off: { atMs: number; why: NonNullable<WebhookEndpoint['disabledWhy']> },
): Promise<void> {
  await changeEndpoint(tx, id, { disabledAt: off.atMs, disabledWhy: off.why });
  await tx
    .update(webhookDeliveries)
    .set({ state: 'held', lease: null, leaseUntil: 0 })
    .where(and(eq(webhookDeliveries.endpointId, id), eq(webhookDeliveries.state, 'waiting')));
}

/** The endpoints that were turned off for what they answered, so that somebody should look. */
export const endpointsTurnedOff = (db: Queries) =>
  db
    .select({
      id: webhookEndpoints.id,
      brandId: webhookEndpoints.brandId,
      why: sql<'gone' | 'failing'>`${webhookEndpoints.disabledWhy}`,
    })
    .from(webhookEndpoints)
    .where(
      and(isNotNull(webhookEndpoints.disabledAt), inArray(webhookEndpoints.disabledWhy, ['gone', 'failing'])),
    );

/** Endpoints of one brand or of all, newest first; `after`: only those that come after this one. */
export const newestEndpoints = (
  db: Queries,
  of: {
    brandId?: BrandId | undefined;
    after?: Pick<WebhookEndpoint, 'id' | 'createdAt'> | undefined;
    limit: number;
  },
): Promise<WebhookEndpoint[]> => {
  const { id, createdAt, brandId } = webhookEndpoints;
  const { after } = of;
  return db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        of.brandId && eq(brandId, of.brandId),
        after && or(lt(createdAt, after.createdAt), and(eq(createdAt, after.createdAt), lt(id, after.id))),
      ),
    )
    .orderBy(desc(createdAt), desc(id))
    .limit(of.limit);
};
