/** The whole error table of the relay: which refusal is answered with which status, code and facts (contract: Relay errors). */
import type { Hex } from '../../lib/hex.ts';
import type { ValidationProblem } from '../../rules/relay-policy.ts';
import { relayExample } from '../examples.ts';
import { rateHeaders, type UsedWindow } from '../headers.ts';
import { EXAMPLES_AT_MS, type RefusalRows, refusalTable, type Said } from '../refusals.ts';
import {
  type BodyRefusal,
  type FrameRefusal,
  type RequestRefusal,
  requestRefusals,
} from '../shared-refusals.ts';

export type RelayHostRefusal =
  | FrameRefusal
  | BodyRefusal
  | Extract<RequestRefusal, { code: 'idempotency_key_reused' | 'request_in_progress' }>
  | { code: 'missing_fields'; missing: string[] }
  | { code: 'invalid_fields'; errors: string[] }
  | { code: 'unauthorized'; refusal: { code: string; message: string } }
  | { code: 'identity_unavailable' }
  | { code: 'contract_not_whitelisted'; contract: Hex; allowed: Hex[] }
  | { code: 'validation_failed'; contract: Hex; allowed: Hex[]; problem: ValidationProblem }
  | { code: 'rate_limit_exceeded'; scope: 'user' | 'address'; window: UsedWindow }
  | { code: 'gas_budget_exceeded'; of: 'payer' | 'user'; resetAtMs: number }
  | { code: 'relay_unavailable' }
  | { code: 'transaction_failed'; relay: FailedRelay }
  | { code: 'confirmation_timeout'; hash: Hex | null }
  | { code: 'invalid_hash' }
  | { code: 'relay_not_found' };
export type RelayRefusalCode = RelayHostRefusal['code'];

/** The facts of a call that was sent and had no effect. */
interface FailedRelay {
  hash: Hex | null;
  outcome: string | null;
  blockNumber: number | null;
  gasUsed: number | null;
}

export interface RelayRefusalBody {
  success: false;
  error: string;
  code: string;
  details: Record<string, unknown>;
}

/** The text for each reason for which a call is not sent. */
export const validationReasons: {
  [Reason in ValidationProblem['reason']]: (
    problem: Extract<ValidationProblem, { reason: Reason }>,
  ) => string;
} = {
  not_your_wallet: () => 'userAddress is not a wallet of the user whose token this is',
  unknown_function: () =>
    'the contract has no function for this data, or the data is not exactly its encoding',
  function_not_allowed: ({ function: name }) => `${name} may not be called through the relay`,
  not_the_user: ({ argument, function: name }) => `argument ${argument + 1} of ${name} must be userAddress`,
  value_not_allowed: ({ maxWei }) => `value must be at most ${maxWei} for this call`,
  moves_nothing: ({ function: name, because }) =>
    because === 'to_self'
      ? `${name} would move tokens from the user to the same user`
      : `${name} would move 0 tokens`,
  gas_over_limit: ({ gasLimit, gasMax }) => `gasLimit ${gasLimit} is above the limit of ${gasMax}`,
  gas_below_need: ({ gasLimit, gasMin }) =>
    `gasLimit ${gasLimit} is below the ${gasMin} that the data alone costs`,
  gas_price_over_limit: ({ capWei }) =>
    `gas costs more than the limit of ${capWei} wei at the moment: try again later`,
  constraints_not_met: ({ missing }) => missing.map(({ message }) => message).join('; '),
  permit_not_of_user: () => "the permit's owner is not userAddress",
  permit_spender_not_allowed: ({ spender }) =>
    `the permit lets ${spender} spend, which is not one of the allowed contracts`,
  permit_not_signed: () =>
    "the permit's signature is not its owner's for this token, these values and the owner's present nonce",
  permit_expired: ({ deadlineSeconds }) =>
    `the permit's deadline ${deadlineSeconds} has passed, or is about to`,
  permit_consumed: ({ allowance, error }) =>
    `the permit was used already, and the allowance of ${allowance} that it left does not suffice: ${error}`,
  needs_too_much_gas: ({ function: name, gasNeeded, gasMax }) =>
    `${name} would need ${gasNeeded} gas, of which at most ${gasMax} are paid for: does the wallet have code that takes it?`,
  would_fail: ({ error, part }) => `the ${part} would fail on chain: ${error}`,
};

// Each reason is only ever given its own problem.
const explain = (problem: ValidationProblem) =>
  (validationReasons[problem.reason] as (problem: ValidationProblem) => string)(problem);

const { token, perks, gasWallet, hash } = relayExample;
const allowed: Hex[] = [token, perks];
const { https_required, unknown_endpoint, method_not_allowed, ...bodies } = requestRefusals;
const { invalid_body, body_too_large, unsupported_encoding, ...others } = bodies;
const { idempotency_key_reused, request_in_progress, database_unavailable, database_busy, internal_error } =
  others;

