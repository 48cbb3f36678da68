/** Tells for how long each consumer has been behind the feed, from one look to the next. */

interface ConsumerLook {
  consumer: string;
  position: number;
  /** The last position of the feed. */
  head: number;
  nowMs: number;
}

export function createConsumerLags() {
  /** What a consumer has to reach until it counts as level with a look, and when that was. */
  const wanted = new Map<string, { head: number; sinceMs: number }>();
  return {
    /** `sinceMs`: when it was first seen behind what it still has to read; undefined while it has read everything. */
    look({ consumer, position, head, nowMs }: ConsumerLook): { facts: number; sinceMs: number | undefined } {
      const facts = Math.max(0, head - position);
      const known = wanted.get(consumer);
      if (facts === 0) wanted.delete(consumer);
      // What it had to reach then it has; what has come since is new.
      else if (!known || position >= known.head) wanted.set(consumer, { head, sinceMs: nowMs });
      return { facts, sinceMs: wanted.get(consumer)?.sinceMs };
    },
  };
}
