/** Runs tasks one at a time, in the order in which they were asked for. */
export function createMutex() {
  let tail: Promise<unknown> = Promise.resolve();
  return function exclusive<T>(task: () => Promise<T>): Promise<T> {
    const turn = tail.then(task);
    tail = turn.catch(() => undefined);
    return turn;
  };
}
