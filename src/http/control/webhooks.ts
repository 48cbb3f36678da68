/** Webhook endpoints, deliveries and the built-in inbox over the control API: the same routes whether an emulator or a database is behind them. */
import { explainDelivery } from '../../actions/delivery-signatures.ts';
import * as deliveries from '../../actions/manage-webhooks.ts';
import * as endpoints from '../../actions/manage-webhooks.ts';
import { type InboxDelivery, listInbox, receiveWebhook } from '../../contract/control/inbox.ts';
import {
  addWebhookEndpoint,
  HEALTH_DELIVERIES_MAX,
  listDeliveries,
  listWebhookEndpoints,
  recoverWebhooks,
  removeWebhookEndpoint,
  replayDelivery,
  rotateWebhookSecret,
  setWebhookEndpoint,
  showDelivery,
  showSignature,
  showWebhookEndpoint,
} from '../../contract/control/webhooks.ts';
import { readTime } from '../../ledger/database/database.ts';
import type { Delivery } from '../../ledger/webhooks/delivery-log.ts';
import type { WebhookEndpoint } from '../../ledger/webhooks/endpoints.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readRawBody } from '../frame/body.ts';
import { BODY_LIMIT_BYTES, type ControlRoute, controlHandler, refuse } from './control-handler.ts';

export interface ControlWebhooksDeps extends endpoints.ManageEndpointsDeps {
  /** Deliveries are due now; where another process delivers, it finds them by itself. */
  nudge?: (() => void) | undefined;
}

export const controlWebhooks = (deps: ControlWebhooksDeps): ControlRoute[] => [
  ...controlEndpoints(deps),
  ...controlDeliveries(deps),
];

const controlEndpoints = (deps: ControlWebhooksDeps): ControlRoute[] => [
  controlHandler(listWebhookEndpoints, async ({ query }) => {
    const shown = await endpoints.showEndpoints(deps, query);
    if ('refusal' in shown) return shown;
    return { endpoints: shown.endpoints.map(endpointReply), more: shown.more };
  }),
  controlHandler(showWebhookEndpoint, async ({ path: { id } }) => {
    const shown = await endpoints.showEndpoint(deps, { id, deliveriesMax: HEALTH_DELIVERIES_MAX });
    if ('refusal' in shown) return shown;
    return { ...endpointReply(shown.endpoint), latest: latestReply(shown) };
  }),
  controlHandler(addWebhookEndpoint, async ({ body: { brand, url, types = [], isDefault = false } }) => {
    const added = await endpoints.addEndpoint(deps, { brand, url, types, isDefault });
    if ('refusal' in added) return added;
    const { endpoint, secret } = added;
    return { ...endpointReply(endpoint), ...(secret !== undefined && { secret }) };
  }),
  controlHandler(setWebhookEndpoint, async ({ path, body }) => {
    const set = await endpoints.setEndpoint(deps, path.id, body);
    return 'refusal' in set ? set : endpointReply(set.endpoint);
  }),
  controlHandler(removeWebhookEndpoint, ({ path }) => endpoints.removeEndpoint(deps, path.id)),
  controlHandler(rotateWebhookSecret, async ({ path, body }) => {
    const rotated = await endpoints.rotateSecret(deps, path.id, { overlapMs: body.overlap });
    return 'refusal' in rotated ? rotated : { ...endpointReply(rotated.endpoint), secret: rotated.secret };
  }),
  controlHandler(recoverWebhooks, async ({ path, body: { since } }) => {
    const nowMs = await readTime({ db: deps.database.db, now: deps.businessTime() });
    const sinceMs = 'atMs' in since ? since.atMs : nowMs - since.agoMs;
    const outcome = await endpoints.recoverEndpoint(deps, path.id, { sinceMs });
    if (!('refusal' in outcome)) deps.nudge?.();
    return outcome;
  }),
];

