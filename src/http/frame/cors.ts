/** Cross-origin rules: exactly the brands' own pages may read answers (contract: Authentication, CORS). */
import type { Context } from 'hono';
import { brandsOfHost } from '../../ledger/brands/brand-domains.ts';
import type { Database } from '../../ledger/database/database.ts';
import { createTickDedupe } from '../../lib/batch/shared-answers.ts';
import { hostOfUrl, isWithin } from '../../rules/brands/domain.ts';
import { setHeader } from './answer.ts';
import type { FrameStep } from './framed.ts';

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
export function cors(deps: CorsDeps): FrameStep {
  const isAllowed = rememberingAllowed(deps);
  return {
    before(context) {
      setHeader(context, 'vary', 'Origin');
      const origin = context.req.header('origin');
      const isPreflight = context.req.method === 'OPTIONS';
      if (origin === undefined) return isPreflight ? preflightAnswer() : undefined;
      return isAllowed(origin).then((allows) => {
        if (allows) allow(context, origin);
        if (allows && isPreflight) allowAsked(context);
        return isPreflight ? preflightAnswer() : undefined;
      });
    },
  };
}

const preflightAnswer = () => new Response(null, { status: 204 });

function allow(context: Context, origin: string): void {
  setHeader(context, 'access-control-allow-origin', origin);
  setHeader(context, 'access-control-allow-credentials', 'true');
  setHeader(context, 'access-control-expose-headers', EXPOSED);
}

function allowAsked(context: Context): void {
  setHeader(context, 'access-control-allow-methods', 'GET, POST, OPTIONS');
  // The contract's list, and one more header that our own script sends.
  const asked = context.req.header('access-control-request-headers') ?? '';
  const isIdempotent = /\bidempotency-key\b/i.test(asked);
  setHeader(
    context,
    'access-control-allow-headers',
    isIdempotent ? 'Content-Type, Authorization, Idempotency-Key' : 'Content-Type, Authorization',
  );
  setHeader(context, 'vary', 'Origin, Access-Control-Request-Headers');
  setHeader(context, 'access-control-max-age', String(PREFLIGHT_MAX_AGE_SECONDS));
}

/** Origins whose last answer is remembered: anybody can send any, so there is an end to them. */
const REMEMBERED_MAX = 10_000;
/** `https://`, a DNS name of 253 characters and a port; a longer one is nobody's, and is not remembered. */
const ORIGIN_LENGTH_MAX = 267;

/** Asks the ledger; while it cannot tell, what it said last counts, so that pages can read that it is away. */
function rememberingAllowed(deps: CorsDeps): (origin: string) => Promise<boolean> {
  const remembered = new Map<string, boolean>();
  const ask = createTickDedupe((origin: string) => isAllowed(deps, origin));
  return async (origin) => {
    if (origin.length > ORIGIN_LENGTH_MAX) return false;
    try {
      const allows = await ask(origin);
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

async function isAllowed({ database, ownHosts, httpsOnly }: CorsDeps, origin: string): Promise<boolean> {
  const host = hostOfUrl(origin);
  // An origin is scheme, host and port, and nothing else: what has more did not come from a browser.
  if (!host || new URL(origin).origin !== origin) return false;
  if (httpsOnly && !origin.startsWith('https://')) return false;
  if (ownHosts.some((own) => isWithin(host, own))) return true;
  return (await brandsOfHost(database.db, host)).length > 0;
}
