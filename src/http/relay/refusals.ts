/** The whole error table of the relay: which refusal is answered with which status, code and facts (contract: Relay errors). */
import type { Context } from 'hono';
import type { RelayRefusal, ValidationProblem } from '../../actions/relay/relay-transaction.ts';
import type { TokenRefusal } from '../../identity/tokens.ts';
import type { Clock } from '../../lib/clock.ts';
import { type RequestRefusal, refusalReply } from '../events/refusals.ts';
import type { FrameRefusal } from '../frame/host-frame.ts';
import { rateHeaders } from '../frame/rate-headers.ts';

export type RelayHostRefusal =
  | RelayRefusal
  | FrameRefusal
  | Extract<
      RequestRefusal,
      { code: 'invalid_body' | 'body_too_large' | 'idempotency_key_reused' | 'request_in_progress' }
    >
  | { code: 'missing_fields'; missing: string[] }
  | { code: 'invalid_fields'; errors: string[] }
  | { code: 'unauthorized'; refusal: TokenRefusal }
  | { code: 'identity_unavailable' }
  | { code: 'invalid_hash' }
  | { code: 'relay_not_found' };

export interface RelayReply {
  status: 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 503 | 504;
  body: { success: false; error: string; code: string; details: Record<string, unknown> };
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
}

const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1_000));

/** What to do about each reason for which a call is not sent. */
function explain(problem: ValidationProblem): string {
  switch (problem.reason) {
    case 'not_your_wallet':
      return 'userAddress is no wallet of the user whose token this is';
    case 'unknown_function':
      return 'the contract has no function for this data, or the data is not exactly its encoding';
    case 'function_not_allowed':
      return `${problem.function} may not be called through the relay`;
    case 'not_the_user':
      return `argument ${problem.argument + 1} of ${problem.function} must be userAddress`;
    case 'value_not_allowed':
      return `value must be at most ${problem.maxWei} for this call`;
    case 'gas_over_limit':
      return `gasLimit ${problem.gasLimit} is above the limit of ${problem.gasMax}`;
    case 'gas_below_need':
      return `gasLimit ${problem.gasLimit} is below the ${problem.gasMin} that the data alone costs`;
    case 'gas_price_over_limit':
      return `gas costs more than the limit of ${problem.capWei} wei at the moment: try again later`;
    case 'permit_not_of_user':
      return 'the permit is not of userAddress';
    case 'permit_spender_not_allowed':
      return `the permit lets ${problem.spender} spend, which is none of the allowed contracts`;
    case 'permit_not_signed':
      return "the permit's signature is not its owner's for this token, these values and the owner's present nonce";
    case 'permit_expired':
      return `the permit's deadline ${problem.deadlineSeconds} has passed, or is about to`;
    case 'permit_consumed':
      return `the permit was used already, and the allowance of ${problem.allowance} that it left does not suffice: ${problem.error}`;
    case 'would_fail':
      return `the ${problem.part} would fail on chain: ${problem.error}`;
  }
}

