/** Gives each request an id, and hands over what happened to it once it is answered, with the headers that are recorded. */
import type { Context } from 'hono';
import type { RequestHost } from '../../contract/control/requests.ts';
import type { Clock } from '../../lib/clock.ts';
import { placedName, type Random } from '../../lib/ids.ts';
import { stopwatch } from '../../lib/timers.ts';
import { addHeaders } from './answer.ts';
import type { FrameStep } from './framed.ts';
import { routeOf } from './measured.ts';
import type { BodyKept, Credential, Observer, RequestRecord, RequestVariables } from './request-record.ts';

export function requestNotes(
  deps: { clock: Clock; random: Random; observer: Observer },
  host: RequestHost,
): FrameStep {
  return {
    before(context) {
      const atMs = deps.clock.now();
      const requestId = `req_${placedName(deps.random, { nowMs: atMs, count: 20 })}`;
      context.set('notes', {
        requestId,
        atMs,
        elapsedMs: stopwatch(),
        traces: [],
        headers: { 'x-request-id': requestId },
      });
      return undefined;
    },
    after(context, answer) {
      addHeaders(context.get('notes'), answer);
      const { request: observe, withoutBodies = false } = deps.observer;
      if (!observe) return undefined;
      const record = recordOf(context, { host, answer });
      if (withoutBodies) {
        observe(record);
        return undefined;
      }
      const { complete } = context.get('notes');
      if (complete?.answer === answer) {
        const { text, headers } = complete;
        observe(withBodies(context, { record, text, header: (name) => headers[name] ?? null }));
        return undefined;
      }
      const header = (name: string) => answer.headers.get(name);
      return bodyOf(answer).then((text) => {
        observe(withBodies(context, { record, text, header }));
        return undefined;
      });
    },
  };
}

type InFrame = Context<RequestVariables>;

/** A record without bodies, and without the headers that are kept beside them. */
function recordOf(
  context: InFrame,
  { host, answer }: { host: RequestHost; answer: Response },
): RequestRecord {
  const { req } = context;
  const { requestId, atMs, elapsedMs, traces } = context.get('notes');
  return {
    id: requestId,
    host,
    atMs,
    method: req.method,
    path: req.path,
    route: routeOf(context),
    search: req.url.includes('?') ? new URL(req.url).search : '',
    status: answer.status,
    durationMs: Math.round(elapsedMs()),
    origin: req.header('origin'),
    credential: credentialOf(req.raw.headers),
    headers: {},
    answerHeaders: {},
    bodyKept: 'not kept',
    requestBody: undefined,
    responseBody: undefined,
    traces,
  };
}

/** `text` and `header` are the answer's. */
function withBodies(
  context: InFrame,
  {
    record,
    text,
    header,
  }: { record: RequestRecord; text: string | undefined; header: (name: string) => string | null },
): RequestRecord {
  const { headers } = context.req.raw;
  const { body } = context.get('notes');
  return {
    ...record,
    requestBody: body,
    responseBody: text,
    headers: keptRequestHeaders((name) => headers.get(name)),
    answerHeaders: keptAnswerHeaders(header),
    bodyKept: bodyKept(headers, body),
  };
}

const bodyKept = (headers: Headers, read: string | undefined): BodyKept => {
  if (read !== undefined) return 'whole';
  const came = Number(headers.get('content-length') ?? 0) > 0 || headers.has('transfer-encoding');
  return came ? 'refused' : 'none';
};

/** Pictures and archives are not worth their size in a log of texts. */
const bodyOf = async (response: Response) =>
  response.body && /^text\/|json|javascript|xml/.test(response.headers.get('content-type') ?? 'text/')
    ? response.clone().text()
    : undefined;

/** All others are left out by not being named: Authorization, Cookie, signatures, addresses of callers. */
const OF_REQUESTS = ['content-type', 'idempotency-key', 'if-none-match'] as const;
const OF_ANSWERS = [
  'content-type',
  'etag',
  'location',
  'retry-after',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
] as const;

type Header = (name: string) => string | null;

/** Which headers of a request and of its answer are recorded: those that change what a request does, never a credential. */
const keptRequestHeaders = (header: Header) => chosen(header, OF_REQUESTS);
const keptAnswerHeaders = (header: Header) => chosen(header, OF_ANSWERS);

function chosen(header: Header, names: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = header(name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

/** What kind of proof came with a request; the proof itself is forgotten. */
function credentialOf(headers: Headers): Credential | undefined {
  const [scheme = '', value = ''] = (headers.get('authorization') ?? '').split(' ');
  if (scheme.toLowerCase() === 'basic') return 'password';
  if (scheme !== '') return value.startsWith('eyJ') ? 'token' : 'key';
  if (headers.has('stripe-signature')) return 'signature';
  return headers.has('cookie') ? 'cookie' : undefined;
}
