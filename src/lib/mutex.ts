/** Runs tasks one at a time, in the order in which they were asked for. */
export function createMutex() {
  let tail: Promise<unknown> = Promise.resolve();
  return function exclusive<T>(task: () => Promise<T>): Promise<T> {
    const turn = tail.then(task);
    tail = turn.catch(() => undefined);
    return turn;
  };
}

/** The same for each key by itself; a key that nobody waits for is forgotten. */
export function createKeyedMutex<Key>() {
  const turns = new Map<Key, { exclusive: ReturnType<typeof createMutex>; tasks: number }>();
  return async function exclusive<T>(key: Key, task: () => Promise<T>): Promise<T> {
    const turn = turns.get(key) ?? { exclusive: createMutex(), tasks: 0 };
    turn.tasks += 1;
    turns.set(key, turn);
    try {
      return await turn.exclusive(task);
    } finally {
      turn.tasks -= 1;
      if (turn.tasks === 0) turns.delete(key);
    }
  };
}
