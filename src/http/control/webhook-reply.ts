/** Webhook endpoints and deliveries as the control API shows them; never a secret. */
import type { Delivery } from '../../ledger/webhooks/delivery-log.ts';
import type { WebhookEndpoint } from '../../ledger/webhooks/endpoints.ts';

const instant = (ms: number) => new Date(ms).toISOString();
const instantOrNull = (ms: number | null) => (ms === null ? null : instant(ms));

export const endpointReply = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  brandId: endpoint.brandId,
  url: endpoint.url,
  types: endpoint.types,
  isDefault: endpoint.isDefault,
  enabled: endpoint.disabledAt === null,
  disabledWhy: endpoint.disabledWhy,
  disabledAt: instantOrNull(endpoint.disabledAt),
  failingSince: instantOrNull(endpoint.failingSince),
  previousSecretUntil: instantOrNull(endpoint.previousSecretUntil),
  createdAt: instant(endpoint.createdAt),
});

export const deliveryReply = ({ createdAt, nextAttemptAt, deliveredAt, ...delivery }: Delivery) => ({
  ...delivery,
  createdAt: instant(createdAt),
  nextAttemptAt: delivery.state === 'waiting' ? instant(nextAttemptAt) : null,
  deliveredAt: instantOrNull(deliveredAt),
});
