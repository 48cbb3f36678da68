/** Limits how much one address may ask without a brand's key, before anything that costs more than a look into memory. */
import type { Context, MiddlewareHandler } from 'hono';
import { rateHeaders, type UsedWindow } from '../../../contract/rate-headers.ts';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { forwardedFacts } from '../https-only.ts';
import { clientAddress, countedAddress, type ProxyTrust } from './client-address.ts';

export interface AddressGateDeps {
  proxies: ProxyTrust;
  /** Counts a request against its address; absent where addresses have no limit. */
  countAddress?: ((address: string) => UsedWindow & { taken: boolean }) | undefined;
  /** The brand whose key came with the request. */
  verifyBrandKey: (authorization: string | undefined) => Promise<BrandId | undefined>;
}

/**
 * Requests with a brand's key are not counted: the server of a brand sends all its users' events from one address.
 * The count is this process's own, so that it costs no commit and holds while the database is away.
 */
export function addressGate(
  { proxies, countAddress, verifyBrandKey }: AddressGateDeps,
  refuse: (context: Context, refusal: { code: 'too_many_requests'; window: UsedWindow }) => Response,
): MiddlewareHandler {
  return async (context, next) => {
    if (!countAddress) return next();
    const authorization = context.req.header('authorization');
    if (authorization !== undefined && (await verifyBrandKey(authorization))) return next();
    const { taken, ...window } = countAddress(
      countedAddress(clientAddress(forwardedFacts(context), proxies)),
    );
    if (!taken) return refuse(context, { code: 'too_many_requests', window });
    for (const [name, value] of Object.entries(rateHeaders(window))) context.header(name, value);
    return next();
  };
}
