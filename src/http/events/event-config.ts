/** GET event-config (contract: Endpoints): may be kept for five minutes, and asked for again by its ETag. */
import type { Handler } from 'hono';
import type { EventConfig } from '../../actions/events/read-event-config.ts';
import { eventConfigQuery } from '../../contract/events/event-config.ts';
import { problemsOf } from '../../contract/shapes.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { cacheableAnswer, entityTagOf } from '../frame/entity-tag.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import { eventConfigReply } from './event-config-reply.ts';
import type { EventsRefuser } from './refuser.ts';

export interface EventConfigDeps {
  /** `actions/events/read-event-config` with its deps bound. */
  readEventConfig: (brandId: BrandId) => Promise<EventConfig | undefined>;
  refuser: Pick<EventsRefuser, 'answer'>;
}

/** Contract: Limits, Event-config cache. */
const CACHE_SECONDS = 300;

export function eventConfig(deps: EventConfigDeps): Handler<RequestVariables> {
  return async (context) => {
    const question = eventConfigQuery.safeParse(context.req.query());
    if (!question.success) {
      const errors = problemsOf(question.error);
      return deps.refuser.answer(context, { code: 'invalid_event_data', errors });
    }
    const { brandId } = question.data;
    const config = await deps.readEventConfig(brandId);
    if (!config) return deps.refuser.answer(context, { code: 'brand_not_found', brandId });
    const text = JSON.stringify(eventConfigReply(config));
    const headers = {
      'content-type': 'application/json',
      'cache-control': `public, max-age=${CACHE_SECONDS}`,
    };
    return cacheableAnswer(context.req.raw, { text, etag: entityTagOf(text), headers });
  };
}
