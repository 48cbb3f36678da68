/** POST requests to one address over connections that are kept: for small bodies a third of what `fetch` costs. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createDeadline } from '../../lib/timers.ts';

/** Shorter than the time after which load balancers close an idle connection, so that no request is sent into a closing one. */
const IDLE_CONNECTION_MS = 4_000;

interface PostLimits {
  /** How long the first byte of an answer may take, and how much longer the rest of it. */
  firstByteMs: number;
  restMs: number;
  /** The largest body that is read, after it was unpacked. */
  answerMaxBytes: number;
}

interface PostAnswer {
  status: number;
  text: string;
}

/** The answer is larger than its limit. */
export class AnswerTooLargeError extends Error {
  override name = 'AnswerTooLargeError';
}

/** Rejects with `TimeoutError`, `AnswerTooLargeError`, or what stood in the way. Follows no redirect. */
export type Post = (body: string, limits: PostLimits) => Promise<PostAnswer>;

/** `url`: http or https; user and password in it become a header. Throws for anything else. */
export function createPost(url: string): Post {
  const { protocol, hostname, port, pathname, search, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error('the address is not one of http or https');
  const isPlain = protocol === 'http:';
  const kept = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
  const request = isPlain ? httpRequest : httpsRequest;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const options = {
    method: 'POST',
    agent: isPlain ? new HttpAgent(kept) : new HttpsAgent(kept),
    // An IPv6 address stands in brackets in a URL only.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port || undefined,
    path: `${pathname}${search}`,
    headers: {
      'content-type': 'application/json',
      'accept-encoding': 'gzip',
      ...(username && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
    },
  };
  return (body, limits) =>
    new Promise((resolve, reject) => {
      const deadline = createDeadline(limits.firstByteMs);
      const headers = { ...options.headers, 'content-length': Buffer.byteLength(body) };
      const sent = request({ ...options, headers }, (answer) => {
        deadline.extend(limits.restMs);
        readBody(answer, limits.answerMaxBytes)
          .then((text) => resolve({ status: answer.statusCode ?? 0, text }))
          .catch((error: unknown) => {
            sent.destroy();
            reject(error);
          })
          .finally(() => deadline.over());
      });
      const fail = (error: Error) => {
        deadline.over();
        reject(error);
      };
      deadline.signal.addEventListener('abort', () => {
        fail(Object.assign(new Error('the time is over'), { name: 'TimeoutError' }));
        sent.destroy();
      });
      sent.on('error', fail);
      sent.end(body);
    });
}

function readBody(answer: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(answer.headers['content-length'] ?? 0) > maxBytes)
    return Promise.reject(new AnswerTooLargeError());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const body: Readable =
      answer.headers['content-encoding'] === 'gzip' ? answer.pipe(createGunzip()) : answer;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) reject(new AnswerTooLargeError());
      else chunks.push(chunk);
    });
    body.on('end', () => resolve(Buffer.concat(chunks).toString()));
    for (const stream of new Set([answer, body])) stream.on('error', reject);
  });
}

// The form of each answer that the service reads from a node: anything else is refused before a decision rests on it.

const isQuantity = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value);
const isData = (value: unknown) => typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value);

type Form = (value: unknown) => boolean;

const has = (fields: Record<string, Form>): Form => {
  const forms = Object.entries(fields);
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    forms.every(([name, form]) => form((value as Record<string, unknown>)[name]));
};
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value);
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);

const isBlock = has({ number: isQuantity, hash: isData, parentHash: isData, timestamp: isQuantity });
const isLog = has({ address: isData, topics: listOf(isData), data: isData, transactionHash: isData });
const isReceipt = has({
  transactionHash: isData,
  blockHash: isData,
  status: isQuantity,
  gasUsed: isQuantity,
  effectiveGasPrice: isQuantity,
  logs: listOf(isLog),
});

const forms: Record<string, Form> = {
  eth_blockNumber: isQuantity,
  eth_chainId: isQuantity,
  eth_estimateGas: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  eth_getTransactionCount: isQuantity,
  eth_maxPriorityFeePerGas: isQuantity,
  eth_call: isData,
  eth_getCode: isData,
  eth_getBlockByNumber: orNull(isBlock),
  eth_getBlockReceipts: orNull(listOf(isReceipt)),
  eth_getTransactionReceipt: orNull(isReceipt),
  eth_getTransactionByHash: orNull(has({ input: isData })),
  eth_getLogs: listOf(isLog),
  eth_simulateV1: Array.isArray,
};

/** Whether an answer has the form that its method promises; null stands for "not known" where the standard says so. */
export const hasForm = (method: string, answer: unknown): boolean => forms[method]?.(answer) ?? true;
