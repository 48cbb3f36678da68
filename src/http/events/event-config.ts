/** GET event-config (contract: Endpoints): may be kept for five minutes, and asked for again by its ETag. */
import { createHash } from 'node:crypto';
import type { Handler } from 'hono';
import { readEventConfig } from '../../actions/events/read-event-config.ts';
import { BRAND_ID_PROBLEM } from '../../contract/events/brand-id.ts';
import { eventConfigQuery } from '../../contract/events/event-config.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { eventConfigReply } from './event-config-reply.ts';
import type { EventsHostDeps } from './host.ts';

/** Contract: Limits, Event-config cache. */
const CACHE_SECONDS = 300;

export function eventConfig(deps: EventsHostDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = eventConfigQuery.safeParse(context.req.query());
    if (!question.success) {
      const errors = [`brandId: ${BRAND_ID_PROBLEM}`];
      return deps.refuser.answer(context, { code: 'invalid_event_data', errors });
    }
    const { brandId } = question.data;
    const config = await readEventConfig(deps, brandId);
    if (!config) return deps.refuser.answer(context, { code: 'brand_not_found', brandId });
    const body = JSON.stringify(eventConfigReply(config));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
    const headers = { etag, 'cache-control': `public, max-age=${CACHE_SECONDS}` };
    const known = context.req
      .header('if-none-match')
      ?.split(',')
      .map((tag) => tag.trim().replace(/^W\//, ''));
    if (known?.includes(etag) || known?.includes('*')) return new Response(null, { status: 304, headers });
    return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } });
  };
}
