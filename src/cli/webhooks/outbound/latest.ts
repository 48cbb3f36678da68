/** `latest` in place of an id: the endpoint that was added last, or the newest event that was to be delivered. */

import type { ControlCall } from '../../../client/control-call.ts';
import type { LedgerEndpoint } from '../../../contract/control/control-endpoint.ts';
import { listDeliveries, listWebhookEndpoints } from '../../../contract/control/webhooks.ts';

type Call = ControlCall<LedgerEndpoint>;

const LATEST = 'latest';

/** The id as it stands, unless it is `latest` and there is one. */
export async function endpointId(call: Call, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await call(listWebhookEndpoints, { query: {} });
  const newest = body.endpoints?.reduce((last, one) => (one.createdAt >= last.createdAt ? one : last));
  return newest?.id ?? id;
}

/** The same for an event. */
export async function eventId(call: Call, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await call(listDeliveries, { query: { limit: 1 } });
  return body.deliveries?.[0]?.eventId ?? id;
}
