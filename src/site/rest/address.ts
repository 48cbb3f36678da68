/** The address from which a request came, and how often one address may do something. */
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';

/** What a server hands on beside a request: the address itself, or Node's own request as `@hono/node-server` gives it. */
const origin = z.union([
  z.object({ address: z.string() }).transform(({ address }) => address),
  z
    .object({ incoming: z.object({ socket: z.object({ remoteAddress: z.string() }) }) })
    .transform(({ incoming }) => incoming.socket.remoteAddress),
]);

/** Undefined when the server does not say: then only accounts slow guessing down. IPv6 by its network of 64 bits. */
export function addressIn(from: unknown): string | undefined {
  const read = origin.safeParse(from);
  if (!read.success) return undefined;
  const address = read.data.replace(/^::ffff:(?=\d+\.)/, '');
  return address.includes(':') ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const [left, right] = [head, tail].map((half) => half.split(':').filter((group) => group !== ''));
  const missing = address.includes('::') ? 8 - (left?.length ?? 0) - (right?.length ?? 0) : 0;
  return [...(left ?? []), ...Array<string>(Math.max(0, missing)).fill('0'), ...(right ?? [])]
    .slice(0, 4)
    .join(':');
}

/** Addresses counted at once, some 10 MB; beyond them the one that came first is forgotten. */
const ADDRESSES_MAX = 100_000;

/** Counts what each address does in each span of time; in memory, so that a restart begins afresh. */
export function createAddressWindows({ clock }: { clock: Clock }, most: { count: number; ms: number }) {
  let span = 0;
  const counts = new Map<string, number>();
  /** Whether one more may pass; always, where the address is not known. */
  return (address: string | undefined): boolean => {
    if (address === undefined) return true;
    const now = Math.floor(clock.now() / most.ms);
    if (now !== span) counts.clear();
    span = now;
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    if (counts.size > ADDRESSES_MAX) counts.delete(counts.keys().next().value ?? '');
    return count <= most.count;
  };
}
