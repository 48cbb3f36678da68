/** The relay host: POST relay and GET relay/<hash> (contract: Endpoints, Relay result). */
import type { Context, Handler, Hono } from 'hono';
import type { Effect } from '../actions/answer-once.ts';
import type { RelayOutcome, RelayRequest } from '../actions/relay/relay-transaction.ts';
import { isIncluded } from '../chain/waiting/relay-waiters.ts';
import type { UsedWindow } from '../contract/headers.ts';
import { relayHostContract } from '../contract/relay/host.ts';
import type { RelayHostRefusal, RelayRefusalBody } from '../contract/relay/refusals.ts';
import { parseRelay, type RelayResult, type RelayState } from '../contract/relay/relay.ts';
import { checksummed, withChecksums } from '../identity/checksum.ts';
import type { TokenVerifier } from '../identity/tokens.ts';
import type { RelayProgress } from '../ledger/relay/queued-relays.ts';
import type { Clock } from '../lib/clock.ts';
import { hostOfUrl } from '../rules/brands/domain.ts';
import { jsonAnswer, setRateHeaders } from './frame/answer.ts';
import { readJsonBody } from './frame/body.ts';
import { clientAddress, countedAddress, forwardedFacts, type ProxyTrust } from './frame/client-address.ts';
import { createHostFrame, type HostFrameDeps } from './frame/host-frame.ts';
import {
  type AnswerOnce,
  answerKeyed,
  idempotencyKeyOf,
  idempotently,
  type Reply,
} from './frame/idempotently.ts';
import type { Refuser } from './frame/refuse.ts';
import type { RelayTrace, RequestVariables } from './frame/request-record.ts';

interface AdmitDeps {
  proxies: ProxyTrust;
  /** Counts a request against the address that it comes from. */
  admitAddress: (address: string) => Promise<UsedWindow & { taken: boolean }>;
  refuser: Refuser<RelayHostRefusal>;
}

interface RelayDeps extends AdmitDeps {
  tokens: Pick<TokenVerifier, 'verify'>;
  answerOnce: AnswerOnce;
  /** `actions/relay/relay-transaction` with its deps bound. */
  relayTransaction: (request: RelayRequest, effect?: Effect) => Promise<RelayOutcome>;
  /** How far a user's limit is used up. */
  windowOf: (userAddress: `0x${string}`) => Promise<UsedWindow>;
  clock: Clock;
  settings: {
    /** Call data has no limit of its own. */
    bodyLimitBytes: number;
    /** Where people can look at transactions; `/tx/<hash>` is appended. */
    explorerUrl: string;
  };
}

interface RelayStatusDeps extends AdmitDeps {
  /** The call that was sent under this hash. */
  findRelay: (hash: `0x${string}`) => Promise<RelayProgress | undefined>;
  settings: Pick<RelayDeps['settings'], 'explorerUrl'>;
}

/** Counts the request against its address; the refusal when that had too many. */
async function admit(
  deps: AdmitDeps,
  context: Context<RequestVariables>,
): Promise<RelayHostRefusal | undefined> {
  const address = clientAddress(forwardedFacts(context), deps.proxies);
  const { taken, ...window } = await deps.admitAddress(countedAddress(address));
  // The user's limit replaces the address's once the user is known.
  setRateHeaders(context, window);
  if (taken) return undefined;
  return { code: 'rate_limit_exceeded', scope: 'address', window };
}

function relay(deps: RelayDeps): Handler<RequestVariables> {
  const { refuser, settings, clock } = deps;
  return async (context: Context<RequestVariables>) => {
    const notes = context.get('notes');
    const trace: RelayTrace = {
      kind: 'relay',
      nowMs: clock.now(),
      bodyLimitBytes: settings.bodyLimitBytes,
    };
    const refuse = (refusal: RelayHostRefusal) => {
      notes.traces.push({ ...trace, refusal: refusalOf(refuser, refusal) });
      return refuser.answer(context, refusal);
    };
    const tooMany = await admit(deps, context);
    if (tooMany) return refuse(tooMany);
    const user = await deps.tokens.verify(context.req.header('authorization'));
    if ('refusal' in user) {
      const down = user.refusal.code === 'keys_unavailable';
      return refuse(
        down ? { code: 'identity_unavailable' } : { code: 'unauthorized', refusal: user.refusal },
      );
    }
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes, { empty: {} });
    if ('refusal' in body) return refuse(body.refusal);
    notes.body = body.text;
    trace.bodyBytes = Buffer.byteLength(body.text);
    const parsed = parseRelay(body.value);
    if ('missing' in parsed) return refuse({ code: 'missing_fields', missing: parsed.missing });
    if ('errors' in parsed) return refuse({ code: 'invalid_fields', errors: parsed.errors });
    const keyed = idempotencyKeyOf(context.req.header('idempotency-key'));
    if ('problem' in keyed) return refuse({ code: 'invalid_fields', errors: [keyed.problem] });

    const { fields } = parsed;
    const { userAddress, gasLimit, permit } = fields;
    Object.assign(trace, {
      userAddress,
      gasLimit,
      hasPermit: permit !== undefined,
      hasKey: keyed.key !== undefined,
    });
    const originHost = hostOfUrl(context.req.header('origin') ?? '');
    const request = { ...fields, wallets: user.wallets, email: user.email, originHost };
    let window: UsedWindow | undefined;
    // Keys are scoped to the user, so that no user gets the answer to another user's request.
    const asked = { scope: `relay ${user.subject}`, key: keyed.key, body: body.text };
    const answer = await idempotently(deps.answerOnce, asked, async (effect) => {
      const outcome = await deps.relayTransaction(request, effect);
      window = outcome.window ?? window;
      notes.traces.push(traceOf(refuser, trace, outcome));
      return answerTo(deps, outcome);
    });
    // A replay tells how far the limit is used up now, not how far it was then.
    setRateHeaders(context, window ?? (await deps.windowOf(fields.userAddress)));
    return 'code' in answer ? refuse(answer) : answerKeyed(context, answer);
  };
}

