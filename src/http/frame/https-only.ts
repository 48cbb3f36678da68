/** Refuses requests that came over plain HTTP (contract: Requests must use HTTPS). */
import type { Socket } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { cameByHttps, type ForwardedFacts, type ProxyTrust } from './addresses/client-address.ts';

/** What the connection and its proxies say about a request. */
export function forwardedFacts(context: Context): ForwardedFacts & { encrypted: boolean } {
  const socket: Socket | undefined = context.env?.incoming?.socket;
  return {
    remoteAddress: socket && getConnInfo(context).remote.address,
    forwardedFor: context.req.header('x-forwarded-for'),
    forwardedProto: context.req.header('x-forwarded-proto'),
    // Not from the URL: a caller can write `https:` into the request line.
    encrypted: socket !== undefined && 'encrypted' in socket && socket.encrypted === true,
  };
}

/** `refuse` makes the answer; nothing of the request is looked at before. */
export function httpsOnly(deps: {
  trust: ProxyTrust;
  refuse: (context: Context) => Response;
}): MiddlewareHandler {
  return async (context, next) => {
    if (cameByHttps(forwardedFacts(context), deps.trust)) return next();
    // Answered before the cross-origin rules, so the header that they would set is set here.
    context.header('Vary', 'Origin');
    return deps.refuse(context);
  };
}
