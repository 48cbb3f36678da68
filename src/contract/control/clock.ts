/** The emulator's clock, as the control API has it. */
import { z } from 'zod';
import { PADDED_DURATION_FORM } from '../../lib/duration.ts';
import { CLOCK_CONDITION, CLOCK_CONDITIONS } from '../../rules/clock-condition.ts';
import { named } from '../endpoint.ts';
import { type AnswerOf, endpoint, type Issues } from './control-endpoint.ts';
import { instant, listLimit, wrongLimit } from './fields.ts';
import type { ControlRefusal } from './refusals/control-refusals.ts';

const singleChange = z
  .strictObject({
    advance: z
      .union([z.string().regex(PADDED_DURATION_FORM), z.number().min(0)])
      .meta({ description: 'A duration such as `61s` or `1h30m`, or milliseconds.' }),
    set: z
      .union([z.string().regex(/\d/), z.number().min(0)])
      .refine((time) => !Number.isNaN(timeOf(time)))
      .meta({ description: 'An RFC 3339 time, or milliseconds since 1970.' }),
    freeze: z.boolean().meta({ description: 'Stops the clock, or lets it run again.' }),
  })
  .partial()
  .refine((change) => Object.values(change).filter((value) => value !== undefined).length === 1)
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

const clockChange = z.union([singleChange, untilCondition]);

/** Milliseconds since 1970. */
export const timeOf = (time: string | number): number => (typeof time === 'number' ? time : Date.parse(time));

/** Why a body is not a change of the clock. */
function wrongChange(_: Issues, sent: unknown): ClockProblem {
  const { advance, set, freeze, until, brand, ...unknown } = (sent ?? {}) as Record<string, unknown>;
  const given = [advance, set, freeze, until].filter((field) => field !== undefined);
  if (given.length !== 1 || Object.keys(unknown).length > 0 || freeze !== undefined) return ONE_OF;
  if (brand !== undefined && (until === undefined || typeof brand !== 'string')) return ONE_OF;
  if (until !== undefined)
    return clockProblem(
      `${shown(until)} is nothing that the clock can be moved to`,
      `Use one of ${CLOCK_CONDITIONS.join(', ')}.`,
    );
  if (set !== undefined) return clockProblem(`${shown(set)} is no time`, 'Write it as 2030-01-01T00:00:00Z.');
  const isBack = typeof advance === 'number' ? advance < 0 : /^\s*-\d/.test(String(advance));
  if (isBack)
    return clockProblem(
      `${shown(advance)} goes back, and time moves only forward`,
      '`rewards snapshot restore <name>` brings an earlier state back, with its time.',
    );
  if (typeof advance === 'string' && /^\s*\d+\s*$/.test(advance))
    return clockProblem(
      `"${advance.trim()}" has no unit`,
      `Write "${advance.trim()}s" for seconds, or m, h or d; a JSON number is milliseconds.`,
    );
  return clockProblem(`${shown(advance)} is no duration`, 'Write it as 500ms, 90s, 15m, 36h or 1h30m.');
}

type ClockProblem = Extract<ControlRefusal, { code: 'invalid_clock_change' }>;

export const clockProblem = (message: string, fix: string): ClockProblem => ({
  code: 'invalid_clock_change',
  message,
  fix,
});

const ONE_OF = clockProblem(
  'The body asks for no single change of the clock',
  'Send one of {"advance":"61s"}, {"set":"2030-01-01T00:00:00Z"}, {"freeze":true}, {"until":"cooldown:alice@demo.example/purchase"}.',
);

/** What was given, cut to what fits on a line. */
const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80);

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

const dueItem = z.object({
  at: instant(),
  kind: z.enum(firedKinds),
  what: z.string().meta({ description: 'What happens, in words.' }),
  id: z.string().optional().meta({ description: 'Of the webhook, event or session.' }),
});

const dueList = z.object({
  now: instant(),
  due: z.array(dueItem).meta({ description: 'The earliest first; empty when nothing lies ahead.' }),
});

const DUE_MAX = 500;

const movedClock = clockResult.extend({
  fired: z
    .array(dueItem)
    .meta({ description: 'What fell due on the way, in its order; empty for `freeze`.' }),
  firedMore: z.int().meta({ description: 'How much more fell due than is listed.' }),
});

export const showClock = endpoint('GET /clock', {
  id: 'showClock',
  tag: 'Clock',
  summary: 'Read the clock',
  answer: { description: 'The time.', body: named('Clock', clockResult) },
});

export const showDue = endpoint('GET /clock/due', {
  id: 'showDue',
  tag: 'Clock',
  summary: 'What falls due next',
  description: 'Attempts of webhooks, ends of checkouts, cooldowns, windows, tokens and keys that lie ahead.',
  query: z.object({ limit: listLimit(DUE_MAX).meta({ description: 'The most to list.' }) }),
  unfit: wrongLimit(DUE_MAX),
  example: { query: { limit: '10' } },
  answer: { description: 'What lies ahead.', body: named('DueList', dueList) },
  refusals: ['invalid_limit'],
});

export const moveClock = endpoint('POST /clock', {
  id: 'moveClock',
  tag: 'Clock',
  summary: 'Move, stop or start the clock',
  description:
    'Goes from one moment at which something falls due to the next, waits until its work is done, and answers once the chain has followed.',
  body: named('ClockChange', clockChange),
  unfit: wrongChange,
  example: { body: { advance: '61s' } },
  answer: {
    description: 'The new time, and what fell due on the way.',
    body: named('MovedClock', movedClock),
  },
  refusals: ['invalid_clock_change', 'condition_not_ahead'],
});

export type ClockState = AnswerOf<typeof showClock>;
export type MovedClock = AnswerOf<typeof moveClock>;

export type DueList = AnswerOf<typeof showDue>;

export const clockEndpoints = [showClock, showDue, moveClock];
