/** The emulator's clock, as the control API has it. */
import { z } from 'zod';
import { PADDED_DURATION_FORM } from '../../lib/duration.ts';
import { CLOCK_CONDITION, CLOCK_CONDITIONS } from '../../rules/clock-condition.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { endpoint } from './control-endpoint.ts';
import type { ControlRefusalCode } from './refusals.ts';

const instant = () => z.iso.datetime();

const singleChange = z
  .strictObject({
    advance: z
      .union([z.string().regex(PADDED_DURATION_FORM), z.number().min(0)])
      .meta({ description: 'A duration such as `61s` or `1h30m`, or milliseconds.' }),
    set: z
      .union([z.string().regex(/\d/), z.number().min(0)])
      .meta({ description: 'An RFC 3339 time, or milliseconds since 1970.' }),
    freeze: z.boolean().meta({ description: 'Stops the clock, or lets it run again.' }),
  })
  .partial()
  .meta({ description: 'One of these. Time moves only forward.', minProperties: 1, maxProperties: 1 });

const untilCondition = z.strictObject({
  until: z
    .string()
    .regex(CLOCK_CONDITION)
    .meta({ description: `To the moment from which it holds: ${CLOCK_CONDITIONS.join(', ')}.` }),
  brand: z
    .string()
    .optional()
    .meta({ description: 'Whose event a cooldown is of, by id or domain, where several brands have it.' }),
});

export const clockChange = z.union([singleChange, untilCondition]);

export const clockResult = z.object({
  now: instant(),
  nowMs: z.int(),
  frozen: z.boolean(),
  offsetMs: z.int().meta({ description: 'How far the clock is ahead of real time.' }),
});

/** What fell due on the way. */
export const firedKinds = [
  'webhook-retry',
  'processor-retry',
  'checkout-expiry',
  'payment-arrival',
  'window-reset',
  'spend-reset',
  'cooldown',
  'streak-end',
  'board-end',
  'constraint-expiry',
  'token-expiry',
  'key-expiry',
  'session-expiry',
] as const;

export const movedClock = clockResult.extend({
  fired: z
    .array(
      z.object({
        at: instant(),
        kind: z.enum(firedKinds),
        what: z.string().meta({ description: 'What happened, in words.' }),
        id: z.string().optional().meta({ description: 'Of the webhook, event or session.' }),
      }),
    )
    .meta({ description: 'What fell due on the way, in its order; empty for `freeze`.' }),
  firedMore: z.int().meta({ description: 'How much more fell due than is listed.' }),
});

export const clockEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(['get', '/clock', 'showClock', 'Clock', 'Read the clock'], {
    answer: { description: 'The time.', body: named('Clock', clockResult) },
  }),
  endpoint(['post', '/clock', 'moveClock', 'Clock', 'Move, stop or start the clock'], {
    description:
      'Goes from one moment at which something falls due to the next, waits until its work is done, and answers once the chain has followed.',
    body: named('ClockChange', clockChange),
    example: { body: { advance: '61s' } },
    answer: {
      description: 'The new time, and what fell due on the way.',
      body: named('MovedClock', movedClock),
    },
    refusals: ['invalid_clock_change', 'condition_not_ahead'],
  }),
];
