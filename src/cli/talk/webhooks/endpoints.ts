/** `rewards webhooks endpoints` and `rewards webhooks deliveries`. */

import type { ControlCall } from '../../../client/control-call.ts';
import type { LedgerEndpoint } from '../../../contract/control/control-endpoint.ts';
import type {
  AddedEndpoint,
  DeliveryDetail,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointDetail,
} from '../../../contract/control/webhooks.ts';
import * as webhooks from '../../../contract/control/webhooks.ts';
import { usageError } from '../../machine/errors.ts';
import { asks } from '../../service/control.ts';
import { mapOf } from '../../setup/brand-flags.ts';
import type { Style } from '../../terminal/style.ts';

interface OfId {
  id: string;
}

export const listEndpoints = asks(webhooks.listWebhookEndpoints, {
  request: ({ brand, after, limit }: { brand?: string; after?: string; limit: number }) => ({
    query: { brand, after, limit },
  }),
  text: ({ endpoints: all, more }, style) =>
    all.length === 0
      ? style.dim('no endpoint yet: rewards webhooks endpoints add')
      : [
          ...all.map((one) => endpointText(one, style)),
          ...(more ? [style.dim(`more: --after ${all.at(-1)?.id}`)] : []),
        ].join('\n'),
});

export const showEndpoint = asks(webhooks.showWebhookEndpoint, {
  request:
    ({ id }: OfId) =>
    async (call) => ({ path: { id: await endpointId(call, id) } }),
  text: ({ latest, ...endpoint }, style) =>
    [endpointText(endpoint, style), ...latestLines(latest)].join('\n'),
});

export const addEndpoint = asks(webhooks.addWebhookEndpoint, {
  request: ({ brand: first, url: second, types }: { brand?: string; url?: string; types: string }) => {
    // One argument is the URL.
    const url = second ?? first;
    const brand = second === undefined ? undefined : first;
    if (url === undefined)
      throw usageError(
        'The URL is missing.',
        'Say where the brand listens: rewards webhooks endpoints add [brand] <url>.',
      );
    return { body: { brand, url, types } };
  },
  text: (added, style) => [endpointText(added, style), ...secretLines(added, style)].join('\n'),
});

export const setEndpoint = asks(webhooks.setWebhookEndpoint, {
  request: ({ id, 'setting=value': given }: OfId & { 'setting=value': string[] }) => {
    const body = mapOf(given, 'enabled=off');
    return async (call) => ({ path: { id: await endpointId(call, id) }, body });
  },
  text: endpointText,
});

export const enableEndpoint = asks(webhooks.setWebhookEndpoint, {
  request:
    ({ id }: OfId) =>
    async (call) => ({
      path: { id: await endpointId(call, id) },
      body: { enabled: 'on' },
    }),
  text: (endpoint, style) =>
    [
      endpointText(endpoint, style),
      style.dim(`  what it missed: rewards webhooks endpoints recover ${endpoint.id} --since <time>`),
    ].join('\n'),
});

export const removeEndpoint = asks(webhooks.removeWebhookEndpoint, {
  request:
    ({ id }: OfId) =>
    async (call) => ({ path: { id: await endpointId(call, id) } }),
  text: ({ removed }, style) => `${removed} ${style.dim('removed')}`,
});

export const rotateSecret = asks(webhooks.rotateWebhookSecret, {
  request:
    ({ id, overlap }: OfId & { overlap: string }) =>
    async (call) => ({
      path: { id: await endpointId(call, id) },
      body: { overlap },
    }),
  text: (endpoint, style) => secretLines(endpoint, style).join('\n'),
});

export const recoverEndpoint = asks(webhooks.recoverWebhooks, {
  request:
    ({ id, since }: OfId & { since: string }) =>
    async (call) => ({
      path: { id: await endpointId(call, id) },
      body: { since },
    }),
  text: ({ recovered }) =>
    recovered === 1 ? '1 delivery is sent again' : `${recovered} deliveries are sent again`,
});

interface ListOptions {
  brand?: string;
  endpoint?: string;
  state?: WebhookDelivery['state'];
  type?: WebhookDelivery['type'];
  subject?: string;
  limit: number;
}

export const listDeliveries = asks(webhooks.listDeliveries, {
  request:
    ({ brand, endpoint, state, type, subject, limit }: ListOptions) =>
    async (call) => ({
      query: { brand, endpoint: endpoint && (await endpointId(call, endpoint)), state, type, subject, limit },
    }),
  text: ({ deliveries: all }, style) =>
    all.length === 0
      ? style.dim('nothing was to be delivered')
      : all.map((one) => deliveryLine(one, style)).join('\n'),
});

