/** Moves the emulator's clock from one moment at which something falls due to the next, and tells what that was. */
import type { firedKinds } from '../../contract/control/clock.ts';
import type { Fired } from '../../http/control/clock.ts';
import type { TimeRange } from '../../ledger/database/database.ts';
import type { AdjustableClock } from '../../lib/clock.ts';
import { createMutex } from '../../lib/mutex.ts';
import { delay, stopwatch } from '../../lib/timers.ts';
import { LATEST_MS } from '../../rules/clock-condition.ts';

/** Something that happens, or has happened, at a moment of the clock. */
export interface DueItem {
  atMs: number;
  kind: (typeof firedKinds)[number];
  what: string;
  id?: string | undefined;
}

/** A part of the stack that works by the clock, such as what delivers webhooks. */
export interface ClockWork {
  /** What falls due, the earliest first. */
  upcoming(range: TimeRange): Promise<DueItem[]>;
  /** Whether nothing is left to do of what fell due in a stretch of time that has passed. */
  isDone(passed: { afterMs: number; untilMs: number }): Promise<boolean>;
  /** The clock has moved. */
  nudge(): void;
}

/** A limit that ends by itself: nothing is done when it does. */
export interface ClockLimit {
  /** What ends, the earliest first, and how much ends in all, beyond the range's limit too. */
  ending(range: TimeRange): Promise<{ items: DueItem[]; total: number }>;
}

interface MoveClockDeps {
  clock: AdjustableClock;
  work: ClockWork[];
  limits: ClockLimit[];
  /** Keeps the clock's state for the next run, and makes the chain's time follow it. */
  follow: () => Promise<void>;
}

interface MoveClockSettings {
  /** What an answer lists. */
  firedMax: number;
  /** Moments at which one move stops; what falls due later is worked off at its end. */
  stopsMax: number;
  /** How long a stop waits for its work, in real time … */
  stopWaitMs: number;
  /** … and all stops of a move together. */
  moveWaitMs: number;
  /** How often a stop looks whether its work is done. */
  lookEveryMs: number;
}

/** Moves of the clock, one after the other. */
export function createClockMoves(deps: MoveClockDeps, settings: MoveClockSettings) {
  const { clock } = deps;
  const exclusive = createMutex();
  const moving = { ...deps, slow: { untilMs: Number.MIN_SAFE_INTEGER } };
  return {
    /** What falls due from now on, the earliest first, at most `limit`. */
    due: async (limit: number): Promise<DueItem[]> => {
      const range = { afterMs: clock.now(), untilMs: LATEST_MS, limit };
      const ahead = await Promise.all([
        ...deps.work.map((one) => one.upcoming(range)),
        ...deps.limits.map(async (one) => (await one.ending(range)).items),
      ]);
      return ahead
        .flat()
        .sort((a, b) => a.atMs - b.atMs)
        .slice(0, limit);
    },
    advance: (ms: number): Promise<Fired> =>
      exclusive(() => {
        let leftMs = ms;
        const jump = (byMs: number) => {
          leftMs -= byMs;
          clock.advance(byMs);
        };
        // Time that passes on the way comes on top, as it would after one jump.
        return move(moving, settings, {
          untilMs: clock.now() + ms,
          jump,
          arrive: () => jump(Math.max(0, leftMs)),
        });
      }),
    set: (nowMs: number): Promise<Fired> =>
      exclusive(() =>
        move(moving, settings, {
          untilMs: nowMs,
          jump: clock.advance,
          arrive: () => clock.set(Math.max(nowMs, clock.now())),
        }),
      ),
    freeze: (frozen: boolean): Promise<void> =>
      exclusive(async () => {
        if (frozen) clock.freeze();
        else clock.run();
        await deps.follow();
        nudge(deps);
      }),
  };
}

const nudge = ({ work }: Pick<MoveClockDeps, 'work'>) => {
  for (const one of work) one.nudge();
};

/** What fell due until then and was not done in time: nothing waits for it again. */
interface SlowWork {
  untilMs: number;
}

async function move(
  deps: MoveClockDeps & { slow: SlowWork },
  settings: MoveClockSettings,
  way: { untilMs: number; jump: (byMs: number) => void; arrive: () => void },
): Promise<Fired> {
  const { clock, limits } = deps;
  const { firedMax: limit } = settings;
  const patience = createPatience(settings);
  // What is under way ends in its own time, not in the time to come.
  await workOff(deps, settings, patience);
  const fromMs = clock.now();
  const range = { afterMs: fromMs, untilMs: way.untilMs, limit };
  const ended = await Promise.all(limits.map((one) => one.ending(range)));
  const worked: DueItem[] = [];
  let atMs = fromMs;
  for (let stops = 0; stops < settings.stopsMax && patience.isLeft(); stops++) {
    const due = await nextDue(deps, { ...range, afterMs: atMs });
    const [first] = due;
    if (!first) break;
    atMs = first.atMs;
    worked.push(...due);
    if (atMs > clock.now()) way.jump(atMs - clock.now());
    await deps.follow();
    nudge(deps);
    await workOff(deps, settings, patience);
  }
  way.arrive();
  await deps.follow();
  nudge(deps);
  await workOff(deps, settings, patience);
  const items = [...worked, ...ended.flatMap((one) => one.items)].sort((a, b) => a.atMs - b.atMs);
  const total = ended.reduce((sum, one) => sum + one.total, worked.length);
  return { items: items.slice(0, limit), more: total - Math.min(items.length, limit) };
}

/** What falls due at the earliest moment of a stretch of time. */
async function nextDue(
  { work }: MoveClockDeps,
  range: { afterMs: number; untilMs: number; limit: number },
): Promise<DueItem[]> {
  if (range.afterMs >= range.untilMs) return [];
  const ahead = (await Promise.all(work.map((one) => one.upcoming(range)))).flat();
  const earliestMs = Math.min(...ahead.map(({ atMs }) => atMs));
  return ahead.filter(({ atMs }) => atMs === earliestMs);
}

/** Waits until the work of this moment is done, or the patience for it is over. */
async function workOff(
  { clock, work, slow }: MoveClockDeps & { slow: SlowWork },
  { stopWaitMs, lookEveryMs }: MoveClockSettings,
  patience: ReturnType<typeof createPatience>,
): Promise<void> {
  const waitedMs = stopwatch();
  for (;;) {
    const passed = { afterMs: slow.untilMs, untilMs: clock.now() };
    const done = await Promise.all(work.map((one) => one.isDone(passed)));
    if (!done.includes(false)) return;
    if (waitedMs() >= stopWaitMs || !patience.isLeft()) {
      slow.untilMs = passed.untilMs;
      return;
    }
    await delay(lookEveryMs);
  }
}

/** Of a whole move: receivers that are slow to answer must not hold up the developer. */
function createPatience({ moveWaitMs }: Pick<MoveClockSettings, 'moveWaitMs'>) {
  const elapsedMs = stopwatch();
  return { isLeft: () => elapsedMs() < moveWaitMs };
}
