/** The brand's events as far as a page can notice them, read from event-config (contract: Event configuration). */
import { isMap } from './browser.ts';

export interface EventRule {
  /** Sent as `eventType`. */
  eventType: string;
  /** A submitted form is what counts; otherwise the page itself. */
  isForm: boolean;
  /** Any of them, on the page where it happens; none: every page. */
  urlPatterns: string[];
  /** Any of them, visible; none: nothing need appear. */
  successSelectors: string[];
  /** After this time the same place may count again. */
  againAfterMs: number;
}

const HOUR_MS = 3_600_000;

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string' && text !== '') : [];

/** Leaves out what no page can notice: events of chats and servers, and what is not understood. */
export function readEventRules(config: Record<string, unknown>): EventRule[] {
  const rules: EventRule[] = [];
  for (const event of Array.isArray(config.events) ? config.events : []) {
    if (!isMap(event)) continue;
    const cooldownHours = Number(event.cooldownHours);
    const method = String(event.detectionMethod);
    const detection = isMap(event.detectionConfig) ? event.detectionConfig : {};
    const rule = {
      eventType: String(event.isCustom === true ? event.eventId : event.eventType),
      isForm: /^form/.test(method),
      urlPatterns: texts(detection.urlPatterns),
      successSelectors: texts(detection.successSelectors),
      // A daily visit counts again tomorrow, in a tab that stayed open; without a cooldown only a new page does.
      againAfterMs: cooldownHours > 0 && event.maxClaims !== 1 ? cooldownHours * HOUR_MS : Infinity,
    };
    const hasSign = rule.isForm || rule.urlPatterns.length > 0 || rule.successSelectors.length > 0;
    if (hasSign && method !== 'manual') rules.push(rule);
  }
  return rules;
}
