/** Stop signals from people and npm: the first ends the command cleanly, the second at once. */
import { stopwatch } from '../../lib/timers.ts';
import type { Runtime, StopSignal } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';

/** npm forwards Ctrl-C to a child that has it from the terminal already; two signals this close count as one. */
const ECHO_MS = 100;

export interface StopSignals {
  first: Promise<StopSignal>;
  /** Resolves with the next signal that does not repeat the first. */
  second: Promise<StopSignal>;
  /** Restores the system's handling of the signals. */
  release: () => void;
}

/** Catches SIGINT, SIGTERM and SIGHUP until `release`. */
export function catchStopSignals({ onSignal }: Pick<Runtime, 'onSignal'>): StopSignals {
  let release = () => {};
  let tellSecond = (_signal: StopSignal) => {};
  const second = new Promise<StopSignal>((resolve) => {
    tellSecond = resolve;
  });
  const first = new Promise<StopSignal>((resolve) => {
    let sinceFirstMs: (() => number) | undefined;
    release = onSignal((signal) => {
      if (sinceFirstMs && sinceFirstMs() >= ECHO_MS) tellSecond(signal);
      sinceFirstMs ??= stopwatch();
      resolve(signal);
    });
  });
  return { first, second, release };
}

/** The exit code of a command that a signal ended before it was done. */
export const interruptedBy = (signal: StopSignal): number =>
  signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
