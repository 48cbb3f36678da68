/** GET event-config (contract: Endpoints, Event configuration). */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { CACHE_HEADER_NAMES, ifNoneMatch, unchanged } from '../headers.ts';
import { address, brandIdField, count } from '../shapes.ts';
import { anywhere } from '../shared-refusals.ts';
import type { EventsRefusalCode } from './refusals.ts';

export const eventConfigQuery = z.object({ brandId: brandIdField });

export const eventConfigResult = z.object({
  success: z.literal(true),
  brandId: address(),
  events: z.array(
    z
      .object({
        eventId: z.string().meta({ description: "The brand's own begin with `custom_`." }),
        eventType: z.string(),
        rewardAmount: z.int().meta({ description: 'RWT per claim.' }),
        maxClaims: z.int().meta({ description: 'Claims per user; -1: no limit.' }),
        cooldownHours: z.number().min(0).meta({ description: 'Between two claims of a user; 0: none.' }),
        detectionMethod: z
          .string()
          .meta({ description: 'How a page notices the event, such as `url_pattern`.' }),
        detectionConfig: z
          .object({
            urlPatterns: z.array(z.string()),
            successSelectors: z.array(z.string()),
            channels: z
              .array(z.string())
              .optional()
              .meta({ description: 'Chat channels in which it counts.' }),
          })
          .meta({ id: 'DetectionConfig' }),
        isCustom: z.boolean(),
        eventNameMapping: z.string().meta({
          description: "The brand's own name of the event, else `eventType`; `manual-event` takes either.",
        }),
      })
      .meta({ id: 'ConfiguredEvent' }),
  ),
  count: count(),
  eventNameMapping: z
    .record(z.string(), z.string())
    .optional()
    .meta({ id: 'EventNames', description: 'Other names of the events, if the brand has set any.' }),
});
export type EventConfigResult = z.output<typeof eventConfigResult>;

const { brandId } = demo;

export const eventConfigEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'eventConfig',
  tag: 'Events',
  method: 'get',
  path: '/event-config',
  prefixed: true,
  summary: "A brand's active events",
  description: 'May be kept for five minutes; changed rules still apply at once.',
  parameters: [{ in: 'query', schema: eventConfigQuery }, ifNoneMatch],
  examples: [{ summary: 'The demo brand', query: { brandId } }],
  answers: {
    200: {
      description: "The events, in the brand's own order.",
      body: named('EventConfig', eventConfigResult),
      headers: CACHE_HEADER_NAMES,
      example: {
        success: true,
        brandId,
        events: [
          {
            eventId: 'newsletter_subscribe',
            eventType: 'newsletter_subscribe',
            rewardAmount: 25,
            maxClaims: 1,
            cooldownHours: 24,
            detectionMethod: 'url_pattern',
            detectionConfig: {
              urlPatterns: ['/newsletter/thanks*'],
              successSelectors: ['.newsletter-success'],
            },
            isCustom: false,
            eventNameMapping: 'newsletter_subscribe',
          },
        ],
        count: 1,
      },
    },
    304: unchanged,
  },
  refusals: ['invalid_event_data', 'brand_not_found', ...anywhere],
};
