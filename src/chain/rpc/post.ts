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
