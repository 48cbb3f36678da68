/** Says in the log of `serve` when a fault is set and when it is over: what fails then fails on purpose. */
import { formatDuration } from '../../lib/duration.ts';
import type { Log } from '../../lib/log.ts';
import { type Fault, type FaultEnd, type FaultListener, nameOf } from './fault-registry.ts';

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
