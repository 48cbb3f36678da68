/** What falls due on the emulator's clock: work that is done when its moment comes, and limits that time alone ends. */
import type { firedKinds } from '../../contract/control/clock.ts';
import type { TimeRange } from '../../ledger/database/database.ts';

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
