/** Which requests a row is kept of: a busy service answers more than anybody looks at, and each costs a kilobyte. */
import type { RequestRecord } from '../../http/frame/request-record.ts';

/**
 * `all`: each one. `decisions`: those that decided about an event or a call, and those that failed. `sampled`: each one up to
 * `SAMPLED_ABOVE` a second, and of more a share that makes about as many.
 */
export type TracesKeep = 'all' | 'decisions' | 'sampled';

/** Requests of a second, of one process, that are kept whatever they are: some 15 GB a day, and more than a person looks through. */
export const SAMPLED_ABOVE = 100;
const SECOND_MS = 1_000;
/** The last digits of an id are random. */
const SHARE_DIGITS = 4;
const SHARES = 16 ** SHARE_DIGITS;

type Traced = Pick<RequestRecord, 'id' | 'status' | 'traces'>;

/** Answers that are our fault are kept always. */
export function createTraceShare(keep: TracesKeep, nowMs: () => number): (record: Traced) => boolean {
  let second = { number: 0, count: 0 };
  let share = 1;
  const count = () => {
    const number = Math.floor(nowMs() / SECOND_MS);
    if (number !== second.number) {
      // The share of this second comes from the one before it; a pause begins anew.
      const before = number === second.number + 1 ? second.count : 0;
      share = before > SAMPLED_ABOVE ? SAMPLED_ABOVE / before : 1;
      second = { number, count: 0 };
    }
    second.count += 1;
  };
  return ({ id, status, traces }) => {
    if (keep === 'all') return true;
    if (keep === 'decisions') return status >= 500 || traces.length > 0;
    count();
    // By its id, so that whether a request is kept does not depend on what came with it.
    return status >= 500 || Number.parseInt(id.slice(-SHARE_DIGITS), 16) < share * SHARES;
  };
}
