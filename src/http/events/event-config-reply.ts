/** The contract's Event configuration. */
import type { EventConfig } from '../../actions/events/read-event-config.ts';
import type { EventConfigResult } from '../../contract/events/event-config.ts';

const HOUR_MS = 3_600_000;

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
