/** The faults that are set in an emulator: which use of a seam each of them strikes, and when it is over. */
import type { Clock } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Log } from '../../lib/log.ts';
import {
  type FaultLimits,
  type FaultProblem,
  type FaultWish,
  type ReadFault,
  readFault,
} from './read-fault.ts';
import type { EffectName, SeamName } from './seams.ts';

interface Fault extends Omit<ReadFault, 'times' | 'forMs'> {
  id: string;
  setAtMs: number;
  /** Uses that it still strikes; undefined without a limit. */
  timesLeft: number | undefined;
  /** On the emulator's clock; undefined without a limit. */
  untilMs: number | undefined;
  /** Uses that it has struck. */
  struck: number;
}

/** Why a fault ended: it struck often enough, its time passed, or somebody cleared it. */
export type FaultEnd = 'times' | 'time' | 'cleared';

export interface FaultRegistry {
  /** Sets a fault, or says what is wrong with the wish. */
  set(wish: FaultWish): Fault | { problems: FaultProblem[] };
  /** Those that are set, the oldest first. */
  list(): Fault[];
  /** Clears one by its id, all of a seam by its name, or all; returns what it cleared. */
  clear(name?: string): Fault[];
  /** The oldest fault of the seam with one of the effects, which strikes this use; undefined when nothing fails. */
  strike<Name extends SeamName>(
    seam: Name,
    effects: readonly EffectName<Name>[],
  ): (Fault & { effect: EffectName<Name> }) | undefined;
  /** Forgets everything. */
  stop(): void;
}

export interface FaultListener {
  /** Before the fault is on the board: what moves the clock does it here. */
  begin?(read: ReadFault): void;
  set?(fault: Fault): void;
  over?(fault: Fault, end: FaultEnd): void;
}

/** `limits.faultsMax`: the most that are set at once. `listeners` hear of each fault when it is set and when it is over. */
export function createFaultRegistry(
  { clock, listeners = [] }: { clock: Clock; listeners?: readonly FaultListener[] },
  limits: FaultLimits & { faultsMax: number },
): FaultRegistry {
  const board = new Map<string, { fault: Fault; expiry: AbortController }>();
  let numbered = 0;

  const end = (id: string, why: FaultEnd): void => {
    const entry = board.get(id);
    if (!entry) return;
    board.delete(id);
    entry.expiry.abort();
    for (const listener of listeners) listener.over?.(entry.fault, why);
  };

  /** The clock may have passed the end of a fault whose timer has not run yet. */
  const current = (): Fault[] => {
    const nowMs = clock.now();
    for (const { fault } of [...board.values()])
      if (fault.untilMs !== undefined && fault.untilMs <= nowMs) end(fault.id, 'time');
    return [...board.values()].map(({ fault }) => fault);
  };

  return {
    set(wish) {
      const read = readFault(wish, limits);
      if ('problems' in read) return read;
      if (current().length >= limits.faultsMax) {
        const message = `is one too many: ${limits.faultsMax} faults are set. Clear one first`;
        return { problems: [{ setting: 'seam', message }] };
      }
      for (const listener of listeners) listener.begin?.(read);
      const { times, forMs, ...rest } = read;
      numbered += 1;
      const id = `fault-${numbered}`;
      const setAtMs = clock.now();
      const untilMs = forMs === undefined ? undefined : setAtMs + forMs;
      const fault: Fault = { id, ...rest, setAtMs, timesLeft: times, untilMs, struck: 0 };
      const expiry = new AbortController();
      board.set(id, { fault, expiry });
      for (const listener of listeners) listener.set?.(fault);
      if (forMs !== undefined) {
        void clock.sleep(forMs, expiry.signal).then(() => {
          if (!expiry.signal.aborted) end(id, 'time');
        });
      }
      return { ...fault };
    },
    list: () => current().map((fault) => ({ ...fault })),
    clear(name) {
      const cleared = current().filter(({ id, seam }) => name === undefined || name === id || name === seam);
      for (const { id } of cleared) end(id, 'cleared');
      return cleared;
    },
    strike(seam, effects) {
      if (board.size === 0) return undefined;
      const found = current().find(
        (fault) => fault.seam === seam && (effects as readonly string[]).includes(fault.effect),
      );
      if (!found) return undefined;
      found.struck += 1;
      if (found.timesLeft !== undefined) {
        found.timesLeft -= 1;
        if (found.timesLeft === 0) end(found.id, 'times');
      }
      return { ...found, effect: found.effect as (typeof effects)[number] };
    },
    stop() {
      for (const { expiry } of board.values()) expiry.abort();
      board.clear();
    },
  };
}

/** `node=away`, as the command line takes it. */
export const nameOf = ({ seam, written }: Pick<Fault, 'seam' | 'written'>) => `${seam}=${written}`;

const ends: Record<FaultEnd, string> = {
  times: 'it has struck often enough',
  time: 'its time has passed',
  cleared: 'it was cleared',
};

/** At the level of a warning, which `serve` prints. */
export const logFaults = (log: Log): FaultListener => ({
  set: (fault) => log.warn({ fault: fault.id }, `fault set: ${nameOf(fault)}, ${spanOf(fault)}`),
  over: (fault, end) =>
    log.warn({ fault: fault.id, struck: fault.struck }, `fault over: ${nameOf(fault)}; ${ends[end]}`),
});

function spanOf({ timesLeft, untilMs, setAtMs }: Fault): string {
  const times = timesLeft === undefined ? [] : [timesLeft === 1 ? 'once' : `${timesLeft} times`];
  const span = untilMs === undefined ? [] : [`for ${formatDuration(untilMs - setAtMs)}`];
  return [...times, ...span].join(', at most ') || 'until it is cleared';
}
