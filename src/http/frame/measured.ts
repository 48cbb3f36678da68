/** Reports how each request was answered and how long that took; nothing of what was in it. */
import type { MiddlewareHandler } from 'hono';
import { stopwatch } from '../../lib/timers.ts';

export interface MeasuredRequest {
  method: string;
  /** The route's own pattern, so that there are as many as there are routes. */
  route: string;
  status: number;
  seconds: number;
}

export function measured(report: (request: MeasuredRequest) => void): MiddlewareHandler {
  return async (context, next) => {
    const elapsedMs = stopwatch();
    await next();
    const { method } = context.req;
    const route = context.req.matchedRoutes.findLast(({ method: of }) => of === method)?.path ?? 'unknown';
    report({
      method: KNOWN.has(method) ? method : 'other',
      route,
      status: context.res.status,
      seconds: elapsedMs() / 1000,
    });
  };
}

/** Callers can invent methods, and each would become a series of its own. */
const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
