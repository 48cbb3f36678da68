/** Tells why a user's call was relayed or not: each check in its order, with its numbers, and when it would pass. */
import { type Check, explainChecks } from '../../rules/events/checks.ts';

const CHECKS = [
  'address_limit',
  'token',
  'body',
  'fields',
  'key',
  'contract',
  'wallet',
  'gas_limit',
  'function',
  'user_limit',
  'gas_wallet',
  'gas_price',
  'permit',
  'trial',
  'gas_budget',
  'block',
] as const;
type RelayCheckName = (typeof CHECKS)[number];

/** What the decision about a call rested on, as far as it got. */
interface Grounds {
  contract?: string | undefined;
  /** Its whole signature. */
  function?: string | undefined;
  /** Whose gas it is: a brand's id, or `service`. */
  payer?: string | undefined;
  gas?: number | undefined;
}

/** What is known about a request for a call; the later parts are missing when the request did not get that far. */
export interface RelayCase {
  nowMs: number;
  bodyLimitBytes: number;
  bodyBytes?: number | undefined;
  hasKey?: boolean | undefined;
  userAddress?: string | undefined;
  gasLimit?: number | undefined;
  hasPermit?: boolean | undefined;
  grounds?: Grounds | undefined;
  /** How far the user's limit is used up. */
  window?: { limit: number; remaining: number } | undefined;
  transactionHash?: string | undefined;
  /** The refusal as its caller was told it. */
  refusal?: { code: string; reason?: string | undefined; text: string; passesAtMs?: number | undefined };
}

/** Where a refusal comes, and what lets the call pass; `soon`: the same call may pass in a moment, nobody knows when. */
interface Place {
  check: RelayCheckName;
  or?: string;
  soon?: true;
}

const AGAIN = 'send it again in a moment';
const PERMIT: Place = { check: 'permit', or: 'let the user sign a new permit' };

/** By code, or by code and reason. */
const REFUSED_AT: Record<string, Place> = {
  'rate_limit_exceeded address': { check: 'address_limit' },
  identity_unavailable: { check: 'token', or: AGAIN, soon: true },
  unauthorized: { check: 'token', or: 'send a token that the identity provider issued a short time ago' },
  unsupported_encoding: { check: 'body', or: 'send the body uncompressed' },
  body_too_large: { check: 'body', or: 'send less data' },
  invalid_body: { check: 'body', or: 'send one JSON object' },
  missing_fields: { check: 'fields', or: 'send the named fields' },
  invalid_fields: { check: 'fields', or: 'correct the named fields' },
  idempotency_key_reused: { check: 'key', or: 'use another key for another call' },
  request_in_progress: { check: 'key', or: AGAIN, soon: true },
  contract_not_whitelisted: { check: 'contract', or: 'call one of the contracts that the answer names' },
  'validation_failed not_your_wallet': { check: 'wallet', or: 'give the address that the token is for' },
  'validation_failed gas_over_limit': { check: 'gas_limit', or: 'leave gasLimit out: it is estimated' },
  'validation_failed gas_below_need': { check: 'gas_limit', or: 'leave gasLimit out: it is estimated' },
  'rate_limit_exceeded user': { check: 'user_limit' },
  relay_unavailable: { check: 'gas_wallet', or: AGAIN, soon: true },
  'validation_failed gas_price_over_limit': { check: 'gas_price', or: AGAIN, soon: true },
  'validation_failed would_fail': { check: 'trial', or: 'put right what the contract says' },
  'validation_failed needs_too_much_gas': { check: 'trial', or: 'use a wallet whose code takes less gas' },
  'gas_budget_exceeded gas_budget': { check: 'gas_budget', or: 'raise gasBudget of the brand' },
  'gas_budget_exceeded gas_share': { check: 'gas_budget', or: 'raise gasBudget of the brand' },
  transaction_failed: { check: 'block', or: 'look at the transaction: rewards relay status <hash>' },
  confirmation_timeout: { check: 'block', or: 'ask again: rewards relay status <hash>', soon: true },
};

function placeOf({ code, reason = '' }: NonNullable<RelayCase['refusal']>): Place {
  const known = REFUSED_AT[`${code} ${reason}`] ?? REFUSED_AT[code];
  if (known) return known;
  // What is left of a validation: about the permit, or about the function and its arguments.
  return reason.startsWith('permit_') ? PERMIT : { check: 'function', or: 'correct the call' };
}

export function explainRelay(call: RelayCase): Check<RelayCheckName>[] {
  const { refusal } = call;
  const place = refusal && placeOf(refusal);
  return explainChecks(CHECKS, place?.check, {
    passed: (name) => passed(name, call),
    refused() {
      const passesAtMs = refusal?.passesAtMs ?? (place?.soon ? undefined : null);
      return {
        text: refusal?.text ?? '',
        ...(passesAtMs !== undefined && { passesAtMs }),
        ...(place?.or !== undefined && { or: place.or }),
      };
    },
  });
}

function passed(name: RelayCheckName, call: RelayCase): Omit<Check<RelayCheckName>, 'name'> {
  const { grounds = {}, window, gasLimit } = call;
  const ok = (text: string) => ({ outcome: 'ok' as const, text });
  const skipped = (text: string) => ({ outcome: 'skipped' as const, text });
  switch (name) {
    case 'address_limit':
      return ok('the address is within its limit');
    case 'token':
      return ok('valid');
    case 'body':
      return ok(`${call.bodyBytes ?? 0} of ${call.bodyLimitBytes} bytes, JSON`);
    case 'fields':
      return ok('complete');
    case 'key':
      return call.hasKey ? ok('no other call has it') : skipped('no Idempotency-Key given');
    case 'contract':
      return ok(grounds.contract ?? '');
    case 'wallet':
      return ok("one of the token's");
    case 'gas_limit':
      return gasLimit === undefined ? skipped('none given') : ok(String(gasLimit));
    case 'function':
      return ok(grounds.function ?? '');
    case 'user_limit':
      return ok(window ? `${window.limit - window.remaining} of ${window.limit} calls in the hour` : '');
    case 'gas_wallet':
      return ok(payerText(grounds));
    case 'gas_price':
      return ok('within the limit');
    case 'permit':
      return call.hasPermit ? ok('signed for this call') : skipped('none given');
    case 'trial':
      return ok(grounds.gas === undefined ? 'would succeed' : `would succeed, with up to ${grounds.gas} gas`);
    case 'gas_budget':
      return ok("within the payer's budget and the user's share of it");
    case 'block':
      return ok(`transaction ${call.transactionHash ?? ''}`);
  }
}

const payerText = ({ payer }: Grounds) =>
  payer === undefined || payer === 'service' ? 'the service pays' : `the brand ${payer} pays`;
