/** POST relay and GET relay/<hash> (contract: Endpoints). */
import type { Context, Handler } from 'hono';
import { answerOnce } from '../../actions/answer-once.ts';
import type { RelayOutcome } from '../../actions/relay/relay-transaction.ts';
import { IDEMPOTENCY_KEY_PROBLEM, idempotencyKeyField } from '../../contract/idempotency-key.ts';
import { parseRelay } from '../../contract/relay/relay.ts';
import type { RateWindow } from '../../ledger/limits/rate-windows.ts';
import { findRelayByHash } from '../../ledger/relay/queued-relays.ts';
import { hostOfUrl } from '../../rules/brands/domain.ts';
import { clientAddress, countedAddress } from '../frame/client-address.ts';
import { forwardedFacts } from '../frame/https-only.ts';
import { readJsonBody } from '../frame/json-body.ts';
import { rateHeaders } from '../frame/rate-headers.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { RelayHostDeps } from './host.ts';
import type { RelayHostRefusal } from './refusals.ts';
import { relayResultReply, relayStateReply } from './relay-reply.ts';

/** Counts the request against its address; the refusal when that had too many. */
async function admit(deps: RelayHostDeps, context: Context): Promise<Response | undefined> {
  const address = clientAddress(forwardedFacts(context), deps.proxies);
  const { taken, ...window } = await deps.admitAddress(countedAddress(address));
  setHeaders(context, window);
  if (taken) return undefined;
  return deps.refuser.answer(context, { code: 'rate_limit_exceeded', scope: 'address', window });
}

/** On every answer; the user's limit in place of the address's as soon as it is known. */
function setHeaders(context: Context, window: RateWindow): void {
  for (const [name, value] of Object.entries(rateHeaders(window))) context.header(name, value);
}

export function relay(deps: RelayHostDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const refuse = (refusal: RelayHostRefusal) => refuser.answer(context, refusal);
    const tooMany = await admit(deps, context);
    if (tooMany) return tooMany;
    const user = await deps.tokens.verify(context.req.header('authorization'));
    if ('refusal' in user) {
      const down = user.refusal.code === 'keys_unavailable';
      return refuse(
        down ? { code: 'identity_unavailable' } : { code: 'unauthorized', refusal: user.refusal },
      );
    }
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) {
      const { refusal } = body;
      return refuse(
        refusal.code === 'body_too_large' || refusal.code === 'invalid_body' ? refusal : unexpected(),
      );
    }
    context.get('notes').body = body.text;
    const parsed = parseRelay(body.value);
    if ('missing' in parsed) return refuse({ code: 'missing_fields', missing: parsed.missing });
    if ('errors' in parsed) return refuse({ code: 'invalid_fields', errors: parsed.errors });
    const header = context.req.header('idempotency-key');
    const key = header ? idempotencyKeyField.safeParse(header) : undefined;
    if (key && !key.success) return refuse({ code: 'invalid_fields', errors: [IDEMPOTENCY_KEY_PROBLEM] });

    const { fields } = parsed;
    const originHost = hostOfUrl(context.req.header('origin') ?? '');
    const request = { ...fields, wallets: user.wallets, originHost };
    let window: RateWindow | undefined;
    let headers: Record<string, string> | undefined;
    const perform = async (effect?: { id: string; mayExist: boolean }) => {
      const outcome = await deps.relayTransaction(request, effect);
      window = outcome.window ?? window;
      const { retryAfterSeconds, ...answer } = answerTo(deps, outcome);
      headers = retryAfterSeconds === undefined ? undefined : { 'Retry-After': String(retryAfterSeconds) };
      return answer;
    };
    // The key is the user's: nobody gets the answer to somebody else's request.
    const scope = `relay ${user.subject}`;
    const answer = key
      ? await answerOnce(deps, { scope, key: key.data, body: body.text }, perform)
      : await perform();
    window ??= await deps.windowOf(fields.userAddress);
    setHeaders(context, window);
    if ('code' in answer) return refuse(answer);
    for (const [name, value] of Object.entries(headers ?? {})) context.header(name, value);
    return context.body(answer.body, answer.status as 200, { 'Content-Type': 'application/json' });
  };
}

const unexpected = (): never => {
  throw new Error('a body was refused for a reason that it cannot have');
};

function answerTo(
  deps: RelayHostDeps,
  outcome: RelayOutcome,
): { status: number; body: string; retryAfterSeconds?: number | undefined } {
  if ('relayed' in outcome) {
    return {
      status: 200,
      body: JSON.stringify(relayResultReply(outcome.relayed, deps.settings.explorerUrl)),
    };
  }
  const { status, body, retryAfterSeconds } = deps.refuser.reply(outcome.refusal);
  return { status, body: JSON.stringify(body), retryAfterSeconds };
}

export function relayStatus(deps: RelayHostDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const tooMany = await admit(deps, context);
    if (tooMany) return tooMany;
    const hash = (context.req.param('hash') ?? '').toLowerCase();
    if (!/^0x[0-9a-f]{64}$/.test(hash)) return refuser.answer(context, { code: 'invalid_hash' });
    const found = await findRelayByHash(deps.database.db, hash as `0x${string}`);
    const state = found && relayStateReply(found, settings.explorerUrl);
    return state ? context.json(state) : refuser.answer(context, { code: 'relay_not_found' });
  };
}
