/** The emulator's clock over the control API. */
import type { Handler } from 'hono';
import type { ControlRefusal } from '../../contract/control/refusals.ts';
import type { ClockState } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { CLOCK_CONDITIONS, type ClockCondition, parseClockCondition } from '../../rules/clock-condition.ts';
import { readJsonBody } from '../frame/body/json-body.ts';
import { BODY_LIMIT_BYTES, refuse } from './refuse.ts';

export interface ControlClockDeps {
  clock: {
    state(): ClockState;
    /** Each resolves when what fell due on the way is done and the chain follows. */
    advance(ms: number): Promise<Fired>;
    set(nowMs: number): Promise<Fired>;
    freeze(frozen: boolean): Promise<void>;
    /** The moment from which a condition holds; `brand` is an id or a domain. */
    momentOf(
      condition: ClockCondition,
      of: { brand?: string | undefined },
    ): Promise<{ atMs: number } | { refusal: ConditionRefusal }>;
  };
}

export type ConditionRefusal = Extract<ControlRefusal, { code: 'condition_not_ahead' | 'brand_not_found' }>;

/** What fell due while the clock moved, the earliest first, and how much more than is listed. */
export interface Fired {
  items: { atMs: number; kind: string; what: string; id?: string | undefined }[];
  more: number;
}

const NOTHING: Fired = { items: [], more: 0 };

export function controlClock({ clock }: ControlClockDeps): Record<string, Handler> {
  const reply = () => {
    const { nowMs, frozen, offsetMs } = clock.state();
    return { now: new Date(nowMs).toISOString(), nowMs, frozen, offsetMs };
  };
  const perform = async (change: ClockChange): Promise<Fired | { refusal: ConditionRefusal }> => {
    if ('advanceMs' in change) return clock.advance(change.advanceMs);
    if ('setMs' in change) return clock.set(change.setMs);
    if ('condition' in change) {
      const moment = await clock.momentOf(change.condition, change);
      return 'refusal' in moment ? moment : clock.set(moment.atMs);
    }
    await clock.freeze(change.frozen);
    return NOTHING;
  };
  return {
    showClock: (context) => context.json(reply()),
    async moveClock(context) {
      const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
      const change = parseClockChange('value' in body ? body.value : undefined, clock.state().nowMs);
      if ('problem' in change) return refuse(context, { code: 'invalid_clock_change', ...change.problem });
      const fired = await perform(change);
      if ('refusal' in fired) return refuse(context, fired.refusal);
      return context.json({
        ...reply(),
        fired: fired.items.map(({ atMs, ...item }) => ({ at: new Date(atMs).toISOString(), ...item })),
        firedMore: fired.more,
      });
    },
  };
}

type ClockChange =
  | { advanceMs: number }
  | { setMs: number }
  | { frozen: boolean }
  | { condition: ClockCondition; brand: string | undefined };
type Problem = { problem: { message: string; fix: string } };

const problem = (message: string, fix: string): Problem => ({ problem: { message, fix } });

/** Far enough for every rule, and representable as a date. */
const LATEST_MS = Date.UTC(9999, 0, 1);
const TOO_FAR = problem('The clock ends with the year 9998', 'Give an earlier time, or a shorter duration.');
const ONE_OF = problem(
  'The body asks for no single change of the clock',
  'Send one of {"advance":"61s"}, {"set":"2030-01-01T00:00:00Z"}, {"freeze":true}, {"until":"cooldown:alice@demo.example/purchase"}.',
);

function parseClockChange(body: unknown, nowMs: number): ClockChange | Problem {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return ONE_OF;
  const { advance, set, freeze, until, brand, ...unknown } = body as Record<string, unknown>;
  const given = [advance, set, freeze, until].filter((field) => field !== undefined);
  if (given.length !== 1 || Object.keys(unknown).length > 0) return ONE_OF;
  if (brand !== undefined && (until === undefined || typeof brand !== 'string')) return ONE_OF;
  if (until !== undefined) return parseUntil(until, brand as string | undefined);
  if (set !== undefined) return parseSet(set, nowMs);
  if (advance !== undefined) return parseAdvance(advance, nowMs);
  return typeof freeze === 'boolean' ? { frozen: freeze } : ONE_OF;
}

function parseUntil(until: unknown, brand: string | undefined): ClockChange | Problem {
  const condition = typeof until === 'string' ? parseClockCondition(until) : undefined;
  if (condition) return { condition, brand };
  return problem(
    `${shown(until)} is nothing that the clock can be moved to`,
    `Use one of ${CLOCK_CONDITIONS.join(', ')}.`,
  );
}

function parseSet(set: unknown, nowMs: number): ClockChange | Problem {
  const setMs = typeof set === 'number' ? set : typeof set === 'string' ? Date.parse(set) : Number.NaN;
  if (Number.isNaN(setMs)) return problem(`${shown(set)} is no time`, 'Write it as 2030-01-01T00:00:00Z.');
  if (setMs < nowMs) {
    return problem(
      `The clock is at ${new Date(nowMs).toISOString()} and moves only forward.`,
      'Give a later time; `rewards serve --ephemeral --clock <time>` starts at any.',
    );
  }
  return setMs < LATEST_MS ? { setMs } : TOO_FAR;
}

function parseAdvance(advance: unknown, nowMs: number): ClockChange | Problem {
  const isBack = typeof advance === 'number' ? advance < 0 : /^\s*-\d/.test(String(advance));
  if (isBack) {
    return problem(
      `${shown(advance)} goes back, and time moves only forward`,
      '`rewards snapshot restore <name>` brings an earlier state back, with its time.',
    );
  }
  const advanceMs =
    typeof advance === 'number' ? advance : typeof advance === 'string' ? parseDuration(advance) : undefined;
  if (advanceMs === undefined) {
    const unitless = typeof advance === 'string' && /^\s*\d+\s*$/.test(advance);
    return unitless
      ? problem(
          `"${advance.trim()}" has no unit`,
          `Write "${advance.trim()}s" for seconds, or m, h or d; a JSON number is milliseconds.`,
        )
      : problem(`${shown(advance)} is no duration`, 'Write it as 500ms, 90s, 15m, 36h or 1h30m.');
  }
  return nowMs + advanceMs < LATEST_MS ? { advanceMs } : TOO_FAR;
}

/** What was given, cut to what fits on a line. */
const shown = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80);