const controlDeliveries = (deps: ControlWebhooksDeps): ControlRoute[] => [
  controlHandler(
    listDeliveries,
    async ({ query: { endpoint: endpointId, subject: subjects, ...filter } }) => {
      const shown = await deliveries.showDeliveries(deps, { ...filter, endpointId, subjects });
      return 'refusal' in shown ? shown : { deliveries: shown.deliveries.map(deliveryReply) };
    },
  ),
  controlHandler(showDelivery, async ({ path: { id } }) => {
    const shown = await deliveries.showDelivery(deps, id);
    if (!shown) return { refusal: { code: 'webhook_event_not_found', id } };
    const listed = shown.deliveries.map(({ log, ...delivery }) => ({
      ...deliveryReply(delivery),
      log: log.map(({ at, ms, status, why, answer, signedAt }) => ({
        at: new Date(at).toISOString(),
        ms,
        status,
        why,
        answer,
        signedAt: instantOrNull(signedAt),
      })),
    }));
    return { id, body: shown.body, deliveries: listed };
  }),
  controlHandler(showSignature, async ({ path: { id }, query: { at } }) => {
    const shown = await explainDelivery(deps, { eventId: id, atMs: at });
    if (!shown) return { refusal: { code: 'webhook_event_not_found', id } };
    return {
      id,
      body: shown.body,
      at: instant(shown.atMs),
      toleranceSeconds: shown.toleranceSeconds,
      endpoints: shown.endpoints.map(({ signedAtMs, signatures, ...endpoint }) => ({
        ...endpoint,
        signedAt: instant(signedAtMs),
        signatures: signatures.map(({ verdict, ...signature }) => ({ ...signature, ...verdict })),
      })),
    };
  }),
  controlHandler(replayDelivery, async ({ path: { id }, body }) => {
    const replayed = await deliveries.replayDelivery(deps, { eventId: id, endpointId: body.endpoint });
    if (replayed === undefined) return { refusal: { code: 'webhook_event_not_found', id } };
    deps.nudge?.();
    return { replayed };
  }),
];

const instant = (ms: number) => new Date(ms).toISOString();
const instantOrNull = (ms: number | null) => (ms === null ? null : instant(ms));

/** An endpoint as the control API shows it: never its secret. */
const endpointReply = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  brandId: endpoint.brandId,
  url: endpoint.url,
  types: endpoint.types,
  isDefault: endpoint.isDefault,
  enabled: endpoint.disabledAt === null,
  disabledWhy: endpoint.disabledWhy,
  disabledAt: instantOrNull(endpoint.disabledAt),
  failingSince: instantOrNull(endpoint.failingSince),
  lastFailedAt: instantOrNull(endpoint.lastFailedAt),
  pausedUntil: endpoint.pausedUntil > 0 ? instant(endpoint.pausedUntil) : null,
  previousSecretUntil: instantOrNull(endpoint.previousSecretUntil),
  createdAt: instant(endpoint.createdAt),
});

type ShownEndpoint = Exclude<Awaited<ReturnType<typeof endpoints.showEndpoint>>, { refusal: unknown }>;

function latestReply({ states, nowMs }: ShownEndpoint) {
  const of = (state: Delivery['state']) => states.find((one) => one.state === state);
  const count = (state: Delivery['state']) => of(state)?.deliveries ?? 0;
  const dueSince = of('waiting')?.dueSince ?? null;
  // What was delivered and waits again, since it was replayed, keeps no time of its delivery.
  return {
    deliveries: states.reduce((sum, { deliveries: some }) => sum + some, 0),
    delivered: count('delivered'),
    waiting: count('waiting'),
    held: count('held'),
    failed: count('failed'),
    lastDeliveredAt: instantOrNull(of('delivered')?.lastDeliveredAt ?? null),
    dueSince: dueSince !== null && dueSince <= nowMs ? instant(dueSince) : null,
  };
}

const deliveryReply = ({ createdAt, nextAttemptAt, deliveredAt, ...delivery }: Delivery) => ({
  ...delivery,
  createdAt: instant(createdAt),
  nextAttemptAt: delivery.state === 'waiting' ? instant(nextAttemptAt) : null,
  deliveredAt: instantOrNull(deliveredAt),
});

export interface ControlInboxDeps {
  inbox: {
    /** `url` is the address that was posted to. */
    receive(message: { url: string; headers: Record<string, string>; body: Uint8Array }): Promise<void>;
    list(choice: { limit: number; after?: string | undefined }): InboxDelivery[];
  };
}

/** The built-in receiver: `POST inbox` takes what the service's webhooks deliver, `GET inbox` shows it. */
export const controlInbox = ({ inbox }: ControlInboxDeps): ControlRoute[] => [
  {
    endpoint: receiveWebhook,
    // A sender's body is kept as it came, whatever it is.
    async handler(context) {
      const body = await readRawBody(context.req.raw, BODY_LIMIT_BYTES);
      if ('refusal' in body) {
        const { refusal } = body;
        return refuse(context, refusal.code === 'invalid_body' ? { code: 'invalid_body' } : refusal);
      }
      await inbox.receive({ url: context.req.url, headers: context.req.header(), body: body.bytes });
      return jsonAnswer(context, { received: true });
    },
  },
  controlHandler(listInbox, ({ query }) => ({ deliveries: inbox.list(query) })),
];
