/** The emulated processor's API, as the package `stripe` speaks it: `/v1`, form-encoded, with Stripe's errors. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { findKeptAnswer, keepAnswerUnderKey } from '../../../ledger/emulator/processor.ts';
import { rootMessage } from '../../../lib/failures/root-cause.ts';
import type { Log } from '../../../lib/log.ts';
import type { Change, Records } from '../records.ts';
import { invalidRequest, StripeError } from '../stripe-error.ts';
import { type ApiRoute, apiRoutes, type RouteDeps } from './api-routes.ts';
import { parseForm, readParameters } from './form-parameters.ts';

export interface ApiHostDeps extends RouteDeps {
  books: Records;
  log: Log;
  /** The one key that is accepted. */
  secretKey: string;
  /** Brings everything up to now, before a request is answered. */
  catchUp: () => Promise<void>;
  /** Tells that something waits to be delivered. */
  nudge: () => void;
}

/** A checkout has some 2 KB. */
const BODY_MAX_BYTES = 256 * 1024;
/** As long as the API promises to know a key. */
const KEYS_KEPT_MS = 24 * 3_600_000;
const KEY_MAX = 255;

type Variables = { Variables: { requestId: string } };

export function createApiHost(deps: ApiHostDeps): Hono<Variables> {
  const app = new Hono<Variables>();
  app.use(async (context, next) => {
    const requestId = deps.books.newId('req_', 14);
    context.set('requestId', requestId);
    context.header('request-id', requestId);
    context.header('cache-control', 'no-store');
    const problem = keyProblem(context.req.header('authorization'), deps.secretKey);
    if (problem) return refuse(context, problem);
    await deps.catchUp();
    return next();
  });
  app.use(
    bodyLimit({
      maxSize: BODY_MAX_BYTES,
      onError: (context) => refuse(context, invalidRequest('The request is too large')),
    }),
  );
  for (const route of apiRoutes(deps)) {
    app.on(route.method, route.path, (context) => answer(deps, route, context));
  }
  app.all('*', (context) => {
    const message = `Unrecognized request URL (${context.req.method}: ${context.req.path}). The emulated processor knows checkout sessions, payment intents, charges, refunds, disputes, events and webhook endpoints.`;
    return refuse(context, new StripeError(404, { type: 'invalid_request_error', message }));
  });
  app.onError((error, context) => {
    if (error instanceof StripeError) return refuse(context, error);
    deps.log.error({ path: context.req.path, error: rootMessage(error) }, 'the emulated processor failed');
    const message = 'The emulated processor failed; the log of `rewards serve` says why.';
    return refuse(context, new StripeError(500, { type: 'api_error', message }));
  });
  return app;
}

/** A `POST` changes something, and answers the same again under its key; a `GET` only reads. */
async function answer(deps: ApiHostDeps, route: ApiRoute, context: Context<Variables>): Promise<Response> {
  const { req } = context;
  const requestId = context.get('requestId');
  const params = req.param() as Record<string, string>;
  if (!route.change) {
    const form = parseForm(new URL(req.url).search.slice(1));
    const shown = await route.read({ params, parameters: readParameters(form) });
    return context.json(shown);
  }
  const text = await req.text();
  const key = req.header('idempotency-key');
  if (key !== undefined && key.length > KEY_MAX) {
    throw invalidRequest(`Idempotency keys can be up to ${KEY_MAX} characters long`);
  }
  const { change: work } = route;
  const request = { id: requestId, key: key ?? null };
  const answered = await deps.books.change(async (change) => {
    const digest = digestOf([req.method, req.path, text]);
    const kept = key === undefined ? undefined : await keptAnswer(change, key, digest);
    if (kept) return kept;
    const shown = await work({ change, params, parameters: readParameters(parseForm(text)), request });
    const body = JSON.stringify(shown);
    if (key !== undefined) {
      await keepAnswerUnderKey(
        change.queries,
        { key, digest, requestId, status: 200, answer: body, createdAt: change.nowMs },
        change.nowMs - KEYS_KEPT_MS,
      );
    }
    return { body, firstRequestId: undefined };
  });
  deps.nudge();
  if (key !== undefined) context.header('idempotency-key', key);
  if (answered.firstRequestId !== undefined) {
    context.header('idempotent-replayed', 'true');
    context.header('original-request', answered.firstRequestId);
  }
  return context.body(answered.body, 200, { 'content-type': 'application/json' });
}

/** What an earlier request with this key was answered, unless it was another request. */
async function keptAnswer(change: Change, key: string, digest: string) {
  const kept = await findKeptAnswer(change.queries, key);
  if (!kept || kept.createdAt < change.nowMs - KEYS_KEPT_MS) return undefined;
  if (kept.digest === digest) return { body: kept.answer, firstRequestId: kept.requestId };
  throw new StripeError(400, {
    type: 'idempotency_error',
    message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  });
}

const digestOf = (parts: string[]) => createHash('sha256').update(parts.join('\n')).digest('hex');

const refuse = (context: Context, { status, body }: StripeError) =>
  context.json({ error: body }, status as 400);

/** As a bearer token, or as the user of basic authentication. */
function keyProblem(header: string | undefined, secretKey: string): StripeError | undefined {
  const [, scheme = '', value = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(header ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const given = isBasic ? (Buffer.from(value, 'base64').toString().split(':')[0] ?? '') : value;
  if (given === '') {
    return new StripeError(401, {
      type: 'invalid_request_error',
      message:
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). The banner of `rewards serve` shows the key of the emulated processor.",
    });
  }
  if (isSame(given, secretKey)) return undefined;
  const shown = `${given.slice(0, 8)}${'*'.repeat(Math.min(12, Math.max(0, given.length - 12)))}${given.slice(-4)}`;
  return new StripeError(401, {
    type: 'invalid_request_error',
    message: `Invalid API Key provided: ${given.length > 12 ? shown : '****'}`,
  });
}

const isSame = (one: string, other: string) =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest());
