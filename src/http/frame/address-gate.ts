/** Limits how much one address may ask without a brand's key, before anything that costs more than a look into memory. */
import type { Context } from 'hono';
import type { UsedWindow } from '../../contract/headers.ts';
import { setRateHeaders } from './answer.ts';
import { type BrandKeyDeps, brandOfKey } from './brand-key.ts';
import { clientAddress, countedAddress, forwardedFacts, type ProxyTrust } from './client-address.ts';
import type { FrameStep } from './framed.ts';
import type { RequestVariables } from './request-record.ts';

export interface AddressGateDeps extends BrandKeyDeps {
  proxies: ProxyTrust;
  /** Counts a request against its address; absent where addresses have no limit. */
  countAddress?: ((address: string) => UsedWindow & { taken: boolean }) | undefined;
}

/**
 * Requests with a brand's key are not counted: the server of a brand sends all its users' events from one address.
 * The count is this process's own, so that it costs no commit and holds while the database is away.
 */
export function addressGate(
  { proxies, countAddress, verifyBrandKey }: AddressGateDeps,
  refuse: (context: Context, refusal: { code: 'too_many_requests'; window: UsedWindow }) => Response,
): FrameStep {
  if (!countAddress) return {};
  const count = (context: Context<RequestVariables>) => {
    const window = countAddress(countedAddress(clientAddress(forwardedFacts(context), proxies)));
    if (!window.taken) return refuse(context, { code: 'too_many_requests', window });
    setRateHeaders(context, window);
    return undefined;
  };
  return {
    before(context) {
      const asked = brandOfKey({ verifyBrandKey }, context);
      return asked ? asked.then((brandId) => (brandId ? undefined : count(context))) : count(context);
    },
  };
}

/** How far a subject's window is used up after a use; nothing is counted once it is. */
interface Use {
  taken: boolean;
  limit: number;
  remaining: number;
  /** When the window ends, on the clock that `now` reads. */
  resetAtMs: number;
}

/**
 * Returns the function that counts one use of a subject. A window begins with its first use. Above `subjectsMax` the
 * window that began first is forgotten, so that callers with many names cannot fill the memory.
 */
export function createUseWindows(options: {
  limit: number;
  windowMs: number;
  subjectsMax: number;
  now: () => number;
}): (subject: string) => Use {
  const { limit, windowMs, subjectsMax, now } = options;
  // A map keeps insertion order, and windows are of one length: the first of it is over first.
  const windows = new Map<string, { startedMs: number; used: number }>();

  return (subject) => {
    const nowMs = now();
    const isOver = (startedMs: number) => nowMs < startedMs || nowMs >= startedMs + windowMs;
    for (const [name, { startedMs }] of windows) {
      const isFull = windows.size >= subjectsMax && !windows.has(subject);
      if (!isFull && !isOver(startedMs)) break;
      windows.delete(name);
    }
    const window = windows.get(subject) ?? { startedMs: nowMs, used: 0 };
    windows.set(subject, window);
    const taken = window.used < limit;
    if (taken) window.used++;
    return { taken, limit, remaining: limit - window.used, resetAtMs: window.startedMs + windowMs };
  };
}
