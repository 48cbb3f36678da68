/** Limits how much one address may ask without a brand's key, before anything that costs more than a look into memory. */
import type { Context } from 'hono';
import type { UsedWindow } from '../../../contract/headers.ts';
import { setRateHeaders } from '../answer.ts';
import { type BrandKeyDeps, brandOfKey } from '../brand-key.ts';
import type { FrameStep } from '../framed.ts';
import { forwardedFacts } from '../https-only.ts';
import type { RequestVariables } from '../request-record.ts';
import { clientAddress, countedAddress, type ProxyTrust } from './client-address.ts';

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
