/** Tells what was delivered, and sends an event once more. */
import type { BusinessTime, Database } from '../ledger/database/database.ts';
import type { DeliveryState } from '../ledger/schema/webhooks.ts';
import {
  type Delivery,
  listDeliveries,
  replayEvent,
  type ShownEvent,
  showEvent,
} from '../ledger/webhooks/delivery-log.ts';
import { findNamed } from './brands/named-brand.ts';

export interface DeliveriesDeps {
  database: Database;
  businessTime: BusinessTime;
}

/** Deliveries, the newest event first. */
export async function showDeliveries(
  { database: { db } }: Pick<DeliveriesDeps, 'database'>,
  filter: {
    brand?: string | undefined;
    endpointId?: string | undefined;
    state?: DeliveryState | undefined;
    limit: number;
  },
): Promise<{ deliveries: Delivery[] } | { refusal: { code: 'brand_not_found'; name: string } }> {
  const { brand: name, ...rest } = filter;
  if (name === undefined) return { deliveries: await listDeliveries(db, rest) };
  const brand = await findNamed(db, name);
  if (!brand) return { refusal: { code: 'brand_not_found', name } };
  return { deliveries: await listDeliveries(db, { ...rest, brandId: brand.brandId }) };
}

/** One event with all its attempts. */
export const showDelivery = (
  { database }: Pick<DeliveriesDeps, 'database'>,
  eventId: string,
): Promise<ShownEvent | undefined> => showEvent(database.db, eventId);

/** Sends an event once more under its id; returns to how many endpoints. Undefined when the log has no such event. */
export const replayDelivery = (
  { database, businessTime }: DeliveriesDeps,
  again: { eventId: string; endpointId?: string | undefined },
): Promise<number | undefined> =>
  database.atomically(async (tx) => {
    if (!(await showEvent(tx, again.eventId))) return undefined;
    return replayEvent(tx, { ...again, now: businessTime() });
  });
