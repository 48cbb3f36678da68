/** The ledger as the service reaches it, failing while a fault is set. The emulator's own parts use the database itself. */
import type { Database, Queries } from '../../ledger/database/database.ts';
import { directRunOf, runDirectly } from '../../ledger/database/prepared-query.ts';
import { delay } from '../../lib/timers.ts';
import type { FaultRegistry } from './fault-registry.ts';

type Faults = Pick<FaultRegistry, 'strike'>;

export function faultyDatabase({ database, faults }: { database: Database; faults: Faults }): Database {
  const reach = async () => {
    const slow = faults.strike('database', ['slow']);
    if (slow) await delay(slow.amount ?? 0);
    if (faults.strike('database', ['away'])) throw lost('ECONNREFUSED');
  };
  /** Around what a commit writes, while it is still open. */
  const closing = async <T>(write: () => Promise<T>): Promise<T> => {
    const value = await write();
    const slow = faults.strike('disk', ['slow']);
    if (slow) await delay(slow.amount ?? 0);
    if (faults.strike('database', ['commit-lost'])) throw lost('ECONNRESET');
    if (faults.strike('disk', ['full'])) throw full(database.dialect);
    return value;
  };
  const answered = <T>(value: T): T => {
    if (faults.strike('database', ['answer-lost'])) throw lost('ECONNRESET');
    return value;
  };
  const single = async <T>(run: () => Promise<T>, isWrite: boolean): Promise<T> => {
    await reach();
    if (!isWrite) return run();
    // It commits by itself, so what keeps it from the disk comes before it.
    await closing(async () => undefined);
    return answered(await run());
  };
  return {
    ...database,
    db: watched(database.db, single),
    async atomically(work, wait) {
      await reach();
      return answered(await database.atomically((tx) => closing(() => work(tx)), wait));
    },
    async snapshot(work) {
      await reach();
      return database.snapshot(work);
    },
  };
}

type Single = <T>(run: () => Promise<T>, isWrite: boolean) => Promise<T>;

const WRITES = new Set(['insert', 'update', 'delete']);
/** The text of one. */
const WRITE = /^(?:insert|update|delete)\b/;
/** What these return is a part of another statement. */
const PARTS = new Set(['as', 'getSQL', 'toSQL', '$with']);
type AnyFunction = (...given: unknown[]) => unknown;

/** Queries whose statements run through `single`: those that are awaited, not those that are parts of others. */
function watched(queries: Queries, single: Single): Queries {
  const step = (value: unknown, isWrite: boolean | undefined): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    return new Proxy(value, {
      get(target, name) {
        const member = Reflect.get(target, name, target) as unknown;
        if (typeof member !== 'function') return member;
        const call = member.bind(target) as AnyFunction;
        if (name === 'then')
          return (...on: Parameters<Promise<unknown>['then']>) =>
            single(() => Promise.resolve(target as PromiseLike<unknown>), isWrite ?? false).then(...on);
        if (typeof name !== 'string' || PARTS.has(name)) return call;
        return (...given: unknown[]) => step(call(...given), isWrite ?? WRITES.has(name));
      },
    });
  };
  const all = step(queries, undefined) as Queries;
  const run = directRunOf(queries);
  if (!run) return all;
  return runDirectly(all, (...statement) => single(() => run(...statement), WRITE.test(statement[0])));
}

/** As the connection's own errors are: the code is what the service sorts them by. */
const lost = (code: 'ECONNREFUSED' | 'ECONNRESET') =>
  Object.assign(new Error('the database is away by a fault that is set'), { code });

const full = (dialect: Database['dialect']) =>
  Object.assign(new Error('the disk is full by a fault that is set'), {
    code: dialect === 'sqlite' ? 'SQLITE_FULL' : '53100',
  });
