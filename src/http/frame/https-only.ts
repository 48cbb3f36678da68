/** Refuses requests that came over plain HTTP (contract: Requests must use HTTPS). */
import type { Socket } from 'node:net';
import type { Context } from 'hono';
import { cameByHttps, type ForwardedFacts, type ProxyTrust } from './addresses/client-address.ts';
import { setHeader } from './answer.ts';
import type { FrameStep } from './framed.ts';

/** What the connection and its proxies say about a request. */
export function forwardedFacts(context: Context): ForwardedFacts & { encrypted: boolean } {
  const socket: Socket | undefined = context.env?.incoming?.socket;
  return {
    remoteAddress: socket?.remoteAddress,
    forwardedFor: context.req.header('x-forwarded-for'),
    forwardedProto: context.req.header('x-forwarded-proto'),
    // Not from the URL: a caller can write `https:` into the request line.
    encrypted: socket !== undefined && 'encrypted' in socket && socket.encrypted === true,
  };
}

/** `refuse` makes the answer; nothing of the request is looked at before. */
export function httpsOnly(deps: { trust: ProxyTrust; refuse: (context: Context) => Response }): FrameStep {
  return {
    before(context) {
      if (cameByHttps(forwardedFacts(context), deps.trust)) return undefined;
      // Answered before the cross-origin rules, so the header that they would set is set here.
      setHeader(context, 'vary', 'Origin');
      return deps.refuse(context);
    },
  };
}