/** The documented answer for a refusal. */
export function relayReply(refusal: RelayHostRefusal, { nowMs }: { nowMs: number }): RelayReply {
  const reply = (
    status: RelayReply['status'],
    code: string,
    error: string,
    details: Record<string, unknown> = {},
  ): RelayReply => ({ status, body: { success: false, error, code, details } });
  const later = (answer: RelayReply, passesAtMs: number): RelayReply => {
    const retryAfterSeconds = seconds(passesAtMs - nowMs);
    const retryAt = new Date(passesAtMs).toISOString();
    Object.assign(answer.body.details, { remainingSeconds: retryAfterSeconds, retryAt });
    return { ...answer, retryAfterSeconds };
  };

  switch (refusal.code) {
    case 'missing_fields': {
      const { missing } = refusal;
      return reply(400, 'MISSING_FIELDS', `Missing required fields: ${missing.join(', ')}`, { missing });
    }
    case 'invalid_fields':
      return reply(400, 'INVALID_FIELDS', `Invalid fields: ${refusal.errors.join('; ')}`, {
        errors: refusal.errors,
      });
    case 'invalid_body':
      return reply(400, 'INVALID_BODY', refusal.problem, { errors: [refusal.problem] });
    case 'invalid_hash':
      return reply(400, 'INVALID_HASH', 'A transaction hash is 0x and 64 hex digits.');
    case 'unauthorized': {
      const { code, message } = refusal.refusal;
      return reply(401, 'UNAUTHORIZED', `Unauthorized: ${message}`, { reason: code });
    }
    case 'contract_not_whitelisted': {
      const { contract, allowed } = refusal;
      return reply(403, 'CONTRACT_NOT_WHITELISTED', `Contract ${contract} is not whitelisted`, {
        contract,
        allowed,
      });
    }
    case 'validation_failed': {
      const { contract, allowed, problem } = refusal;
      return reply(403, 'VALIDATION_FAILED', `Transaction validation failed: ${explain(problem)}`, {
        contract,
        allowed,
        ...problem,
      });
    }
    case 'rate_limit_exceeded': {
      const { window, scope } = refusal;
      const per =
        scope === 'user' ? 'relayed transactions an hour per user' : 'requests a minute per address';
      const answer = reply(429, 'RATE_LIMIT_EXCEEDED', `Rate limit exceeded: ${window.limit} ${per}`, {
        reason: scope,
        limit: window.limit,
      });
      return { ...later(answer, window.resetAtMs), headers: rateHeaders(window) };
    }
    case 'gas_budget_exceeded': {
      const text = 'The gas budget of this brand is used up for today; nothing was sent.';
      return later(reply(429, 'GAS_BUDGET_EXCEEDED', text, { reason: 'gas_budget' }), refusal.resetAtMs);
    }
    case 'transaction_failed': {
      const { hash, outcome, blockNumber, gasUsed } = refusal.relay;
      return reply(500, 'TRANSACTION_FAILED', 'The transaction was sent and had no effect on chain.', {
        transactionHash: hash,
        reason: outcome === 'reverted' ? 'reverted' : 'replaced',
        blockNumber,
        gasUsed: gasUsed === null ? null : String(gasUsed),
      });
    }
    case 'confirmation_timeout':
      return reply(
        504,
        'CONFIRMATION_TIMEOUT',
        'The transaction is on its way and no block holds it yet. Do not send it again: ask GET /relay/<hash>.',
        { transactionHash: refusal.hash },
      );
    case 'relay_unavailable':
      return reply(503, 'RELAY_UNAVAILABLE', 'No gas wallet can send at the moment; nothing was sent.');
    case 'identity_unavailable':
      return reply(503, 'IDENTITY_UNAVAILABLE', 'Tokens cannot be verified at the moment; try again later.');
    case 'relay_not_found':
      return reply(404, 'NOT_FOUND', 'No relayed call has this transaction hash.');
    default: {
      // What every host says, in the form of this one.
      const { status, body } = refusalReply(refusal, { nowMs, dialect: 'current' });
      return reply(status, refusal.code.toUpperCase(), body.message, body.details);
    }
  }
}

export interface RelayRefuser {
  reply(refusal: RelayHostRefusal): RelayReply;
  answer(context: Context, refusal: RelayHostRefusal): Response;
}

export function createRelayRefuser({ clock }: { clock: Pick<Clock, 'now'> }): RelayRefuser {
  const replyTo = (refusal: RelayHostRefusal) => relayReply(refusal, { nowMs: clock.now() });
  return {
    reply: replyTo,
    answer(context, refusal) {
      const { status, body, retryAfterSeconds, headers = {} } = replyTo(refusal);
      if (retryAfterSeconds !== undefined) context.header('Retry-After', String(retryAfterSeconds));
      if (status === 401) context.header('WWW-Authenticate', 'Bearer');
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
      return context.json(body, status);
    },
  };
}
