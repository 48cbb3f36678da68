/** The emulator's clock over the control API. */
import type { Handler } from 'hono';
import type { ClockState } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { readJsonBody } from '../frame/json-body.ts';
import { BODY_LIMIT_BYTES, refuse } from './refuse.ts';

export interface ControlClockDeps {
  clock: {
    state(): ClockState;
    /** Each resolves when the chain follows and what became due is under way. */
    advance(ms: number): Promise<void>;
    set(nowMs: number): Promise<void>;
    freeze(frozen: boolean): Promise<void>;
  };
}

export function controlClock({ clock }: ControlClockDeps): Record<string, Handler> {
  const reply = () => {
    const { nowMs, frozen, offsetMs } = clock.state();
    return { now: new Date(nowMs).toISOString(), nowMs, frozen, offsetMs };
  };
  return {
    showClock: (context) => context.json(reply()),
    async moveClock(context) {
      const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
      const change = 'value' in body ? parseClockChange(body.value, clock.state().nowMs) : undefined;
      if (!change) return refuse(context, { code: 'invalid_clock_change' });
      if ('advanceMs' in change) await clock.advance(change.advanceMs);
      else if ('setMs' in change) await clock.set(change.setMs);
      else await clock.freeze(change.frozen);
      return context.json(reply());
    },
  };
}

type ClockChange = { advanceMs: number } | { setMs: number } | { frozen: boolean };

/** Far enough for every rule, and representable as a date. */
const LATEST_MS = Date.UTC(9999, 0, 1);

function parseClockChange(body: unknown, nowMs: number): ClockChange | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { advance, set, freeze } = body as Record<string, unknown>;
  if ([advance, set, freeze].filter((field) => field !== undefined).length !== 1) return undefined;
  if (typeof freeze === 'boolean') return { frozen: freeze };
  if (set !== undefined) {
    const setMs = typeof set === 'number' ? set : typeof set === 'string' ? Date.parse(set) : Number.NaN;
    return setMs >= nowMs && setMs < LATEST_MS ? { setMs } : undefined;
  }
  const advanceMs =
    typeof advance === 'number' ? advance : typeof advance === 'string' ? parseDuration(advance) : undefined;
  if (advanceMs === undefined || !(advanceMs >= 0) || nowMs + advanceMs >= LATEST_MS) return undefined;
  return { advanceMs };
}
