/** Stop signals as people and npm send them: a first one to end cleanly, a second one to end now. */
import { stopwatch } from '../../lib/timers.ts';
import type { Runtime, StopSignal } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';

/** npm passes Ctrl-C on to a child that has already got it from the terminal; this close, two are one. */
const ECHO_MS = 100;

export interface StopSignals {
  first: Promise<StopSignal>;
  /** The next one that is no echo of the first. */
  second: Promise<StopSignal>;
  /** Gives the signals back to the system. */
  release: () => void;
}

/** Catches SIGINT, SIGTERM and SIGHUP from now on. */
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
