/** Cross-origin rules: exactly the brands' own pages may read answers (contract: Authentication, CORS). */
import type { Context, MiddlewareHandler } from 'hono';
import { brandsOfHost } from '../../ledger/brands/brand-domains.ts';
import type { Database } from '../../ledger/database/database.ts';
import { hostOfUrl, isWithin } from '../../rules/brands/domain.ts';

interface CorsDeps {
  database: Database;
  /** Hosts of the service itself: always allowed. */
  ownHosts: readonly string[];
  /** Only https origins; the emulator's pages may be plain. */
  httpsOnly: boolean;
}

/** Headers that pages may read beside those that CORS always lets them read. */
const EXPOSED =
  'ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset';
/** How long a browser may remember a preflight's answer; short, since domains change without a restart. */
const PREFLIGHT_MAX_AGE_SECONDS = 300;

/** Answers preflights, and names the allowed origin on every other answer. Every answer varies by Origin. */
export function cors(deps: CorsDeps): MiddlewareHandler {
  const isAllowed = rememberingAllowed(deps);
  return async (context, next) => {
    const origin = context.req.header('origin');
    const allows = origin !== undefined && (await isAllowed(origin).catch(refuseVaried(context)));
    const allowed = allows ? origin : undefined;
    const preflight = context.req.method === 'OPTIONS';
    if (!preflight) await next();
    else context.res = new Response(null, { status: 204 });
    context.header('Vary', 'Origin', { append: true });
    if (allowed === undefined) return;
    context.header('Access-Control-Allow-Origin', allowed);
    context.header('Access-Control-Allow-Credentials', 'true');
    context.header('Access-Control-Expose-Headers', EXPOSED);
    if (!preflight) return;
    context.header('Access-Control-Allow-Methods', 'GET, POST, OPTIONS');
    // The contract's list, and one more header that our own script sends.
    const asked = context.req.header('access-control-request-headers') ?? '';
    const idempotent = /\bidempotency-key\b/i.test(asked);
    context.header(
      'Access-Control-Allow-Headers',
      idempotent ? 'Content-Type, Authorization, Idempotency-Key' : 'Content-Type, Authorization',
    );
    context.header('Vary', 'Access-Control-Request-Headers', { append: true });
    context.header('Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_SECONDS));
  };
}

/** Origins whose last answer is remembered: anybody can send any, so there is an end to them. */
const REMEMBERED_MAX = 10_000;
/** `https://`, a DNS name of 253 characters and a port; a longer one is nobody's, and is not remembered. */
const ORIGIN_LENGTH_MAX = 267;

/** Asks the ledger; while it cannot tell, what it said last counts, so that pages can read that it is away. */
function rememberingAllowed(deps: CorsDeps): (origin: string) => Promise<boolean> {
  const remembered = new Map<string, boolean>();
  return async (origin) => {
    if (origin.length > ORIGIN_LENGTH_MAX) return false;
    try {
      const allows = await isAllowed(deps, origin);
      remembered.delete(origin);
      remembered.set(origin, allows);
      const [oldest] = remembered.keys();
      if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
      return allows;
    } catch (error) {
      const last = remembered.get(origin);
      if (last === undefined) throw error;
      return last;
    }
  };
}

/** Refuses when the ledger cannot tell whether the origin is allowed; this answer varies by Origin as well. */
const refuseVaried = (context: Context) => (error: unknown) => {
  context.header('Vary', 'Origin');
  throw error;
};

async function isAllowed({ database, ownHosts, httpsOnly }: CorsDeps, origin: string): Promise<boolean> {
  const host = hostOfUrl(origin);
  // An origin is scheme, host and port, and nothing else: what has more did not come from a browser.
  if (!host || new URL(origin).origin !== origin) return false;
  if (httpsOnly && !origin.startsWith('https://')) return false;
  if (ownHosts.some((own) => isWithin(host, own))) return true;
  return (await brandsOfHost(database.db, host)).length > 0;
}