const eventText = ({ body, deliveries }: DeliveryDetail, style: Style): string =>
  [
    ...deliveries.flatMap(({ log, ...delivery }) => [
      deliveryLine(delivery, style),
      ...log.map(
        ({ at, ms, status, why, answer }) =>
          `  ${at}  ${status ?? why}  ${ms} ms${answer ? style.dim(`  ${answer.slice(0, 80)}`) : ''}`,
      ),
    ]),
    body,
  ].join('\n');

export const showDelivery = asks(webhooks.showDelivery, {
  request:
    ({ id }: OfId) =>
    async (call) => ({ path: { id: await eventId(call, id) } }),
  text: eventText,
});

export const replayDelivery = asks(webhooks.replayDelivery, {
  request:
    ({ id, endpoint }: OfId & { endpoint?: string }) =>
    async (call) => ({
      path: { id: await eventId(call, id) },
      body: { endpoint },
    }),
  text: ({ replayed }) =>
    replayed === 0
      ? 'no endpoint that it went to is on: rewards webhooks endpoints enable'
      : `goes to ${replayed} ${replayed === 1 ? 'endpoint' : 'endpoints'} again`,
});

type Call = ControlCall<LedgerEndpoint>;

const LATEST = 'latest';

/** The id as it stands, unless it is `latest` and there is one. */
export async function endpointId(call: Call, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await call(webhooks.listWebhookEndpoints, { query: { limit: 1 } });
  return body.endpoints?.[0]?.id ?? id;
}

/** The same for an event. */
export async function eventId(call: Call, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await call(webhooks.listDeliveries, { query: { limit: 1 } });
  return body.deliveries?.[0]?.eventId ?? id;
}

const WHY = {
  gone: 'it answered 410',
  failing: 'it failed for five days',
  operator: 'turned off by hand',
};

/** `we_…  https://shop.example/hook  all types  on`. */
export function endpointText(endpoint: WebhookEndpoint, style: Style): string {
  const { id, brandId, url, types, isDefault, enabled, disabledWhy, failingSince } = endpoint;
  const state = enabled
    ? style.green('on')
    : style.yellow(`off${disabledWhy ? `: ${WHY[disabledWhy]}` : ''}`);
  return [
    id,
    style.bold(url),
    types.length === 0 ? 'all types' : types.join(', '),
    state,
    ...(enabled && failingSince ? [style.yellow(`fails since ${failingSince}`)] : []),
    style.dim(`${brandId}${isDefault ? ', default' : ''}`),
  ].join('  ');
}

/** `of the newest 12: 10 delivered, 2 waiting`. */
function latestLines(latest: WebhookEndpointDetail['latest']): string[] {
  const { deliveries, lastDeliveredAt, dueSince } = latest;
  const counts = (['delivered', 'waiting', 'held', 'failed'] as const)
    .filter((state) => latest[state] > 0)
    .map((state) => `${latest[state]} ${state}`);
  return [
    deliveries === 0 ? '  no delivery yet' : `  of the newest ${deliveries}: ${counts.join(', ')}`,
    ...(lastDeliveredAt === null ? [] : [`  last delivered ${lastDeliveredAt}`]),
    ...(dueSince === null ? [] : [`  due since ${dueSince}`]),
  ];
}

export function secretLines({ secret, previousSecretUntil }: AddedEndpoint, style: Style): string[] {
  if (secret === undefined) return [];
  return [
    `${style.bold('signing secret')}  ${secret}`,
    style.dim('  shown only now: store it with your secrets'),
    ...(previousSecretUntil === null
      ? []
      : [style.dim(`  the previous secret signs beside it until ${previousSecretUntil}`)]),
  ];
}

/** `evt_…  reward.distributed  delivered  1 attempt  https://…`. */
function deliveryLine(delivery: WebhookDelivery, style: Style): string {
  const { eventId, type, state, attempts, nextAttemptAt, url } = delivery;
  const colour = { delivered: style.green, waiting: style.bold, held: style.yellow, failed: style.red }[
    state
  ];
  return [
    eventId,
    type,
    colour(state),
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    ...(nextAttemptAt && attempts > 0 ? [`next ${nextAttemptAt}`] : []),
    style.dim(url ?? 'the endpoint is removed'),
  ].join('  ');
}
