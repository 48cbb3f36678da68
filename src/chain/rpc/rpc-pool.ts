/**
 * Several nodes of one chain behind one connection. A request goes to the node in use; when that gives no usable
 * answer, to the next. Only for requests that may be sent twice: reads, and signed bytes, which are the same wherever they
 * are sent. Nothing here signs, and a method that could sign is refused.
 */
import { type Hex, hexToNumber } from 'viem';
import { type Availability, type Away, createAvailability } from '../../lib/failures/availability.ts';
import type { Log } from '../../lib/log.ts';
import { type Rpc, RpcAnswerError, RpcTooLargeError, RpcUnreachableError } from './rpc.ts';

export type RpcOutcome = 'answered' | 'error' | 'too_large' | 'unreachable' | 'other_chain';

interface RpcPoolDeps {
  /** In order of preference. */
  nodes: readonly Rpc[];
  /** A node of another chain gets no further requests. */
  chainId: number;
  log: Log;
  nowMs: () => number;
  /** How long a node that failed is passed over while others answer. */
  restMs: number;
  /** Told about every request, and of what became of it. */
  onRequest?: (request: RpcRequest) => void;
}

export interface RpcRequest {
  /** The node's place in the list, from 1 on, as the log and `rewards doctor` number them. */
  node: number;
  method: string;
  outcome: RpcOutcome;
  seconds: number;
}

const REPEATABLE = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'eth_simulateV1',
  'eth_syncing',
]);

/** Answers that say "not now" about the node, and nothing about the request: limits and overload. */
const isBusy = (error: RpcAnswerError) => error.rpcCode === -32005 || error.rpcCode === 429;

interface Node {
  /** From 1 on. */
  place: number;
  rpc: Rpc;
  /** Whether it has been seen to be of our chain since it last failed. */
  isKnown: boolean;
  isForeign: boolean;
  restsUntilMs: number;
  availability: Availability;
}

/** How a node is, as far as requests to it have shown. */
export interface NodeState {
  /** Its place in the list, from 1 on. */
  node: number;
  /** It belongs to another chain, and is not used. */
  isForeign: boolean;
  away: Away | undefined;
}

/** A connection that tells how each of its nodes is, without asking any. */
export type RpcPool = Rpc & { nodeStates: () => NodeState[] };

/** Begins a request; what is returned is called with its end. */
const tellsOf =
  (nowMs: () => number, onRequest: (request: RpcRequest) => void) =>
  ({ place }: Node, method: string) => {
    const startedMs = nowMs();
    return (outcome: RpcOutcome) =>
      onRequest({ node: place, method, outcome, seconds: (nowMs() - startedMs) / 1000 });
  };

export function createRpcPool(deps: RpcPoolDeps): RpcPool {
  const nodes = nodesOf(deps);
  const nodeStates = () =>
    nodes.map(({ place, isForeign, availability }) => ({
      node: place,
      isForeign,
      away: availability.away(),
    }));
  return Object.assign(asking(deps, nodes), { nodeStates });
}

const nodesOf = ({ nodes, log }: Pick<RpcPoolDeps, 'nodes' | 'log'>): Node[] =>
  nodes.map((rpc, index) => ({
    place: index + 1,
    rpc,
    isKnown: false,
    isForeign: false,
    restsUntilMs: 0,
    availability: createAvailability({
      what: `chain node ${index + 1}`,
      fields: { node: index + 1 },
      loss: 'warn',
      log,
    }),
  }));

function asking(deps: RpcPoolDeps, nodes: readonly Node[]): Rpc {
  const { log, nowMs, restMs, onRequest = () => {} } = deps;
  const telling = tellsOf(nowMs, onRequest);
  const isOurs = async (node: Node, tell: (outcome: RpcOutcome) => void) => {
    if (node.isKnown) return true;
    const chainId = hexToNumber((await node.rpc('eth_chainId', [])) as Hex);
    node.isKnown = chainId === deps.chainId;
    if (node.isKnown) return true;
    node.isForeign = true;
    tell('other_chain');
    log.error(
      { node: node.place, chainId, expected: deps.chainId },
      'a node belongs to another chain and is not used',
    );
    return false;
  };

  return async (method, params, limits) => {
    if (!REPEATABLE.has(method)) throw new Error(`${method} may not be sent to more than one node`);
    const now = nowMs();
    const usable = nodes.filter(({ isForeign }) => !isForeign);
    // Resting nodes come last: they are asked only when no other node answers.
    const ordered = [
      ...usable.filter(({ restsUntilMs }) => restsUntilMs <= now),
      ...usable.filter(({ restsUntilMs }) => restsUntilMs > now),
    ];
    let last: unknown;
    let unanswered = false;
    for (const node of ordered) {
      const attempt = node.availability.attempt();
      let tell = telling(node, 'eth_chainId');
      try {
        if (!(await isOurs(node, tell))) continue;
        tell = telling(node, method);
        const answer = await node.rpc(method, params, limits);
        node.restsUntilMs = 0;
        attempt.answered();
        tell('answered');
        return answer;
      } catch (error) {
        last = error;
        if (error instanceof RpcTooLargeError) {
          // The node works, and the next one would send as much.
          tell('too_large');
          throw error;
        }
        if (error instanceof RpcAnswerError && !isBusy(error)) {
          attempt.answered();
          tell('error');
          error.othersUnanswered = unanswered;
          throw error;
        }
        if (!(error instanceof RpcAnswerError || error instanceof RpcUnreachableError)) throw error;
        tell('unreachable');
        if (error instanceof RpcAnswerError) error.othersUnanswered = unanswered;
        unanswered = true;
        attempt.failed(error, error instanceof RpcAnswerError ? `error ${error.rpcCode}` : error.reason);
        node.restsUntilMs = nowMs() + restMs;
        node.isKnown = false;
      }
    }
    throw last ?? new RpcUnreachableError(method, 'no answer');
  };
}