function answerTo({ refuser, settings }: RelayDeps, outcome: RelayOutcome): Reply {
  if ('relayed' in outcome) {
    const body = relayResultReply(outcome.relayed, settings.explorerUrl);
    return { status: 200, headers: {}, body, kept: 'answer' };
  }
  const { refusal } = outcome;
  const { status, headers, body } = refuser.reply(withChecksums(refusal));
  const { 'Retry-After': wait } = headers;
  // The call was sent: a later block may still hold it, or hold it no more.
  const isSent = refusal.code === 'transaction_failed' || refusal.code === 'confirmation_timeout';
  return {
    status,
    // How far the limit is used up is told anew with every answer.
    headers: wait === undefined ? {} : { 'Retry-After': wait },
    body,
    kept: isSent ? 'id' : 'nothing',
  };
}

function relayStatus(deps: RelayStatusDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context: Context<RequestVariables>) => {
    const tooMany = await admit(deps, context);
    if (tooMany) return refuser.answer(context, tooMany);
    const hash = context.req.param('hash') ?? '';
    if (!/^0x[0-9a-fA-F]{64}$/.test(hash)) return refuser.answer(context, { code: 'invalid_hash' });
    const found = await deps.findRelay(hash.toLowerCase() as `0x${string}`);
    const state = found && relayStateReply(found, settings.explorerUrl);
    return state ? jsonAnswer(context, state) : refuser.answer(context, { code: 'relay_not_found' });
  };
}

/** The state of a call that is signed; undefined before. */
function relayStateReply(relay: RelayProgress, explorerUrl: string): RelayState | undefined {
  const { hash, lane, recipient, outcome, gasUsed, gasPriceWei, blockNumber } = relay;
  if (!hash) return undefined;
  const included = isIncluded(relay);
  const done = included && outcome === 'done';
  return {
    success: done,
    status: !included ? 'pending' : done ? 'confirmed' : 'failed',
    transactionHash: hash,
    from: checksummed(lane),
    to: checksummed(recipient),
    explorerUrl: `${explorerUrl}/tx/${hash}`,
    ...(included && gasUsed !== null && { gasUsed: String(gasUsed), effectiveGasPrice: gasPriceWei ?? '0' }),
    ...(included && blockNumber !== null && { blockNumber }),
  };
}

/** The answer for a call that a block holds and that had its effect. */
function relayResultReply(relay: RelayProgress, explorerUrl: string): RelayResult {
  const state = relayStateReply(relay, explorerUrl);
  const { gasUsed, effectiveGasPrice, blockNumber } = state ?? {};
  if (!state || gasUsed === undefined || effectiveGasPrice === undefined || blockNumber === undefined)
    throw new Error(`the relay ${relay.id} is not confirmed`);
  return { ...state, success: true, status: 'confirmed', gasUsed, effectiveGasPrice, blockNumber };
}

type RelayRefuser = Pick<Refuser<RelayHostRefusal>, 'reply'>;

/** A refusal in the words of its answer. */
function refusalOf(refuser: RelayRefuser, refusal: RelayHostRefusal): NonNullable<RelayTrace['refusal']> {
  const { error: text, details } = refuser.reply(refusal).body as RelayRefusalBody;
  const { reason, retryAt } = details;
  return {
    code: refusal.code,
    text,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof retryAt === 'string' && { passesAtMs: Date.parse(retryAt) }),
  };
}

/** `known` is what was known before the decision. */
function traceOf(refuser: RelayRefuser, known: RelayTrace, outcome: RelayOutcome): RelayTrace {
  const { grounds, window } = outcome;
  const trace = { ...known, grounds, window };
  if ('relayed' in outcome)
    return { ...trace, decided: 'confirmed', transactionHash: outcome.relayed.hash ?? undefined };
  const { refusal } = outcome;
  return { ...trace, decided: refusal.code, refusal: refusalOf(refuser, refusal) };
}

export type RelayHostDeps = HostFrameDeps & RelayDeps & RelayStatusDeps;

/** The relay host: its endpoints and what they use (contract: Endpoints). */
export function createRelayHost(deps: RelayHostDeps): Hono<RequestVariables> {
  return createHostFrame(deps, {
    name: 'relay',
    contract: relayHostContract,
    refuse: deps.refuser.answer,
    handlers: { relay: relay(deps), relayStatus: relayStatus(deps) },
  });
}
