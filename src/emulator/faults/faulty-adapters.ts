/** The adapters as the service gets them: ledger, node and strangers, each failing while a fault of its seam is set. The emulator's own parts never do. */
import { type ChainClient, createChainClient } from '../../chain/rpc/client.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../chain/rpc/rpc.ts';
import { settings } from '../../compose/config.ts';
import type { TxtResolver } from '../../dns/txt.ts';
import type { TokenVerifier } from '../../identity/tokens.ts';
import type { Database, Queries } from '../../ledger/database/database.ts';
import { directRunOf, runDirectly } from '../../ledger/database/prepared-query.ts';
import { delay } from '../../lib/timers.ts';
import type { Answered, AskDeps } from '../../outgoing/ask.ts';
import type { FaultRegistry } from './fault-registry.ts';

const SEND = 'eth_sendRawTransaction';

/** `timeoutMs`: the connection's own, which a slow node exceeds. */
function faultyNode(
  { rpc, faults }: { rpc: Rpc; faults: Pick<FaultRegistry, 'strike'> },
  { timeoutMs }: { timeoutMs: number },
): Rpc {
  return async (method, params, limits) => {
    const slow = faults.strike('node', ['slow']);
    if (slow) {
      await delay(Math.min(slow.amount ?? 0, timeoutMs));
      if ((slow.amount ?? 0) >= timeoutMs) throw new RpcUnreachableError(method, 'no answer', 'timeout');
    }
    const priced = method === 'eth_getBlockByNumber' ? faults.strike('node', ['base-fee']) : undefined;
    if (priced) return withBaseFee(await rpc(method, params, limits), priced.amount ?? 0);
    const always = ['away', 'refused'] as const;
    const struck = faults.strike(
      'node',
      method === SEND ? [...always, 'answer-lost', 'fee-cap'] : [...always],
    );
    switch (struck?.effect) {
      case 'away':
        throw new RpcUnreachableError(method, 'no answer', 'ECONNREFUSED');
      case 'refused':
        throw new RpcAnswerError(method, { code: 429, message: 'Too Many Requests' });
      case 'fee-cap':
        throw new RpcAnswerError(method, {
          code: -32000,
          message: 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
        });
      case 'answer-lost':
        await rpc(method, params, limits);
        throw new RpcUnreachableError(method, 'no answer', 'ECONNRESET');
      default:
        return rpc(method, params, limits);
    }
  };
}

const withBaseFee = (block: unknown, gwei: number): unknown =>
  block === null
    ? null
    : { ...(block as object), baseFeePerGas: `0x${(BigInt(gwei) * 1_000_000_000n).toString(16)}` };

type Faults = Pick<FaultRegistry, 'strike'>;

/** The ledger as the service reaches it, failing while a fault is set. The emulator's own parts use the database itself. */
function faultyDatabase({ database, faults }: { database: Database; faults: Faults }): Database {
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

const REFUSED: Answered = { outcome: 'failed', why: 'the connection was refused', ms: 0 };

/** A webhook and a question about a buyer are told apart by what the service calls itself. */
function faultyReceivers(outgoing: AskDeps, faults: Faults): AskDeps {
  return {
    ...outgoing,
    through: (asked, send) =>
      asked.headers['user-agent']?.startsWith('Rewards-Webhooks/')
        ? faultyDelivery(faults, { send, totalMs: asked.limits.totalMs })
        : faultyQuestion(faults, { send, totalMs: asked.limits.totalMs }),
  };
}

interface Question {
  send: () => Promise<Answered>;
  totalMs: number;
}

async function faultyDelivery(faults: Faults, { send, totalMs }: Question): Promise<Answered> {
  const struck = faults.strike('receiver', ['away', '500', '410', 'hang', 'answer-lost']);
  switch (struck?.effect) {
    case 'away':
      return REFUSED;
    case '500':
    case '410':
      return answeredWith(Number(struck.effect));
    case 'hang':
      await send();
      await delay(totalMs);
      return late(totalMs);
    case 'answer-lost':
      await send();
      return { outcome: 'failed', why: 'the connection was closed before an answer came', ms: 0 };
    default:
      return send();
  }
}

async function faultyQuestion(faults: Faults, { send, totalMs }: Question): Promise<Answered> {
  const slowMs = faults.strike('constraint-api', ['slow'])?.amount ?? 0;
  if (slowMs > 0) await delay(Math.min(slowMs, totalMs));
  if (slowMs >= totalMs) return late(totalMs);
  const struck = faults.strike('constraint-api', ['away', '500']);
  if (!struck) return send();
  return struck.effect === 'away' ? REFUSED : answeredWith(500);
}

const late = (totalMs: number): Answered => ({
  outcome: 'failed',
  why: `no answer within ${totalMs / 1_000} s`,
  ms: totalMs,
});

const answeredWith = (status: number): Answered => ({
  outcome: 'answered',
  status,
  headers: {},
  isComplete: true,
  ms: 0,
  body: new TextEncoder().encode(`${status} by a fault that is set`),
});

/** `limitMs`: how long the service's own resolver waits. */
const faultyDns = (dns: TxtResolver, faults: Faults, { limitMs }: { limitMs: number }): TxtResolver => ({
  async txtRecords(name) {
    const slowMs = faults.strike('dns', ['slow'])?.amount ?? 0;
    if (slowMs > 0) await delay(Math.min(slowMs, limitMs));
    if (slowMs >= limitMs) throw new Error(`no answer within ${limitMs} ms`);
    const struck = faults.strike('dns', ['servfail', 'nxdomain']);
    if (struck?.effect === 'servfail')
      throw Object.assign(new Error('queryTxt ESERVFAIL'), { code: 'ESERVFAIL' });
    return struck ? [] : dns.txtRecords(name);
  },
});

/** As a service that has just been started finds a provider that is away. */
export const faultyVerifier = (tokens: TokenVerifier, faults: Faults): TokenVerifier => ({
  async verify(authorization) {
    const verdict = await tokens.verify(authorization);
    // A token that no key could save is refused for what is wrong with it.
    if ('refusal' in verdict || !faults.strike('identity', ['away'])) return verdict;
    const message = "The identity provider's keys cannot be fetched at the moment; try again later.";
    return { refusal: { code: 'keys_unavailable', message } };
  },
  ready: tokens.ready,
});

interface Faultable {
  faults: FaultRegistry;
  rpc: Rpc;
  chain: ChainClient;
  database: Database;
  dns: TxtResolver;
  outgoing: AskDeps;
}

/** As long as the resolver of a machine waits for its name servers. */
const DNS_LIMIT_MS = 2_500;

/** The adapters as the service gets them: each fails while a fault of its seam is set. The emulator's own parts never do. */
export function withFaults<Adapters extends Faultable>(adapters: Adapters): Adapters {
  const { faults } = adapters;
  const rpc = faultyNode(adapters, settings.rpc);
  return {
    ...adapters,
    rpc,
    chain: createChainClient(rpc),
    database: faultyDatabase(adapters),
    dns: faultyDns(adapters.dns, faults, { limitMs: DNS_LIMIT_MS }),
    outgoing: faultyReceivers(adapters.outgoing, faults),
  };
}

/** Ends all faults before `stop`, so that what is stopped can put its things in order. */
export function withoutFaults<Stopped>({ faults }: Faultable, stop: () => Stopped): Stopped {
  faults.stop();
  return stop();
}
