/** The brand's own host for invalidations: checks its callers, and passes what they send on with the brand's key. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readBody } from '../webhooks/read-body.ts';

export interface ForwardInvalidationDeps {
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
export function createInvalidationForwarder(
  deps: ForwardInvalidationDeps,
): (request: Request) => Promise<Response> {
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
