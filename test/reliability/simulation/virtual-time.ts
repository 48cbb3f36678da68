/** Time that stands still until it is moved: the program's clock and its timers, without waiting for either. */

interface Timer {
  dueMs: number;
  everyMs: number | undefined;
  fire: () => void;
}

export interface VirtualTime {
  now(): number;
  /** Moves time on and fires what falls due, in the order in which it does. */
  advance(ms: number): void;
  /** Begins again at `startMs` with no timers. */
  reset(startMs: number): void;
}

/** Puts virtual timers in place of the process's own; `setImmediate` stays, it is how a step ends. */
export function installVirtualTime(): VirtualTime & { restore(): void } {
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  let nowMs = 0;
  let nextId = 1;
  const timers = new Map<number, Timer>();

  const start = (fire: () => void, ms: number | undefined, repeats: boolean) => {
    const id = nextId++;
    const waitMs = Math.max(1, ms ?? 1);
    timers.set(id, { dueMs: nowMs + waitMs, everyMs: repeats ? waitMs : undefined, fire });
    return { id, unref() {} };
  };
  const stop = (timer: { id: number } | undefined) => {
    if (timer) timers.delete(timer.id);
  };
  Object.assign(globalThis, {
    setTimeout: (fire: () => void, ms?: number) => start(fire, ms, false),
    setInterval: (fire: () => void, ms?: number) => start(fire, ms, true),
    clearTimeout: stop,
    clearInterval: stop,
  });

  return {
    now: () => nowMs,
    advance(ms) {
      const untilMs = nowMs + ms;
      const due = [...timers].filter(([, timer]) => timer.dueMs <= untilMs);
      nowMs = untilMs;
      // What a timer starts anew falls due at the next move, so that no loop spins inside this one.
      for (const [id, timer] of due.sort(([, one], [, other]) => one.dueMs - other.dueMs)) {
        if (!timers.has(id)) continue;
        if (timer.everyMs === undefined) timers.delete(id);
        else timer.dueMs = nowMs + timer.everyMs;
        timer.fire();
      }
    },
    reset(startMs) {
      nowMs = startMs;
      timers.clear();
    },
    restore: () => void Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval }),
  };
}
