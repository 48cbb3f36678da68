/** Lets callers wait for rows of the ledger until those are over, or for some time. */
import { within } from '../../lib/timers.ts';

/** Any number of callers for each row; `isOver`: nothing more is waited for. */
export function createWaiters<Id extends string, Row>(
  read: (ids: Id[]) => Promise<Row[]>,
  idOf: (row: Row) => Id,
  isOver: (row: Row) => boolean,
) {
  const waiters = new Map<Id, Set<(row: Row) => void>>();
  return {
    isAwaited: () => waiters.size > 0,
    async look(): Promise<void> {
      if (waiters.size === 0) return;
      for (const row of await read([...waiters.keys()])) {
        if (isOver(row)) for (const tell of waiters.get(idOf(row)) ?? []) tell(row);
      }
    },
    async waitFor(id: Id, timeoutMs: number): Promise<Row | undefined> {
      const ofThis = waiters.get(id) ?? new Set();
      waiters.set(id, ofThis);
      let leave = () => {};
      const over = new Promise<Row>((resolve) => {
        ofThis.add(resolve);
        leave = () => {
          ofThis.delete(resolve);
          if (ofThis.size === 0 && waiters.get(id) === ofThis) waiters.delete(id);
        };
      });
      try {
        // It may be over already; then no block tells of it.
        const [now] = await read([id]);
        if (!now || isOver(now)) return now;
        return (await within(timeoutMs, over)) ?? (await read([id]))[0];
      } finally {
        leave();
      }
    },
  };
}
