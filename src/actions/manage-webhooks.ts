/** Manages where a brand's webhooks go, and looks at what was delivered. A secret is told once, when it is made. */
import { type BusinessTime, type Database, type Queries, readTime } from '../ledger/database/database.ts';
import type { DeliveryState } from '../ledger/schema/webhooks.ts';
import {
  type Delivery,
  endpointHealth,
  listDeliveries,
  recoverDeliveries,
  replayEvent,
  type ShownEvent,
  showEvent,
} from '../ledger/webhooks/delivery-log.ts';
import {
  changeEndpoint,
  removeEndpoint as deleteEndpoint,
  disableEndpoint,
  listEndpoints as endpointsOf,
  findEndpoint,
  lockEndpoint,
  newestEndpoints,
  addEndpoint as storeEndpoint,
  type WebhookEndpoint,
} from '../ledger/webhooks/endpoints.ts';
import { type Reach, refuseUrl } from '../outgoing/target.ts';
import type { SettingProblem } from '../rules/brands/settings.ts';
import type { WebhookType } from '../rules/webhook-body.ts';
import { createWebhookSecret } from '../webhooks/signatures.ts';
import { findNamed, type ManageBrandsDeps, onlyBrand, withBrand } from './brands/named-brand.ts';

export interface ManageEndpointsDeps extends Pick<ManageBrandsDeps, 'database' | 'random'> {
  businessTime: BusinessTime;
  /** Where webhooks may go. */
  reach: Reach;
}

type EndpointRefusal =
  | { code: 'brand_not_found'; name: string }
  | { code: 'webhook_endpoint_not_found'; id: string }
  | { code: 'invalid_settings'; problems: SettingProblem[] };
export type EndpointOutcome<T> = T | { refusal: EndpointRefusal };

/** Every event is stored and sent once for each of them. */
const ENDPOINTS_MAX = 10;

const invalid = (setting: string, message: string): { refusal: EndpointRefusal } => ({
  refusal: { code: 'invalid_settings', problems: [{ setting, message }] },
});
const unknown = (id: string): { refusal: EndpointRefusal } => ({
  refusal: { code: 'webhook_endpoint_not_found', id },
});

/** The endpoints of one brand or of all, newest first; `after` is the one that was listed last, `more` says that there are others. */
export async function showEndpoints(
  { database: { db } }: Pick<ManageEndpointsDeps, 'database'>,
  wanted: { brand?: string | undefined; after?: string | undefined; limit: number },
): Promise<EndpointOutcome<{ endpoints: WebhookEndpoint[]; more: boolean }>> {
  const { brand: name, limit } = wanted;
  const brand = name === undefined ? undefined : await findNamed(db, name);
  if (name !== undefined && !brand) return { refusal: { code: 'brand_not_found', name } };
  const after = wanted.after === undefined ? undefined : await findEndpoint(db, wanted.after);
  if (wanted.after !== undefined && !after) return unknown(wanted.after);
  const found = await newestEndpoints(db, { brandId: brand?.brandId, after, limit: limit + 1 });
  return { endpoints: found.slice(0, limit), more: found.length > limit };
}

/** One endpoint, and how its newest deliveries stand at `nowMs`. */
export async function showEndpoint(
  deps: Pick<ManageEndpointsDeps, 'database' | 'businessTime'>,
  { id, deliveriesMax }: { id: string; deliveriesMax: number },
) {
  const { db } = deps.database;
  const endpoint = await findEndpoint(db, id);
  if (!endpoint) return unknown(id);
  const states = await endpointHealth(db, { endpointId: id, limit: deliveriesMax });
  return { endpoint, states, nowMs: await ledgerTime(deps, db) };
}

/** An endpoint, with its secret where that is new. */
interface Added {
  endpoint: WebhookEndpoint;
  secret?: string;
}

/** A URL that was not refused, as requests go there: without the line breaks and spaces that a parser leaves out. */
const asSent = (url: string) => new URL(url).href;

/**
 * Adds an endpoint, to the only brand where none is named; `isDefault`: the brand's default one gets the URL, and is only
 * added where there is none.
 */
