/** `latest` in place of an id: the endpoint that was added last, or the newest event that was to be delivered. */
import type { Client } from '../../../client/create-client.ts';

type Webhooks = Client['control']['webhooks'];

const LATEST = 'latest';

/** The id as it stands, unless it is `latest` and there is one. */
export async function endpointId({ endpoints }: Webhooks, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await endpoints.list({});
  const newest = body.endpoints?.reduce((last, one) => (one.createdAt >= last.createdAt ? one : last));
  return newest?.id ?? id;
}

/** The same for an event. */
export async function eventId({ deliveries }: Webhooks, id: string): Promise<string> {
  if (id !== LATEST) return id;
  const { body } = await deliveries.list({ limit: 1 });
  return body.deliveries?.[0]?.eventId ?? id;
}
