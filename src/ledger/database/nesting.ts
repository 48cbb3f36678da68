/** Notices what is asked of a database inside a commit of its own, where it would wait for that commit without end. */
import { createAsyncContext } from '../../lib/async-context.ts';

/** While it watches, Node follows every promise of the process: a mistake of the program is for tests to find. */
export function createNestingWatch({ isOn }: { isOn: boolean }) {
  const inside = isOn ? createAsyncContext<true>() : undefined;
  return {
    isInside: (): boolean => inside?.current() === true,
    /** Runs the work of a commit. */
    run: <T>(work: () => Promise<T>): Promise<T> => (inside ? inside.run(true, work) : work()),
  };
}
