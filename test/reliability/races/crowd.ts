/** Many callers who want the same thing at the same moment. */
import { clientOf } from '../../kits/service/service.ts';

export const fixture = new URL('./fixture.yaml', import.meta.url).pathname;
const crowd = { brandId: `0x${'e'.repeat(40)}`, domain: 'crowd.example' };
const limited = { brandId: `0x${'1d'.repeat(20)}`, domain: 'limited.example' };
const thin = { brandId: `0x${'de'.repeat(20)}`, domain: 'thin.example' };
export type Client = Pick<ReturnType<typeof clientOf>, 'post' | 'payouts' | 'escrowOf'>;
export { clientOf };
export const brandIds = { crowd: crowd.brandId, thin: thin.brandId, limited: limited.brandId };

const senders: Record<string, typeof crowd> = { five: thin, four: limited };

/** Sends all events, each through the next of the clients. */
export async function rush(clients: Client[], events: { eventType: string; userEmail: string }[]) {
  return Promise.all(
    events.map(({ eventType, userEmail }, n) => {
      const client = clients[n % clients.length];
      if (!client) throw new Error('nobody to ask');
      const brand = senders[eventType] ?? crowd;
      return client.post('/rewards-api/manual-event', { ...brand, eventType, userEmail });
    }),
  );
}

export const people = (count: number, tag: string) =>
  Array.from({ length: count }, (_, n) => `${tag}-${n}@people.example`);

/** How often each status was answered. */
export function statuses(answers: { status: number }[]): Record<number, number> {
  const counted: Record<number, number> = {};
  for (const { status } of answers) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}
