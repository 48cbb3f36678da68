/** JSON-RPC to a node, with errors that hold neither the URL nor the bytes that were sent. */
import { causeOf } from '../../lib/failures/root-cause.ts';
import { scrub } from '../../lib/log.ts';
import { createDeadline } from '../../lib/timers.ts';
import { hasForm } from './answer-form.ts';

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
}

/** How much longer than its first byte a whole answer may take. */
const REST_OF_ANSWER_MS = 60_000;

/** One request per call, no retries: the caller knows which requests may be repeated. */
export function createRpc({ url, ...limits }: { url: string } & RpcLimits): Rpc {
  const { href, headers } = nodeAt(url);
  return async (method, params, less) => {
    let answer: Answer | undefined;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    try {
      answer = await post({ href, headers, method, body }, { ...limits, ...less });
    } catch (error) {
      if (error instanceof RpcTooLargeError) throw error;
      // Any other error quotes the URL: it stops here.
      throw new RpcUnreachableError(method, 'no answer', reasonOf(error));
    }
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
  };
}

/** The address as fetch takes it: user and password of the URL become a header. */
function nodeAt(url: string): { href: string; headers: Record<string, string> } {
  const headers = { 'content-type': 'application/json' };
  if (!URL.canParse(url)) return { href: url, headers };
  const parts = new URL(url);
  const { username, password } = parts;
  if (!username) return { href: url, headers };
  Object.assign(parts, { username: '', password: '' });
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { href: parts.href, headers: { ...headers, authorization: `Basic ${login.toString('base64')}` } };
}

interface Answer {
  result?: unknown;
  error?: unknown;
}

/** What the node sent; errors have all kinds of statuses, a result has a good one. */
async function post(
  request: { href: string; headers: Record<string, string>; method: string; body: string },
  { timeoutMs, answerMaxBytes }: RpcLimits,
): Promise<Answer | undefined> {
  const { href, headers, method, body } = request;
  const deadline = createDeadline(timeoutMs);
  try {
    const response = await fetch(href, { method: 'POST', headers, body, signal: deadline.signal });
    deadline.extend(REST_OF_ANSWER_MS);
    const limit = `our limit of ${answerMaxBytes} bytes`;
    if (Number(response.headers.get('content-length') ?? 0) > answerMaxBytes) {
      await response.body?.cancel();
      throw new RpcTooLargeError(method, limit);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      // Leaving the loop ends the request.
      if (bytes > answerMaxBytes) throw new RpcTooLargeError(method, limit);
      chunks.push(chunk);
    }
    const answer = parsed(Buffer.concat(chunks).toString());
    if (!response.ok && !isErrorAnswer(answer?.error)) throw new Error(`HTTP ${response.status}`);
    return answer;
  } finally {
    deadline.over();
  }
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
  if (error instanceof Error && /^(?:AbortError|TimeoutError)$/.test(error.name)) return 'timeout';
  const cause = causeOf(error);
  return /^(?:HTTP \d+|[A-Z]+(?:_[A-Z]+)*)$/.test(cause) ? cause : 'no answer';
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
