/** Reports how each request was answered and how long that took; nothing of what was in it. */
import type { Context, MiddlewareHandler } from 'hono';
import { stopwatch } from '../../lib/timers.ts';

export interface MeasuredRequest {
  method: string;
  /** The route's own pattern, so that there are as many as there are routes. */
  route: string;
  status: number;
  seconds: number;
}

export function measured(report: (request: MeasuredRequest) => void): MiddlewareHandler {
  return (context, next) => {
    const elapsedMs = stopwatch();
    return next().then(() => {
      const { method } = context.req;
      report({
        method: KNOWN.has(method) ? method : 'other',
        route: routeOf(context),
        status: context.res.status,
        seconds: elapsedMs() / 1000,
      });
    });
  };
}

/** The pattern of the route that answered; `unknown` where none did. */
export const routeOf = ({ req }: Context): string =>
  req.matchedRoutes.findLast(({ method }) => method === req.method)?.path ?? 'unknown';

/** Callers can invent methods, and each would become a series of its own. */
const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
