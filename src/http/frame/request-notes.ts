/** Gives each request an id, and hands over what happened to it once it is answered. */
import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { stopwatch } from '../../lib/timers.ts';
import { routeOf } from './measured.ts';
import type { Observer } from './observer.ts';
import type { RequestVariables } from './request-record.ts';

export function requestNotes(deps: {
  clock: Clock;
  random: Random;
  observer: Pick<Observer, 'request' | 'withoutBodies'>;
}): MiddlewareHandler<RequestVariables> {
  return async (context, next) => {
    const elapsedMs = stopwatch();
    const atMs = deps.clock.now();
    // Random from the first digit on: people name a request by its beginning.
    const notes = { requestId: `req_${Buffer.from(deps.random.bytes(10)).toString('hex')}`, traces: [] };
    context.set('notes', notes);
    await next();
    context.header('X-Request-Id', notes.requestId);
    const { request, withoutBodies = false } = deps.observer;
    if (!request) return;
    const { body, traces } = context.get('notes');
    const copies = withoutBodies ? {} : { requestBody: body, responseBody: await bodyOf(context.res) };
    request({
      id: notes.requestId,
      atMs,
      method: context.req.method,
      path: context.req.path,
      route: routeOf(context),
      search: new URL(context.req.url).search,
      status: context.res.status,
      durationMs: Math.round(elapsedMs()),
      origin: context.req.header('origin'),
      requestBody: copies.requestBody,
      responseBody: copies.responseBody,
      traces,
    });
  };
}

const bodyOf = async (response: Response) => (response.body ? response.clone().text() : undefined);
