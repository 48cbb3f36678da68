/** Numbers with their nouns. */

/** `1 reward`, `2 rewards`; `many` where that is not the noun with an s. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
