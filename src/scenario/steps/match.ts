/** Compares what a step saw with what its file expects: objects are subsets, lists are exact. */
import { nearest } from '../../lib/text/nearest.ts';
import { operators, same } from './operators.ts';

export type Path = readonly (string | number)[];

export interface Difference {
  /** Of the expectation: where it stands in the file, below `expect`. */
  path: Path;
  /** What it is about, such as `body.details.reason`. */
  what: string;
  expected: string;
  got: string;
}

/** Operators whose operands are expectations. */
const nesting: Record<string, string> = {
  $not: 'does not fit this expectation',
  $contains: 'is a list with an entry that fits this expectation, or a text with this part',
  $length: 'is a list or a text whose length fits this expectation',
};

/** Every operator with what it says, for the documentation and for people who mistype one. */
export const operatorTexts: Record<string, string> = {
  ...Object.fromEntries(Object.entries(operators).map(([name, { about }]) => [name, about])),
  ...nesting,
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOperators = (expected: Record<string, unknown>) =>
  Object.keys(expected).some((key) => key.startsWith('$'));

/** Every difference; none when `value` fits. */
export function differences(
  expected: unknown,
  value: unknown,
  path: Path = [],
  what: Path = [],
): Difference[] {
  const difference = (text: string): Difference[] => [
    { path, what: pathText(what), expected: text, got: shown(value) },
  ];
  if (isObject(expected)) {
    if (isOperators(expected)) {
      return Object.entries(expected).flatMap(([name, operand]) =>
        operatorDifferences({ name, operand }, value, [...path, name], what),
      );
    }
    if (!isObject(value)) return difference('an object');
    return Object.entries(expected).flatMap(([key, one]) =>
      differences(one, Object.hasOwn(value, key) ? value[key] : undefined, [...path, key], [...what, key]),
    );
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(value)) return difference('a list');
    if (value.length !== expected.length) return difference(`${expected.length} entries: ${shown(expected)}`);
    return expected.flatMap((one, place) =>
      differences(one, value[place], [...path, place], [...what, place]),
    );
  }
  return same(expected, value) ? [] : difference(shown(expected));
}

function operatorDifferences(
  { name, operand }: { name: string; operand: unknown },
  value: unknown,
  path: Path,
  what: Path,
): Difference[] {
  const difference = (got = shown(value)): Difference[] => [
    { path, what: pathText(what), expected: `${name} ${shown(operand)}`, got },
  ];
  if (name === '$not') return differences(operand, value).length > 0 ? [] : difference();
  if (name === '$contains') {
    if (typeof value === 'string') return value.includes(String(operand)) ? [] : difference();
    const found = Array.isArray(value) && value.some((one) => differences(operand, one).length === 0);
    return found ? [] : difference();
  }
  if (name === '$length') {
    const length = Array.isArray(value) || typeof value === 'string' ? value.length : undefined;
    return differences(operand, length).length === 0 ? [] : difference(`length ${length ?? 'none'}`);
  }
  return operators[name]?.holds(value, operand as never) ? [] : difference();
}

/** What is wrong with the operators of an expectation, before anything runs. `isVariable`: nothing can be said yet. */
export function expectationProblems(
  expected: unknown,
  isVariable: (value: unknown) => boolean,
  path: Path = [],
): { path: Path; message: string; isKey: boolean }[] {
  if (Array.isArray(expected))
    return expected.flatMap((one, place) => expectationProblems(one, isVariable, [...path, place]));
  if (!isObject(expected)) return [];
  const mixed = isOperators(expected) && !Object.keys(expected).every((key) => key.startsWith('$'));
  return Object.entries(expected).flatMap(([key, operand]) => {
    const at = [...path, key];
    if (!isOperators(expected)) return expectationProblems(operand, isVariable, at);
    if (mixed && !key.startsWith('$'))
      return [
        { path: at, isKey: true, message: 'stands beside an operator; operators and fields do not mix' },
      ];
    if (Object.hasOwn(nesting, key)) return expectationProblems(operand, isVariable, at);
    const operator = Object.hasOwn(operators, key) ? operators[key] : undefined;
    if (!operator) {
      const meant = nearest(key, Object.keys(operatorTexts));
      const instead = meant ? `did you mean ${meant}?` : `they are ${Object.keys(operatorTexts).join(', ')}`;
      return [{ path: at, isKey: true, message: `is not an operator; ${instead}` }];
    }
    const problem = isVariable(operand) ? undefined : operator.operandProblem?.(operand);
    return problem ? [{ path: at, isKey: false, message: problem }] : [];
  });
}

const SHOWN_MAX = 300;

/** A value as JSON, in short; `nothing` for a field that is not there. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

export const pathText = (path: Path) =>
  path
    .map((step, place) => (typeof step === 'number' ? `[${step}]` : `${place > 0 ? '.' : ''}${step}`))
    .join('');
