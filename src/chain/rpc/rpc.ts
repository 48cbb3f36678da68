/** JSON-RPC to a node, with errors that hold neither the URL nor the bytes that were sent. */
import { getHttpRpcClient } from 'viem/utils';
import { scrub } from '../../lib/log.ts';

/** The node answered, with an error. */
export class RpcAnswerError extends Error {
  override name = 'RpcAnswerError';
  readonly rpcCode: number;
  /** The node's own words, needed to sort them; never shown or logged. */
  readonly nodeMessage: string;
  constructor(method: string, answer: { code: number; message: string }) {
    super(`${method}: the node answered with error ${answer.code}: ${scrub(answer.message).slice(0, 300)}`);
    this.rpcCode = answer.code;
    this.nodeMessage = answer.message;
  }
}

/** No usable answer: whether the node did anything is not known. */
export class RpcUnreachableError extends Error {
  override name = 'RpcUnreachableError';
  constructor(method: string, why: 'no answer' | 'an unreadable answer') {
    super(`${method}: ${why} from the node`);
  }
}

export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** One request per call, no retries: the caller knows which requests may be repeated. */
export function createRpc(node: { url: string; timeoutMs: number }): Rpc {
  const client = getHttpRpcClient(node.url);
  return async (method, params) => {
    let answer: { result?: unknown; error?: unknown };
    try {
      answer = await client.request({ body: { method, params }, timeout: node.timeoutMs });
    } catch {
      // The library's error quotes the URL and the body: it stops here.
      throw new RpcUnreachableError(method, 'no answer');
    }
    if (isErrorAnswer(answer?.error)) throw new RpcAnswerError(method, answer.error);
    if (typeof answer !== 'object' || answer === null || !('result' in answer)) {
      throw new RpcUnreachableError(method, 'an unreadable answer');
    }
    return answer.result;
  };
}

const isErrorAnswer = (error: unknown): error is { code: number; message: string } =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  typeof error.code === 'number' &&
  'message' in error &&
  typeof error.message === 'string';
