/** JSON-RPC to a node, with errors that hold neither the URL nor the bytes that were sent. */
import { causeOf } from '../../lib/failures/root-cause.ts';
import { scrub } from '../../lib/log.ts';
import { AnswerTooLargeError, createPost, hasForm, type Post } from './post.ts';
import { type Answer, createRpcBatches, mayShareBatch } from './rpc-batches.ts';

/** The node answered, with an error. */
export class RpcAnswerError extends Error {
  override name = 'RpcAnswerError';
  readonly rpcCode: number;
  /** The node's own words, needed to sort them; never shown or logged. */
  readonly nodeMessage: string;
  /** Another node was asked before and gave no answer: it may have done what this one refused. */
  othersUnanswered = false;
  constructor(method: string, answer: { code: number; message: string }) {
    super(`${method}: the node answered with error ${answer.code}: ${scrub(answer.message).slice(0, 300)}`);
    this.rpcCode = answer.code;
    this.nodeMessage = answer.message;
  }
}

/** No usable answer: whether the node did anything is not known. */
export class RpcUnreachableError extends Error {
  override name = 'RpcUnreachableError';
  /** What stood in the way, such as `ECONNREFUSED`, `HTTP 503` or `timeout`. */
  readonly reason: string;
  constructor(method: string, why: 'no answer' | 'an unreadable answer', reason: string = why) {
    super(`${method}: ${why} from the node`);
    this.reason = reason;
  }
}

/** The node works, and this answer is larger than our limit or its own: only a request for less is of use. */
export class RpcTooLargeError extends Error {
  override name = 'RpcTooLargeError';
  constructor(method: string, limit: string) {
    super(`${method}: the answer is too large for ${limit}`);
  }
}

/** Whether an error comes from a node, or from the way to it. */
export const isRpcError = (error: unknown): error is Error =>
  error instanceof RpcAnswerError ||
  error instanceof RpcUnreachableError ||
  error instanceof RpcTooLargeError;

/** One request to a node. `limits` makes less of an answer too large than the connection's own limit does. */
export type Rpc = (
  method: string,
  params: readonly unknown[],
  limits?: Pick<RpcLimits, 'answerMaxBytes'>,
) => Promise<unknown>;

export interface RpcLimits {
  /** How long the first byte of an answer may take. */
  timeoutMs: number;
  /** The largest answer that is read. */
  answerMaxBytes: number;
  /** The most requests in one post; without it, each goes by itself. */
  batchMax?: number;
}

/** How much longer than its first byte a whole answer may take. */
const REST_OF_ANSWER_MS = 60_000;

/** Each request is sent once, never again: the caller knows which may be repeated. */
export function createRpc({ url, batchMax = 1, ...limits }: { url: string } & RpcLimits): Rpc {
  let post: Post | undefined;
  const exchange = async (body: string, less?: Pick<RpcLimits, 'answerMaxBytes'>): Promise<unknown> => {
    post ??= createPost(url);
    const { timeoutMs, answerMaxBytes } = { ...limits, ...less };
    const { status, text } = await post(body, {
      firstByteMs: timeoutMs,
      restMs: REST_OF_ANSWER_MS,
      answerMaxBytes,
    });
    const answer = parsed(text);
    // Errors have all kinds of statuses, a result has a good one.
    const isGood = status >= 200 && status < 300;
    if (!isGood && !isErrorAnswer(answer?.error)) throw new Error(`HTTP ${status}`);
    return answer;
  };
  const failureOf = (method: string, error: unknown, answerMaxBytes = limits.answerMaxBytes) =>
    error instanceof AnswerTooLargeError
      ? new RpcTooLargeError(method, `our limit of ${answerMaxBytes} bytes`)
      : // Any other error quotes the URL: it stops here.
        new RpcUnreachableError(method, 'no answer', reasonOf(error));
  const together = createRpcBatches({
    batchMax,
    exchange,
    failureOf,
    resultOf,
    isAboutBatch: (failure) =>
      failure instanceof RpcTooLargeError ||
      (failure instanceof RpcUnreachableError && /^HTTP 4(?!29|0[138])/.test(failure.reason)),
  });
  return async (method, params, less) => {
    if (!less && mayShareBatch(method)) return together(method, params);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await exchange(body, less).catch((error: unknown) => {
      throw failureOf(method, error, less?.answerMaxBytes);
    });
    return resultOf(method, answer as Answer | undefined);
  };
}

/** Throws what the caller is told when the answer is not a result. */
function resultOf(method: string, answer: Answer | undefined): unknown {
  if (isErrorAnswer(answer?.error)) {
    if (isTooLarge(method, answer.error)) throw new RpcTooLargeError(method, 'the node');
    throw new RpcAnswerError(method, answer.error);
  }
  if (
    typeof answer !== 'object' ||
    answer === null ||
    !('result' in answer) ||
    !hasForm(method, answer.result)
  ) {
    throw new RpcUnreachableError(method, 'an unreadable answer');
  }
  return answer.result;
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined;
  }
}

/** Why a request got no answer, without the URL and the body that other errors quote. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name)) return 'timeout';
  const cause = causeOf(error);
  return /^[A-Z][A-Z\d_ ]*$/.test(cause) ? cause : 'no answer';
}

const isErrorAnswer = (error: unknown): error is { code: number; message: string } =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  typeof error.code === 'number' &&
  'message' in error &&
  typeof error.message === 'string';

/** The requests whose answers grow with what is in blocks, and so meet a node's own limits. */
const GROWING = new Set(['eth_getLogs', 'eth_getBlockReceipts']);

/** The wordings of geth, reth, erigon, nethermind, besu and the large providers; some share a code with rate limits. */
const TOO_LARGE =
  /(?:response|result)s?(?: size)?(?: is)? (?:too (?:big|large)|exceed)|more than [\d,]+ (?:results|logs)|too many (?:results|logs)|max results|block range|query timeout exceeded|exceeds? (?:the )?(?:max|limit)/i;

const isTooLarge = (method: string, { message }: { message: string }) =>
  GROWING.has(method) && TOO_LARGE.test(message);

/** What a connection to a node may take, from any part of the program. */
export const rpcLimits = {
  /** The same bytes can be sent again, so giving up is safe. */
  timeoutMs: 10_000,
  /** Far more than the receipts of any block; less than what would take a process's memory. */
  answerMaxBytes: 256 * 1024 * 1024,
  /** What Erigon takes unless it is told otherwise, the least among nodes; one that takes no batch is asked one by one. */
  batchMax: 100,
} as const;
