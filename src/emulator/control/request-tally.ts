/** Counts what an emulator answers while it runs: requests, how many a second, and what was decided. */
import { decisionOf, type RequestRecord } from '../../http/frame/request-record.ts';

/** The rate is that of the last slots together. */
const SLOT_MS = 500;
const SLOTS = 10;

export type RequestTally = ReturnType<typeof createRequestTally>;

/** `elapsedMs`: real time since the start, which no developer moves. */
export function createRequestTally(elapsedMs: () => number) {
  const totals = { requests: 0, refused: 0, failed: 0 };
  const decisions = new Map<string, number>();
  const slots = new Array<number>(SLOTS).fill(0);
  let newest = 0;
  /** Empties the slots that have passed since the last look. */
  const slotNow = () => {
    const now = Math.floor(elapsedMs() / SLOT_MS);
    for (let slot = Math.max(newest + 1, now - SLOTS + 1); slot <= now; slot++) slots[slot % SLOTS] = 0;
    newest = now;
    return now % SLOTS;
  };
  return {
    add({ status, traces }: Pick<RequestRecord, 'status' | 'traces'>) {
      const slot = slotNow();
      slots[slot] = (slots[slot] ?? 0) + 1;
      totals.requests += 1;
      if (status >= 500) totals.failed += 1;
      else if (status >= 400) totals.refused += 1;
      for (const trace of traces) {
        const code = decisionOf(trace);
        decisions.set(code, (decisions.get(code) ?? 0) + 1);
      }
    },
    /** How many there have been. */
    count: () => totals.requests,
    read() {
      slotNow();
      const recent = slots.reduce((sum, one) => sum + one, 0);
      return {
        ...totals,
        perSecond: recent / ((SLOTS * SLOT_MS) / 1_000),
        decisions: Object.fromEntries(decisions),
      };
    },
  };
}
