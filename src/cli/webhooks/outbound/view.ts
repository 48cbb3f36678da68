/** Webhook endpoints and deliveries, for people. */
import type {
  AddedEndpoint,
  DeliveryDetail,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../../contract/control/webhooks.ts';
import type { Style } from '../../terminal/style.ts';

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
export function deliveryLine(delivery: WebhookDelivery, style: Style): string {
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

export const eventText = ({ body, deliveries }: DeliveryDetail, style: Style): string =>
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
