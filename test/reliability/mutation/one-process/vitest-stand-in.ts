/** Stands in for `vitest` where tests run inside a process that is there already: what the near tests use of it. */
import { expect as vitestExpect } from 'vitest';

type Work = () => unknown;

interface Suite {
  name: string;
  parent: Suite | undefined;
  hooks: Record<'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach', Work[]>;
}

export interface LoadedTest {
  /** The names of its suites and its own. */
  name: string;
  suite: Suite;
  work: Work;
}

const suiteNamed = (name: string, parent?: Suite): Suite => ({
  name,
  parent,
  hooks: { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] },
});

const collected: LoadedTest[] = [];
let current = suiteNamed('');

/** What is declared from here on stands in this file: its hooks are no other file's. */
export function beginFile(name: string): void {
  current = suiteNamed(name);
}

/** All tests that were loaded since the last call. */
export const takeTests = (): LoadedTest[] => collected.splice(0);

/** From the outermost to this one. */
export const suitesOf = (suite: Suite): Suite[] => [...(suite.parent ? suitesOf(suite.parent) : []), suite];

function one(name: string, first: unknown, last?: unknown): void {
  const work = workOf(first, last);
  const names = suitesOf(current).map((suite) => suite.name);
  collected.push({ name: [...names, name].filter(Boolean).join(' > '), suite: current, work });
}

function group(name: string, work: Work): void {
  current = suiteNamed(name, current);
  work();
  current = current.parent ?? current;
}

/** What a test does; options, such as a time limit, may stand before it. */
const workOf = (first: unknown, last: unknown) => (typeof first === 'function' ? first : last) as Work;

/** Once for each row; where all rows are lists, each gives its entries. The row's place keeps the names apart. */
const each =
  (declare: (name: string, work: Work) => void) =>
  (rows: readonly unknown[]) =>
  (name: string, first: unknown, last?: unknown): void => {
    const work = workOf(first, last) as (...args: unknown[]) => unknown;
    const areLists = rows.every(Array.isArray);
    for (const [place, row] of rows.entries())
      declare(`${name} #${place}`, () => work(...(areLists ? (row as unknown[]) : [row])));
  };

const left = () => undefined;
const variants = (declare: (name: string, work: Work) => void) => ({
  each: each(declare),
  skipIf: (isSkipped: unknown) => (isSkipped ? left : declare),
  runIf: (isRun: unknown) => (isRun ? declare : left),
});
export const test = Object.assign(one, variants(one));
export const describe = Object.assign(group, variants(group));

const hook = (kind: keyof Suite['hooks']) => (work: Work) => void current.hooks[kind].push(work);
export const beforeAll = hook('beforeAll');
export const afterAll = hook('afterAll');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');

const afterThis: Work[] = [];
/** Runs when the test that is running has ended, as in vitest. */
export const onTestFinished = (work: Work) => void afterThis.push(work);
/** What the test that has just ended asked to run, last first. */
export const takeFinishers = (): Work[] => afterThis.splice(0).reverse();

const POLL_MS = 20;
const POLL_FOR_MS = 10_000;

/** Tries an assertion again until it holds. */
function poll(read: () => unknown) {
  const until = (name: PropertyKey, args: unknown[], endMs: number): Promise<void> =>
    Promise.resolve(read())
      .then((value) => {
        const assertion = vitestExpect(value) as unknown as Record<PropertyKey, (...of: unknown[]) => void>;
        assertion[name]?.(...args);
      })
      .catch(async (error: unknown) => {
        if (Date.now() > endMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        return until(name, args, endMs);
      });
  const matcher =
    (_: object, name: PropertyKey) =>
    (...args: unknown[]) =>
      until(name, args, Date.now() + POLL_FOR_MS);
  return new Proxy({}, { get: matcher });
}

export const expect = new Proxy(vitestExpect, {
  get: (real, name) => (name === 'poll' ? poll : Reflect.get(real, name)),
});

/** A test's time is Stryker's. */
export const vi = { setConfig: () => undefined };
