/** Time as the rest of the program sees it: real in production, movable in the emulator. */

/** Milliseconds since 1970, and a wait measured on the same clock. */
export interface Clock {
  now(): number;
  /** Resolves when `ms` of this clock's time have passed, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface ClockState {
  nowMs: number;
  frozen: boolean;
  /** How far this clock is ahead of real time; meaningless while frozen. */
  offsetMs: number;
}

/** A clock that a developer moves: rules, chain, payments and retries all follow it. */
export interface AdjustableClock extends Clock {
  advance(ms: number): void;
  set(nowMs: number): void;
  freeze(): void;
  run(): void;
  state(): ClockState;
  /** Calls `listener` after every jump, freeze or run; returns the way to stop that. */
  onChange(listener: (state: ClockState) => void): () => void;
}

/** setTimeout overflows above this and would fire at once; longer waits are taken in steps. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. */
export function systemClock(): Clock {
  const now = () => Date.now();
  return {
    now,
    sleep: (ms, signal) => sleepUntil({ dueMs: now() + ms, now, signal }),
  };
}

/**
 * The machine's time when this process started, and from then on a second every second: a correction of the machine's
 * clock does not move it. For how long ago something was; what people read, and what is compared with other machines,
 * is the machine's own time.
 */
export function steadyClock(): Clock {
  const now = () => Math.floor(performance.timeOrigin + performance.now());
  return {
    now,
    sleep: (ms, signal) => sleepUntil({ dueMs: now() + ms, now, signal }),
  };
}

export interface ClockStart {
  startMs?: number;
  offsetMs?: number;
  frozen?: boolean;
}

/** A clock that starts at real time (or `startMs`) and can be moved and frozen. */
export function adjustableClock(start: ClockStart = {}): AdjustableClock {
  const real = () => Date.now();
  let offsetMs = start.startMs === undefined ? (start.offsetMs ?? 0) : start.startMs - real();
  let frozenAtMs: number | undefined = start.frozen ? (start.startMs ?? real() + offsetMs) : undefined;
  const listeners = new Set<(state: ClockState) => void>();

  const now = () => frozenAtMs ?? real() + offsetMs;
  const state = (): ClockState => ({
    nowMs: now(),
    frozen: frozenAtMs !== undefined,
    offsetMs: now() - real(),
  });
  const changed = () => {
    for (const listener of [...listeners]) listener(state());
  };
  const set = (nowMs: number) => {
    offsetMs = nowMs - real();
    if (frozenAtMs !== undefined) frozenAtMs = nowMs;
    changed();
  };
  const onChange = (listener: (state: ClockState) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    now,
    state,
    set,
    onChange,
    advance: (ms) => set(now() + ms),
    freeze() {
      frozenAtMs = now();
      changed();
    },
    run() {
      offsetMs = now() - real();
      frozenAtMs = undefined;
      changed();
    },
    sleep: (ms, signal) =>
      sleepUntil({ dueMs: now() + ms, now, signal, onChange, isFrozen: () => frozenAtMs !== undefined }),
  };
}

function sleepUntil(wait: {
  dueMs: number;
  now: () => number;
  signal?: AbortSignal | undefined;
  onChange?: (listener: () => void) => () => void;
  isFrozen?: () => boolean;
}): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = () => {
      clearTimeout(timer);
      off?.();
      wait.signal?.removeEventListener('abort', done);
      resolve();
    };
    const look = () => {
      clearTimeout(timer);
      const leftMs = wait.dueMs - wait.now();
      if (leftMs <= 0 || wait.signal?.aborted) return done();
      if (!wait.isFrozen?.()) timer = setTimeout(look, Math.min(leftMs, LONGEST_TIMER_MS));
    };
    const off = wait.onChange?.(look);
    wait.signal?.addEventListener('abort', done, { once: true });
    look();
  });
}
