/** Values that hold for a piece of work, over all that it awaits. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Entered {
  readonly scope: object;
  readonly value: unknown;
  readonly outer: Entered | undefined;
}

/** One for the whole process: Node copies the value of every storage ever used into each new promise. */
const storage = new AsyncLocalStorage<Entered>();

interface AsyncContext<T> {
  /** Does `work` with `value` in this scope; what it may hold in others stays. */
  run<R>(value: T, work: () => R): R;
  /** The innermost value around the caller; undefined outside of any `run` of this scope. */
  current(): T | undefined;
}

/** Scopes know nothing of each other, also where they are entered inside one another. */
export function createAsyncContext<T>(): AsyncContext<T> {
  const scope = {};
  return {
    run: (value, work) => storage.run({ scope, value, outer: storage.getStore() }, work),
    current() {
      let entered = storage.getStore();
      while (entered && entered.scope !== scope) entered = entered.outer;
      return entered?.value as T | undefined;
    },
  };
}

// Notices what is asked inside a piece of work that it would wait for without end, as of a database inside its own commit.

/** While it watches, Node follows every promise of the process: a mistake of the program is for tests to find. */
export function createNestingWatch({ isOn }: { isOn: boolean }) {
  const inside = isOn ? createAsyncContext<true>() : undefined;
  return {
    isInside: (): boolean => inside?.current() === true,
    /** Runs the work of a commit. */
    run: <T>(work: () => Promise<T>): Promise<T> => (inside ? inside.run(true, work) : work()),
  };
}
