/** The emulator's clock over the control API. */
import {
  clockProblem,
  type MovedClock,
  moveClock,
  type ClockState as ShownState,
  showClock,
  showDue,
  timeOf,
} from '../../contract/control/clock.ts';
import type { InputOf } from '../../contract/control/control-endpoint.ts';
import type { ControlRefusal } from '../../contract/control/refusals/control-refusals.ts';
import type { ClockState } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { type ClockCondition, LATEST_MS, parseClockCondition } from '../../rules/clock-condition.ts';
import { type ControlRoute, controlHandler } from './control-handler.ts';

export interface ControlClockDeps {
  clock: {
    state(): ClockState;
    /** Each resolves when what fell due on the way is done and the chain follows. */
    advance(ms: number): Promise<Fired>;
    set(nowMs: number): Promise<Fired>;
    freeze(frozen: boolean): Promise<void>;
    /** What falls due from now on, the earliest first, at most `limit`. */
    due(limit: number): Promise<Fired['items']>;
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
  items: (Omit<MovedClock['fired'][number], 'at'> & { atMs: number })[];
  more: number;
}

const NOTHING: Fired = { items: [], more: 0 };

/** As answers have it. */
export const shownClock = ({ nowMs, frozen, offsetMs }: ClockState): ShownState => ({
  now: new Date(nowMs).toISOString(),
  nowMs,
  frozen,
  offsetMs,
});

const shownItem = ({ atMs, ...item }: Fired['items'][number]) => ({
  at: new Date(atMs).toISOString(),
  ...item,
});

export function controlClock({ clock }: ControlClockDeps): ControlRoute[] {
  const shown = () => shownClock(clock.state());
  return [
    controlHandler(showClock, shown),
    controlHandler(showDue, async ({ query: { limit } }) => ({
      now: shown().now,
      due: (await clock.due(limit)).map(shownItem),
    })),
    controlHandler(moveClock, async ({ body }) => {
      const fired = await move(clock, body);
      if ('refusal' in fired) return fired;
      return {
        ...shown(),
        fired: fired.items.map(shownItem),
        firedMore: fired.more,
      };
    }),
  ];
}

async function move(
  clock: ControlClockDeps['clock'],
  change: InputOf<typeof moveClock>['body'],
): Promise<Fired | { refusal: ControlRefusal }> {
  if ('until' in change) {
    const condition = parseClockCondition(change.until);
    if (!condition) throw new Error('the contract takes a condition that cannot be read');
    const moment = await clock.momentOf(condition, { brand: change.brand });
    return 'refusal' in moment ? moment : clock.set(moment.atMs);
  }
  const { advance, set, freeze } = change;
  if (freeze !== undefined) {
    await clock.freeze(freeze);
    return NOTHING;
  }
  const { nowMs } = clock.state();
  if (advance !== undefined) {
    const ms = typeof advance === 'number' ? advance : (parseDuration(advance) ?? Number.NaN);
    return nowMs + ms < LATEST_MS ? clock.advance(ms) : { refusal: TOO_FAR };
  }
  const setMs = timeOf(set ?? '');
  if (setMs < nowMs) return { refusal: isBack(nowMs) };
  return setMs < LATEST_MS ? clock.set(setMs) : { refusal: TOO_FAR };
}

const TOO_FAR = clockProblem(
  'The clock ends with the year 9998',
  'Give an earlier time, or a shorter duration.',
);
const isBack = (nowMs: number) =>
  clockProblem(
    `The clock is at ${new Date(nowMs).toISOString()} and moves only forward.`,
    'Give a later time; `rewards serve --ephemeral --clock <time>` starts at any.',
  );