/** In the order of the checks. */
const rows: RefusalRows<RelayHostRefusal> = {
  https_required,
  unknown_endpoint,
  method_not_allowed,
  rate_limit_exceeded: {
    status: 429,
    when: 'the user had 35 calls within the hour, or the address 100 requests within the minute',
    example: { scope: 'user', window: { limit: 35, remaining: 0, resetAtMs: EXAMPLES_AT_MS + 1_200_000 } },
    passesAtMs: ({ window }) => window.resetAtMs,
    headers: ({ window }) => rateHeaders(window),
    says: ({ window: { limit }, scope }) => {
      const per =
        scope === 'user' ? 'relayed transactions an hour per user' : 'requests a minute per address';
      return { message: `Rate limit exceeded: ${limit} ${per}`, details: { reason: scope, limit } };
    },
  },
  identity_unavailable: {
    status: 503,
    when: "the identity provider's keys cannot be fetched",
    says: { message: 'Tokens cannot be verified at the moment; try again later.' },
  },
  unauthorized: {
    status: 401,
    when: 'there is no token, or it is not valid',
    example: { refusal: { code: 'expired', message: 'the token has expired' } },
    headers: () => ({ 'WWW-Authenticate': 'Bearer' }),
    says: ({ refusal: { code, message } }) => ({
      message: `Unauthorized: ${message}`,
      details: { reason: code },
    }),
  },
  body_too_large: {
    ...body_too_large,
    when: 'the body has more than 64 KB',
    example: { limitBytes: 65_536, bytes: 65_537 },
  },
  unsupported_encoding,
  invalid_body,
  missing_fields: {
    status: 400,
    when: 'a field is missing',
    example: { missing: ['to', 'userAddress'] },
    says: ({ missing }) => ({
      message: `Missing required fields: ${missing.join(', ')}`,
      details: { missing },
    }),
  },
  invalid_fields: {
    status: 400,
    when: 'a field does not have the form it must have',
    example: { errors: ['to: must be an address: 0x and 40 hex digits'] },
    says: ({ errors }) => ({ message: `Invalid fields: ${errors.join('; ')}`, details: { errors } }),
  },
  idempotency_key_reused,
  request_in_progress,
  contract_not_whitelisted: {
    status: 403,
    when: 'the contract is not one of the four that may be called',
    example: { contract: gasWallet, allowed },
    says: ({ contract, allowed }) => ({
      message: `Contract ${contract} is not whitelisted`,
      details: { contract, allowed },
    }),
  },
  validation_failed: {
    status: 403,
    when: 'the call is not allowed for this user, offers or needs too much gas, or would fail',
    example: {
      contract: token,
      allowed,
      problem: { reason: 'function_not_allowed', function: 'approve(address,uint256)' },
    },
    says: ({ contract, allowed, problem }): Said => ({
      message: `Transaction validation failed: ${explain(problem)}`,
      details: { contract, allowed, ...problem },
    }),
  },
  gas_budget_exceeded: {
    status: 429,
    when: 'the brand has spent what it may spend for gas on this day, or the user their share of it',
    example: { of: 'payer', resetAtMs: EXAMPLES_AT_MS + 43_200_000 },
    passesAtMs: ({ resetAtMs }) => resetAtMs,
    says: ({ of }) =>
      of === 'payer'
        ? {
            message: 'The gas budget of this brand is used up for today; nothing was sent.',
            details: { reason: 'gas_budget' },
          }
        : {
            message: "This user's share of the brand's gas budget is used up for today; nothing was sent.",
            details: { reason: 'gas_share' },
          },
  },
  relay_unavailable: {
    status: 503,
    when: 'no gas wallet can send',
    says: { message: 'No gas wallet can send at the moment; nothing was sent.' },
  },
  transaction_failed: {
    status: 500,
    when: 'the call was sent, and had no effect on chain',
    example: { relay: { hash, outcome: 'reverted', blockNumber: 1_204, gasUsed: 96_210 } },
    says: ({ relay: { hash, outcome, blockNumber, gasUsed } }) => ({
      message: 'The transaction was sent and had no effect on chain.',
      details: {
        transactionHash: hash,
        reason: outcome === 'reverted' ? 'reverted' : 'replaced',
        blockNumber,
        gasUsed: gasUsed === null ? null : String(gasUsed),
      },
    }),
  },
  confirmation_timeout: {
    status: 504,
    when: 'the call was sent, and no block has held it for 30 seconds',
    example: { hash },
    says: ({ hash }) => ({
      message:
        'The transaction is on its way and no block holds it yet. Do not send it again: ask GET /relay/<hash>.',
      details: { transactionHash: hash },
    }),
  },
  invalid_hash: {
    status: 400,
    when: 'the path has no transaction hash',
    says: { message: 'A transaction hash is 0x and 64 hex digits.' },
  },
  relay_not_found: {
    status: 404,
    when: 'no relayed call has this hash',
    says: { message: 'No relayed call has this transaction hash.' },
  },
  database_unavailable,
  database_busy,
  internal_error,
};

/** Codes on the wire that differ from ours in capitals. */
const WIRE_CODES: Partial<Record<RelayRefusalCode, string>> = { relay_not_found: 'NOT_FOUND' };

export const relayRefusals = refusalTable<RelayHostRefusal, RelayRefusalBody>({
  form: ({ message, details = {} }, code) => ({
    success: false,
    error: message,
    code: WIRE_CODES[code] ?? code.toUpperCase(),
    details,
  }),
  leastRetrySeconds: 1,
  rows,
});

/** Refusals that any request may get; the ledger is asked about the origin of each. */
export const anywhere = [
  'https_required',
  'internal_error',
  'database_unavailable',
  'database_busy',
] as const;
/** Refusals of lookups of a call, and of unknown paths. */
export const ofLookups: readonly RelayRefusalCode[] = [
  'invalid_hash',
  'relay_not_found',
  'unknown_endpoint',
  'method_not_allowed',
];