export async function addEndpoint(
  deps: ManageEndpointsDeps,
  wish: { brand: string | undefined; url: string; types: WebhookType[]; isDefault: boolean },
): Promise<EndpointOutcome<Added>> {
  const problem = refuseUrl(deps.reach, wish.url);
  if (problem) return invalid('url', problem);
  const brand = wish.brand ?? (await onlyBrand(deps.database.db));
  if (brand === undefined)
    return invalid('brand', 'must be the id or a domain of a brand, since there is more than one, or none');
  const url = asSent(wish.url);
  const added = await deps.database.atomically((tx) =>
    withBrand<Added | { refusal: EndpointRefusal }>(tx, brand, async ({ brandId }) => {
      const present = await endpointsOf(tx, brandId);
      const standard = wish.isDefault ? present.find((one) => one.isDefault) : undefined;
      if (standard) {
        await changeEndpoint(tx, standard.id, { url });
        return { endpoint: { ...standard, url } };
      }
      if (present.length >= ENDPOINTS_MAX)
        return invalid(
          'url',
          `would be endpoint ${present.length + 1} of the brand; it may have ${ENDPOINTS_MAX}`,
        );
      const { types, isDefault } = wish;
      const secret = createWebhookSecret(deps.random);
      const id = `we_${deps.random.uuid()}`;
      const createdAt = await ledgerTime(deps, tx);
      const endpoint = await storeEndpoint(tx, { id, brandId, url, types, isDefault, secret, createdAt });
      return { endpoint, secret };
    }),
  );
  return added as EndpointOutcome<Added>;
}

/** Changes what is named. What turned off holds stays there until it is recovered. */
export async function setEndpoint(
  deps: ManageEndpointsDeps,
  id: string,
  change: { url?: string | undefined; types?: WebhookType[] | undefined; enabled?: boolean | undefined },
): Promise<EndpointOutcome<{ endpoint: WebhookEndpoint }>> {
  const problem = change.url === undefined ? undefined : refuseUrl(deps.reach, change.url);
  if (problem) return invalid('url', problem);
  return withEndpoint(deps, id, async (tx, endpoint) => {
    const { types = endpoint.types, enabled } = change;
    const url = change.url === undefined ? endpoint.url : asSent(change.url);
    await changeEndpoint(tx, id, { url, types });
    if (enabled === true) await changeEndpoint(tx, id, asNew);
    if (enabled === false && endpoint.disabledAt === null)
      await disableEndpoint(tx, id, { atMs: await ledgerTime(deps, tx), why: 'operator' });
    return { endpoint: (await lockEndpoint(tx, id)) ?? endpoint };
  });
}

/** An endpoint that is turned on has not failed yet. */
const asNew = {
  disabledAt: null,
  disabledWhy: null,
  failingSince: null,
  lastFailedAt: null,
  pausedUntil: 0,
};

/** Removes an endpoint and what was still to go there. */
export const removeEndpoint = (
  deps: ManageEndpointsDeps,
  id: string,
): Promise<EndpointOutcome<{ removed: string }>> =>
  withEndpoint(deps, id, async (tx) => {
    await deleteEndpoint(tx, id);
    return { removed: id };
  });

/** Gives an endpoint a new secret; the present one signs beside it for `overlapMs`. */
export const rotateSecret = (
  deps: ManageEndpointsDeps,
  id: string,
  { overlapMs }: { overlapMs: number },
): Promise<EndpointOutcome<{ endpoint: WebhookEndpoint; secret: string }>> =>
  withEndpoint(deps, id, async (tx, endpoint) => {
    const secret = createWebhookSecret(deps.random);
    const previous =
      overlapMs > 0
        ? { previousSecret: endpoint.secret, previousSecretUntil: (await ledgerTime(deps, tx)) + overlapMs }
        : { previousSecret: null, previousSecretUntil: null };
    await changeEndpoint(tx, id, { secret, ...previous });
    return { endpoint: { ...endpoint, secret, ...previous }, secret };
  });

/** Sends what an endpoint missed since a moment; it has to be on. */
export const recoverEndpoint = (
  deps: ManageEndpointsDeps,
  id: string,
  { sinceMs }: { sinceMs: number },
): Promise<EndpointOutcome<{ recovered: number }>> =>
  withEndpoint(deps, id, async (tx, endpoint) => {
    if (endpoint.disabledAt !== null)
      return invalid('enabled', `is off for ${id}: enable it first, or nothing is sent there`);
    // A receiver's wish for time is overruled as well.
    await changeEndpoint(tx, id, { pausedUntil: 0 });
    const lost = { endpointId: id, sinceMs, now: deps.businessTime() };
    return { recovered: await recoverDeliveries(tx, lost) };
  });

const ledgerTime = ({ businessTime }: Pick<ManageEndpointsDeps, 'businessTime'>, db: Queries) =>
  readTime({ db, now: businessTime() });

const withEndpoint = <T>(
  { database }: Pick<ManageEndpointsDeps, 'database'>,
  id: string,
  work: (tx: Queries, endpoint: WebhookEndpoint) => Promise<EndpointOutcome<T>>,
): Promise<EndpointOutcome<T>> =>
  database.atomically(async (tx) => {
    const endpoint = await lockEndpoint(tx, id);
    return endpoint ? work(tx, endpoint) : unknown(id);
  });

// Tells what was delivered, and sends an event once more.

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
    type?: WebhookType | undefined;
    subjects?: string[] | undefined;
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
