/** Counts uses per subject and window of time, in the memory of this process. */

/** How far a subject's window is used up after a use; nothing is counted once it is. */
interface Use {
  taken: boolean;
  limit: number;
  remaining: number;
  /** When the window ends, on the clock that `now` reads. */
  resetAtMs: number;
}

/**
 * Returns the function that counts one use of a subject. A window begins with its first use. Above `subjectsMax` the
 * window that began first is forgotten, so that callers with many names cannot fill the memory.
 */
export function createUseWindows(options: {
  limit: number;
  windowMs: number;
  subjectsMax: number;
  now: () => number;
}): (subject: string) => Use {
  const { limit, windowMs, subjectsMax, now } = options;
  // A map keeps insertion order, and windows are of one length: the first of it is over first.
  const windows = new Map<string, { startedMs: number; used: number }>();

  return (subject) => {
    const nowMs = now();
    const isOver = (startedMs: number) => nowMs < startedMs || nowMs >= startedMs + windowMs;
    for (const [name, { startedMs }] of windows) {
      const isFull = windows.size >= subjectsMax && !windows.has(subject);
      if (!isFull && !isOver(startedMs)) break;
      windows.delete(name);
    }
    const window = windows.get(subject) ?? { startedMs: nowMs, used: 0 };
    windows.set(subject, window);
    const taken = window.used < limit;
    if (taken) window.used++;
    return { taken, limit, remaining: limit - window.used, resetAtMs: window.startedMs + windowMs };
  };
}
