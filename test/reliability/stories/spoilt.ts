/** Changes one expected value of a scenario, so that it must fail there and nowhere else. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';

export interface Change {
  line: number;
  /** What the file expects now, and what it expected before; both as reports show them. */
  expected: string;
  before: string;
}

/**
 * The last plain value of an `expect` whose step is neither skipped nor tried again. Steps after it run all the same, as
 * those that end the file in any case. Throws when a file expects nothing.
 */
export function spoilt(text: string): Change & { text: string } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const steps = document.get('steps');
  const items = isSeq(steps) ? (steps.items as Node[]) : [];
  const place = items.findLastIndex((step) => valuesOf(step).length > 0);
  const value = items.slice(place).flatMap(valuesOf).at(-1);
  if (!value?.range) throw new Error('the file expects no plain value');
  const [from, to] = value.range;
  const changed = JSON.stringify(changedValue(value.value));
  const [next] = items[place + 1]?.range ?? [];
  if (next !== undefined && document.has('always'))
    throw new Error('of a file that ends with `always`, the last of `steps` has to expect something');
  const rest = next === undefined ? text.length : text.lastIndexOf('\n', next) + 1;
  return {
    text: `${text.slice(0, from)}${changed}${text.slice(to, rest)}${next === undefined ? '' : 'always:\n'}${text.slice(rest)}`,
    line: lines.linePos(from).line,
    expected: changed,
    before: JSON.stringify(value.value),
  };
}

function changedValue(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return `${value} and more`;
}

function valuesOf(step: Node): Scalar[] {
  if (!isMap(step) || step.has('skip') || step.has('if-supported') || step.has('eventually')) return [];
  const inner = (['steps', 'parallel'] as const).flatMap((group) => {
    const steps = step.get(group);
    return isSeq(steps) ? (steps.items as Node[]).flatMap(valuesOf) : [];
  });
  return [...inner, ...plainValues(step.get('expect'))];
}

/** Counts of repetitions and operators are left alone: their differences are told in other words. */
function plainValues(expected: unknown): Scalar[] {
  if (isScalar(expected)) {
    const isVariable = typeof expected.value === 'string' && expected.value.includes('${');
    return isVariable || expected.value === null ? [] : [expected];
  }
  if (!isMap(expected)) return [];
  return expected.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : '';
    return name.startsWith('$') || name === 'split' || name === 'each' ? [] : plainValues(value);
  });
}
