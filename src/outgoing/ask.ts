/** One bounded request to a stranger's URL: where it may go is checked first, and nothing it answers can harm us. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { createDeadline, stopwatch } from '../lib/timers.ts';
import { isInside } from './public-address.ts';
import { findTarget, type Target, type TargetDeps } from './target.ts';

export interface AskDeps extends TargetDeps {
  /** Certificates that are trusted instead of the machine's, in PEM. */
  ca?: string;
  /** Stands between the service and strangers: each request goes through it. */
  through?: (asked: Asked, send: () => Promise<Answered>) => Promise<Answered>;
}

export interface AskLimits {
  /** From the first question to DNS until the connection is encrypted. */
  connectMs: number;
  /** From the first question to DNS until the answer's last byte. */
  totalMs: number;
  /** Of the answer's body; the rest is not read. */
  bytesMax: number;
}

export interface Asked {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  limits: AskLimits;
  /** Ends the request, when the process stops. */
  signal?: AbortSignal;
}

/** `why` is a sentence for people without its full stop; no address of ours is in it. */
export type Answered =
  | {
      outcome: 'answered';
      status: number;
      headers: IncomingMessage['headers'];
      body: Uint8Array;
      /** False when the body was cut, at the limit of bytes or time or by the other side. */
      isComplete: boolean;
      ms: number;
    }
  | { outcome: 'failed'; why: string; ms: number };

/** Gives the connection the addresses that were checked, instead of asking DNS again. */
const pinnedTo =
  ({ addresses }: Target): LookupFunction =>
  (_, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family);
  };

/**
 * One connection for one request: the next request is checked again. In production the agent checks a second time, by
 * code that is not ours, what it is about to connect to; the operator's own networks are the exception to it.
 */
async function agentFor({ reach }: AskDeps, { url, addresses }: Target): Promise<HttpAgent> {
  if (reach.to === 'any') return url.protocol === 'https:' ? new HttpsAgent() : new HttpAgent();
  const { RequestFilteringHttpsAgent } = await import('request-filtering-agent');
  const own = addresses.map(({ address }) => address).filter((address) => isInside(reach.networks, address));
  return new RequestFilteringHttpsAgent({ allowIPAddressList: own });
}

async function open(deps: AskDeps, target: Target, { method, headers, body }: Asked): Promise<ClientRequest> {
  const { url, name } = target;
  const secure = url.protocol === 'https:';
  return (secure ? overHttps : overHttp)(url, {
    method,
    agent: await agentFor(deps, target),
    lookup: pinnedTo(target),
    ...(secure && {
      rejectUnauthorized: true,
      ...(name && { servername: name }),
      ...(deps.ca && { ca: deps.ca }),
    }),
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      ...(body && { 'content-length': String(body.length) }),
    },
  });
}

/** What went wrong with a connection, in words that say nothing about our network. */
function whyBroken(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was closed before an answer came';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'the address cannot be reached';
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  if (/CERT|SSL|TLS|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO/.test(code)) return `TLS failed (${code})`;
  return `the connection broke (${code || message})`;
}

/** Reads until the body ends, is longer than it may be, breaks, or the time is over; what came counts. */
async function readBody(answer: IncomingMessage, bytesMax: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      const kept = chunk.subarray(0, bytesMax - length);
      chunks.push(kept);
      length += kept.length;
      if (kept.length < chunk.length) return { body: Buffer.concat(chunks), isComplete: false };
    }
    return { body: Buffer.concat(chunks), isComplete: answer.complete };
  } catch {
    return { body: Buffer.concat(chunks), isComplete: false };
  }
}

/** Resolves with the answer's head; rejects when the connection ends without one. */
function headOf(
  request: ClientRequest,
  onConnected: () => void,
  body?: Uint8Array,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('socket', (socket: Socket) => {
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected);
    });
    request.once('response', resolve);
    request.on('error', reject);
    // Also after a protocol switch that was not asked for, which is not an error to Node.
    request.once('close', () => reject(new Error('closed without an answer')));
    request.end(body);
  });
}

/** Aborts with the first of `signals`; a signal that outlives the request keeps nothing of it once it is forgotten. */
function anyOf(signals: AbortSignal[]) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const one of signals) {
    if (one.aborted) abort();
    one.addEventListener('abort', abort, { once: true });
  }
  const forget = () => {
    for (const one of signals) one.removeEventListener('abort', abort);
  };
  return { ends: controller.signal, forget };
}

/**
 * Asks once, within all limits: redirects are not followed, bodies not unpacked, certificates checked, and proxies of
 * the environment not used. Never throws for what the other side or DNS does. An answer whose head came counts, even
 * when its body did not end in time.
 */
export const ask = (deps: AskDeps, asked: Asked): Promise<Answered> =>
  deps.through ? deps.through(asked, () => askDirectly(deps, asked)) : askDirectly(deps, asked);

async function askDirectly(deps: AskDeps, asked: Asked): Promise<Answered> {
  const { limits, signal } = asked;
  const elapsed = stopwatch();
  const ms = () => Math.round(elapsed());
  const failed = (why: string): Answered => ({ outcome: 'failed', why, ms: ms() });
  const connecting = createDeadline(limits.connectMs);
  const whole = createDeadline(limits.totalMs);
  const { ends, forget } = anyOf([connecting.signal, whole.signal, ...(signal ? [signal] : [])]);
  const aborted = new Promise<undefined>((resolve) => {
    if (ends.aborted) resolve(undefined);
    ends.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const whyEnded = () => {
    if (signal?.aborted) return 'the service stopped';
    if (whole.signal.aborted) return `no answer within ${limits.totalMs / 1_000} s`;
    return `no connection within ${limits.connectMs / 1_000} s`;
  };
  let request: ClientRequest | undefined;
  try {
    const target = await Promise.race([findTarget(deps, asked.url), aborted]);
    if (!target) return failed(whyEnded());
    if ('why' in target) return failed(target.why);
    request = await open(deps, target, asked);
    const sent = request;
    ends.addEventListener('abort', () => sent.destroy(), { once: true });
    if (ends.aborted) return failed(whyEnded());
    const answer = await headOf(request, connecting.over, asked.body);
    const { body, isComplete } = await readBody(answer, limits.bytesMax);
    const { statusCode: status = 0, headers } = answer;
    return { outcome: 'answered', status, headers, body, isComplete, ms: ms() };
  } catch (error) {
    return failed(ends.aborted ? whyEnded() : whyBroken(error));
  } finally {
    connecting.over();
    whole.over();
    forget();
    request?.on('error', () => {});
    request?.destroy();
  }
}
