/** The brand's own host for invalidations: checks its callers, and passes what they send on with the brand's key. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { settings as limits } from '../../compose/config.ts';
import { listen } from '../../compose/listen.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { readApiKey, readSecret } from '../machine/read-input.ts';
import { resolveTarget } from '../service/target.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { readBody } from './webhooks/read-signed-event.ts';

interface ForwardInvalidationDeps {
  /** The service's endpoint. */
  url: string;
  apiKey: string;
  /** What callers must send; undefined: nothing. */
  callerKey: string | undefined;
  bodyLimitBytes: number;
  /** Longest wait for the service. */
  timeoutMs: number;
  fetch: typeof fetch;
}

const PATH = '/invalidate-external-api';

/** Contract: the brand-deployed variant; body and results are the service's, its errors as well. */
function createInvalidationForwarder(deps: ForwardInvalidationDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname !== PATH) return refusal(404, `There is no ${pathname} here; send POST ${PATH}`);
    if (request.method !== 'POST') return refusal(405, `${PATH} takes POST`, { allow: 'POST' });
    if (!mayAsk(deps, request))
      return refusal(401, 'Unauthorized: send Authorization: Bearer <key>', { 'www-authenticate': 'Bearer' });
    const body = await readBody(request, deps.bodyLimitBytes).catch(() => null);
    if (body === null) return refusal(400, 'The body broke off');
    if (!body) return refusal(413, `The body has more than ${deps.bodyLimitBytes} bytes`);
    return forward(deps, body);
  };
}

async function forward({ url, apiKey, timeoutMs, fetch }: ForwardInvalidationDeps, body: Uint8Array) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    // A key that the service refuses is this host's, not the caller's.
    if (response.status === 401) return refusal(502, 'The service refuses the API key of this host');
    return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
  } catch {
    return refusal(
      502,
      'The service gave no answer; nothing is known to be invalidated: send the same request again',
    );
  }
}

const refusal = (status: number, error: string, headers: Record<string, string> = {}) =>
  Response.json({ success: false, error }, { status, headers });

function mayAsk({ callerKey }: Pick<ForwardInvalidationDeps, 'callerKey'>, { headers }: Request): boolean {
  if (callerKey === undefined) return true;
  const sent = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(sent), digest(callerKey));
}

/** Of one length, whatever was sent. */
const digest = (text: string) => createHash('sha256').update(text).digest();

/** Longest wait for requests under way at the stop. */
const DRAIN_MS = 2_000;

interface UpdaterOptions {
  port: number;
  bind: string;
  forwardTo?: string;
  apiKeyFile?: string;
  callerKeyFile?: string;
}

export const runConstraintUpdater: Handler<UpdaterOptions> = async (context, options) => {
  const { runtime, settings } = context;
  const { apiKeyFile, callerKeyFile, bind: bindAddress, port } = options;
  const given = await readApiKey(runtime, apiKeyFile);
  const stack = given && options.forwardTo ? undefined : await resolveTarget(context);
  const apiKey = given ?? stack?.run?.brands[0]?.apiKey;
  if (!apiKey)
    throw usageError(
      "The brand's API key is missing.",
      'Name its file with --api-key-file, or set REWARDS_API_KEY.',
    );
  const base = options.forwardTo ?? stack?.urls.events ?? '';
  const url = new URL('/constraint-updater/invalidate-external-api', base).href;
  const callerKey = callerKeyFile === undefined ? undefined : await readSecret(runtime, callerKeyFile);
  const signals = catchStopSignals(runtime);
  const answer = createInvalidationForwarder({
    url,
    apiKey,
    callerKey,
    fetch,
    bodyLimitBytes: limits.bodyLimitBytes,
    timeoutMs: settings.timeout,
  });
  const listener = await listen({ fetch: answer }, { bindAddress, port, explicit: true });
  const at = `${listener.url}/invalidate-external-api`;
  const ready = { type: 'ready', url: listener.url, forwardTo: url, callerKey: callerKey !== undefined };
  const line = `takes invalidations at ${at} and passes them on to ${url}`;
  runtime.stdout.write(`${settings.output === 'json' ? JSON.stringify(ready) : line}\n`);
  await signals.first;
  await listener.close(DRAIN_MS);
  signals.release();
  return exitCodes.done;
};
