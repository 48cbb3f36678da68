/** The operators of an expectation: each a key that begins with `$`, never a text to parse. */

interface Operator {
  /** For docs/scenarios.md. */
  about: string;
  /** Why an operand cannot be used; undefined when it can. */
  operandProblem?: (operand: unknown) => string | undefined;
  holds: (value: unknown, operand: never) => boolean;
}

const forms: Record<string, RegExp> = {
  hash: /^0x[0-9a-f]{64}$/,
  address: /^0x[0-9a-fA-F]{40}$/,
  uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  iso8601: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  url: /^https?:\/\/\S+$/,
};

/** Amounts of wei and RWT are texts where they may be large; texts of digits compare as numbers. */
function amountOf(value: unknown): bigint | number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
}

const compared =
  (holds: (order: number) => boolean) =>
  (value: unknown, operand: unknown): boolean => {
    const [one, other] = [amountOf(value), amountOf(operand)];
    if (one === undefined || other === undefined) return false;
    return holds(one < other ? -1 : one > other ? 1 : 0);
  };

const number = (operand: unknown) =>
  amountOf(operand) === undefined ? 'must be a number, or a text of digits' : undefined;
const list = (operand: unknown) => (Array.isArray(operand) ? undefined : 'must be a list');
const yes = (operand: unknown) => (operand === true ? undefined : 'must be true');

/** `$not`, `$contains` and `$length` take expectations themselves, so that match.ts has them. */
export const operators: Record<string, Operator> = {
  $eq: {
    about: 'is exactly this: an object has no other fields',
    holds: (value, operand) => same(value, operand),
  },
  $in: {
    about: 'is one of these values',
    operandProblem: list,
    holds: (value, operand: unknown[]) => operand.some((one) => same(value, one)),
  },
  $gt: { about: 'is greater than', operandProblem: number, holds: compared((order) => order > 0) },
  $gte: { about: 'is at least', operandProblem: number, holds: compared((order) => order >= 0) },
  $lt: { about: 'is less than', operandProblem: number, holds: compared((order) => order < 0) },
  $lte: { about: 'is at most', operandProblem: number, holds: compared((order) => order <= 0) },
  $between: {
    about: 'is between these two, both included',
    operandProblem: (operand) =>
      Array.isArray(operand) && operand.length === 2 && operand.every((one) => number(one) === undefined)
        ? undefined
        : 'must be a list of two numbers',
    holds: (value, [least, most]: [unknown, unknown]) =>
      compared((order) => order >= 0)(value, least) && compared((order) => order <= 0)(value, most),
  },
  $near: {
    about: 'is `[value, tolerance]`: at most the tolerance away',
    operandProblem: (operand) =>
      Array.isArray(operand) && operand.length === 2 && operand.every((one) => typeof one === 'number')
        ? undefined
        : 'must be a list of a number and its tolerance',
    holds: (value, [middle, tolerance]: [number, number]) =>
      Math.abs(Number(value) - middle) <= tolerance && amountOf(value) !== undefined,
  },
  $regex: {
    about: 'is a text that this regular expression finds something in',
    operandProblem: regexProblem,
    holds: (value, operand: string) => typeof value === 'string' && new RegExp(operand, 'u').test(value),
  },
  $match: {
    about: `has this form: ${Object.keys(forms)
      .map((name) => `\`${name}\``)
      .join(', ')}`,
    operandProblem: (operand) =>
      typeof operand === 'string' && Object.hasOwn(forms, operand)
        ? undefined
        : `must be one of ${Object.keys(forms).join(', ')}`,
    holds: (value, operand: string) => typeof value === 'string' && forms[operand]?.test(value) === true,
  },
  $any: { about: 'is there, whatever it is', operandProblem: yes, holds: (value) => value !== undefined },
  $absent: { about: 'is not there', operandProblem: yes, holds: (value) => value === undefined },
};

function regexProblem(operand: unknown): string | undefined {
  if (typeof operand !== 'string') return 'must be a regular expression, as a text';
  try {
    new RegExp(operand, 'u');
    return undefined;
  } catch (error) {
    return `is not a regular expression: ${(error as Error).message}`;
  }
}

/** Deep equality of JSON values; the order of an object's fields does not count. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && same(one[key as never], other[key as never]))
  );
}
