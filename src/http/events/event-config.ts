/** GET event-config (contract: Endpoints, Event configuration): may be kept for five minutes, and asked for again by its ETag. */
import type { Handler } from 'hono';
import type { EventConfig } from '../../actions/events/read-event-config.ts';
import { type EventConfigResult, eventConfigQuery } from '../../contract/events/event-config.ts';
import { problemsOf } from '../../contract/shapes.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { cacheableAnswer, entityTagOf } from '../frame/answer.ts';
import type { RequestVariables } from '../frame/request-record.ts';
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

const HOUR_MS = 3_600_000;

/** The contract's Event configuration. */
export function eventConfigReply({ brand, rules }: EventConfig): EventConfigResult {
  const { eventNameMapping } = brand.profile;
  const friendly = new Map(Object.entries(eventNameMapping ?? {}).map(([name, type]) => [type, name]));
  const events = rules.map(({ eventType, rewardAmount, maxClaims, cooldownMs, detail }) => ({
    eventId: detail.eventId,
    eventType,
    rewardAmount,
    maxClaims,
    cooldownHours: cooldownMs / HOUR_MS,
    detectionMethod: detail.detectionMethod,
    // Always lists, so that clients may go through them without a look.
    detectionConfig: { urlPatterns: [], successSelectors: [], ...detail.detectionConfig },
    isCustom: detail.isCustom,
    eventNameMapping: friendly.get(eventType) ?? eventType,
  }));
  return {
    success: true,
    brandId: brand.brandId,
    events,
    count: events.length,
    ...(eventNameMapping && { eventNameMapping }),
  };
}
