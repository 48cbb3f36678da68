/** Tells for how long the ledger has been behind the chain. */

interface BlockLag {
  /**
   * How long the ledger has not read a block that was already there to read, in milliseconds; 0 when it has read every
   * block that the last look found.
   */
  look(now: { head: number; read: number | undefined }): number;
}

/** `confirmations`: how many a block needs before it is read, its own included. */
export function createBlockLag(deps: { confirmations: number; nowMs: () => number }): BlockLag {
  let wanted: { number: number; sinceMs: number } | undefined;
  return {
    look({ head, read = -1 }) {
      const readable = head - deps.confirmations + 1;
      // A reorganised chain may be shorter than it was.
      if (wanted) wanted.number = Math.min(wanted.number, readable);
      if (!wanted || read >= wanted.number) {
        // The blocks that have come since the last look are new: the wait for them begins now.
        wanted = read >= readable ? undefined : { number: readable, sinceMs: deps.nowMs() };
      }
      return wanted ? deps.nowMs() - wanted.sinceMs : 0;
    },
  };
}
