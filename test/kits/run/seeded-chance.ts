/** Chance that can be repeated: the same seed gives the same numbers (mulberry32). */
export function seededChance(seed: number) {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(unit() * limit);
  return {
    /** From 0 to 1. */
    unit,
    /** A whole number from 0 to limit - 1. */
    below,
    pick: <T>(from: readonly T[]): T => {
      const one = from[below(from.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
  };
}
