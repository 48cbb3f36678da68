/** The description of the relay host. */
import { z } from 'zod';
import { IDEMPOTENCY_KEY_MAX } from '../../actions/answer-once.ts';
import { relayBody, relayRefusalBody, relayResult, relayState } from '../../contract/relay/relay.ts';
import { type RelayHostRefusal, relayReply } from '../relay/refusals.ts';
import { type ApiDocument, apiDocument, type RefusalEntry } from './document.ts';
import { example } from './examples.ts';
import { commonHostHeaders, descriptionSchema, hostHeaders, ownDescription } from './own-description.ts';
import { EXAMPLES_AT_MS, refusalExamples } from './refusal-examples.ts';

export interface RelayApiSettings {
  /** What the paths are appended to; `/` for a document that the service itself serves. */
  serverUrl: string;
  bodyLimitBytes: number;
}

const API_VERSION = '2.0';
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3' as const;
const perks = '0x9fe46736679d2d9a65f0992f2271de9f3c7fa6e0' as const;
const user = '0x8e9e5ae3d52ba6a0d9c0b1d0e4f6e2fd3a1c7b55' as const;
const gasWallet = '0x90f79bf6eb2c4f870365e785982e1f101e93b906' as const;
const hash = example.transactionHash as `0x${string}`;
const allowed: `0x${string}`[] = [token, perks];
const relayed = {
  id: example.eventId,
  lane: gasWallet,
  recipient: perks,
  hash,
  blockNumber: 1_204,
  gasUsed: 96_210,
  gasPriceWei: '1000000007',
  status: 'included' as const,
};
const {
  https_required,
  unknown_endpoint,
  invalid_body,
  idempotency_key_reused,
  request_in_progress,
  database_unavailable,
  internal_error,
} = refusalExamples;

/** In the order of the checks. A code without an entry does not compile. */
export const relayRefusals: {
  [Code in RelayHostRefusal['code']]: { when: string; refusal: Extract<RelayHostRefusal, { code: Code }> };
} = {
  https_required,
  unknown_endpoint,
  rate_limit_exceeded: {
    when: 'the user had 35 calls within the hour, or the address 100 requests within the minute',
    refusal: {
      code: 'rate_limit_exceeded',
      scope: 'user',
      window: { limit: 35, remaining: 0, resetAtMs: EXAMPLES_AT_MS + 1_200_000 },
    },
  },
  identity_unavailable: {
    when: "the identity provider's keys cannot be had",
    refusal: { code: 'identity_unavailable' },
  },
  unauthorized: {
    when: 'there is no token, or it is not valid',
    refusal: { code: 'unauthorized', refusal: { code: 'expired', message: 'the token has expired' } },
  },
  body_too_large: {
    when: 'the body has more than 64 KB',
    refusal: { code: 'body_too_large', limitBytes: 65_536 },
  },
  invalid_body,
  missing_fields: {
    when: 'a field is missing',
    refusal: { code: 'missing_fields', missing: ['to', 'userAddress'] },
  },
  invalid_fields: {
    when: 'a field has not the form that it must have',
    refusal: { code: 'invalid_fields', errors: ['to: must be an address: 0x and 40 hex digits'] },
  },
  idempotency_key_reused,
  request_in_progress,
  contract_not_whitelisted: {
    when: 'the contract is none of the four that may be called',
    refusal: { code: 'contract_not_whitelisted', contract: gasWallet, allowed },
  },
  validation_failed: {
    when: 'the call is not allowed for this user, offers or needs too much gas, or would fail',
    refusal: {
      code: 'validation_failed',
      contract: token,
      allowed,
      problem: { reason: 'function_not_allowed', function: 'approve(address,uint256)' },
    },
  },
  gas_budget_exceeded: {
    when: 'what the brand may spend for gas on a day is used up',
    refusal: { code: 'gas_budget_exceeded', resetAtMs: EXAMPLES_AT_MS + 43_200_000 },
  },
  relay_unavailable: { when: 'no gas wallet can send', refusal: { code: 'relay_unavailable' } },
  transaction_failed: {
    when: 'the call was sent, and had no effect on chain',
    refusal: { code: 'transaction_failed', relay: { ...relayed, outcome: 'reverted' } },
  },
  confirmation_timeout: {
    when: 'the call was sent, and no block has held it for 30 seconds',
    refusal: { code: 'confirmation_timeout', hash },
  },
  invalid_hash: { when: 'the path has no transaction hash', refusal: { code: 'invalid_hash' } },
  relay_not_found: { when: 'no relayed call has this hash', refusal: { code: 'relay_not_found' } },
  database_unavailable,
  internal_error,
};
type RelayCode = keyof typeof relayRefusals;
const codes = Object.keys(relayRefusals) as RelayCode[];
const anywhere: RelayCode[] = ['https_required', 'internal_error', 'database_unavailable'];
const ofLookups: RelayCode[] = ['invalid_hash', 'relay_not_found', 'unknown_endpoint'];

