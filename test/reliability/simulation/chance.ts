/** Chance that repeats itself: the same seed always gives the same numbers. */

export interface Chance {
  /** 0 or more, less than 1. */
  next(): number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  hit(probability: number): boolean;
  one<T>(list: readonly T[]): T;
}

export function createChance(seed: number): Chance {
  // Neighbouring seeds are mixed apart before they begin (splitmix32), then drawn from sfc32.
  let mix = (seed ^ 0x9e3779b9) >>> 0;
  const word = () => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [word(), word(), word(), word()];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    hit: (probability) => probability > 0 && next() < probability,
    one(list) {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('there is nothing to choose from');
      return picked;
    },
  };
}
