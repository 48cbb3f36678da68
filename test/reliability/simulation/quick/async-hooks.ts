/**
 * In place of `node:async_hooks`, whose tracking makes every promise dearer. The database uses it to notice commits
 * inside commits; in the simulation such a commit would wait for itself, and the run would not come to an end.
 */
export class AsyncLocalStorage {
  run<T>(_store: unknown, work: () => T): T {
    return work();
  }
  getStore(): undefined {
    return undefined;
  }
}