function entry(code: RelayCode): RefusalEntry {
  const { when, refusal } = relayRefusals[code];
  const { status, body, retryAfterSeconds } = relayReply(refusal, { nowMs: EXAMPLES_AT_MS });
  return { when, status, body, retryAfterSeconds };
}

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
const idempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .max(IDEMPOTENCY_KEY_MAX)
    .optional()
    .meta({ description: 'The same key with the same body gets the first answer again, for a day.' }),
});
const hashInPath = z.object({
  hash: z.string().meta({ description: 'Any hash that the call was sent under.' }),
});

export function relayApi({ serverUrl, bodyLimitBytes }: RelayApiSettings): ApiDocument {
  const call = { to: perks, data: '0x3fb0d2a9', userAddress: user, metadata: { action: 'purchase' } };
  const state = {
    transactionHash: hash,
    from: gasWallet,
    to: perks,
    explorerUrl: `https://explorer.example/tx/${hash}`,
  };
  const included = { gasUsed: '96210', effectiveGasPrice: '1000000007', blockNumber: 1_204 };
  return apiDocument({
    title: 'Rewards: relay',
    version: API_VERSION,
    serverUrl,
    description: [
      "Sends a user's calls to the reward contracts and pays their gas.",
      `Bodies are JSON of at most ${bodyLimitBytes / 1024} KB. A field that is null counts as not sent.`,
      'Only functions that touch nothing but the property of the user can be called: purchases of perks, and transfers that the user signed.',
    ].join('\n\n'),
    tags: [
      { name: 'Relay', description: 'Calls on behalf of users.' },
      { name: 'Service', description: "The host's own description." },
    ],
    operations: [
      {
        id: 'relay',
        tag: 'Relay',
        method: 'post',
        path: '/relay',
        summary: 'Send a call on behalf of a user',
        description: [
          'The answer comes when a block holds the call. A permit is sent just before it; one that somebody else sent already is no harm.',
          'A refused call costs nothing; one that was sent is one of 35 within an hour.',
        ].join('\n\n'),
        key: { scheme: 'userToken', required: true },
        parameters: [{ in: 'header', schema: idempotencyHeader }],
        body: 'RelayRequest',
        examples: [{ summary: 'Buy a perk', body: call }],
        answers: {
          200: {
            description: 'A block holds the call.',
            schema: 'RelayResult',
            example: { success: true, status: 'confirmed', ...state, ...included },
            headers: RATE_HEADERS,
          },
        },
        refusals: codes.filter((code) => !ofLookups.includes(code)),
      },
      {
        id: 'relayStatus',
        tag: 'Relay',
        method: 'get',
        path: '/relay/{hash}',
        summary: 'How far a relayed call has come',
        parameters: [{ in: 'path', schema: hashInPath }],
        examples: [{ summary: 'By its hash', path: { hash } }],
        answers: {
          200: {
            description: 'Its state.',
            schema: 'RelayState',
            example: { success: false, status: 'pending', ...state },
            headers: RATE_HEADERS,
          },
        },
        refusals: [...anywhere, 'rate_limit_exceeded', 'invalid_hash', 'relay_not_found'],
      },
      ...ownDescription('Document', anywhere),
    ],
    schemas: {
      RelayRequest: relayBody,
      RelayResult: relayResult,
      RelayState: relayState,
      Document: descriptionSchema,
      Refusal: relayRefusalBody,
    },
    refusalSchema: 'Refusal',
    refusals: Object.fromEntries(codes.map((code) => [code, entry(code)])),
    headers: hostHeaders,
    commonHeaders: commonHostHeaders,
    securitySchemes: {
      userToken: {
        type: 'http',
        scheme: 'bearer',
        description: "An access token of the user, issued by the service's identity provider.",
      },
    },
  });
}
