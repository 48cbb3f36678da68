/** POST relay and GET relay/<hash> (contract: Relay request, Permit, Relay result). */
import { z } from 'zod';
import type { Hex } from '../../lib/hex.ts';
import { type Endpoint, named, RATE_HEADERS } from '../endpoint.ts';
import { relayExample } from '../examples.ts';
import { idempotencyKeyHeader } from '../headers.ts';
import { amount, permitField, wholeText } from '../permit.ts';
import { address, addressField, hash, instant, OBJECT_PROBLEM, problemsOf } from '../shapes.ts';
import { anywhere, ofLookups, type RelayRefusalCode, relayRefusals } from './refusals.ts';

export const relayBody = z
  .looseObject({
    to: addressField('Contract to call; one of the four that are allowed.'),
    data: z
      .string({ error: 'must be call data: 0x and an even number of hex digits' })
      .regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'must be call data: 0x and an even number of hex digits')
      .transform((text) => text.toLowerCase() as Hex)
      .meta({ description: 'Encoded call data.' }),
    value: amount('Native currency to send, in wei; 0 for every allowed call.').optional(),
    gasLimit: z
      .union([wholeText.transform(Number), z.int()], { error: 'must be a whole number above 0' })
      .refine((gas) => gas >= 1 && Number.isSafeInteger(gas), 'must be a whole number above 0')
      .meta({ description: 'At most 1,000,000; estimated when absent.' })
      .optional(),
    userAddress: addressField("The user's wallet; must be one of the token's."),
    permit: permitField.optional(),
    metadata: z
      .looseObject({ permit: permitField.nullish() }, { error: 'must be an object' })
      .meta({
        id: 'RelayMetadata',
        description: 'Further context, such as `action` and `perkId`; only `permit` is read.',
      })
      .optional(),
  })
  .meta({ description: 'A call, and on whose behalf.' });

const REQUIRED = ['to', 'data', 'userAddress'] as const;
const OPTIONAL = new Set(['value', 'gasLimit']);

/** The fields of a request in one form; addresses in lower case. */
interface RelayFields {
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gasLimit?: number | undefined;
  userAddress: Hex;
  permit?: z.output<typeof permitField> | undefined;
}
type ParsedRelay = { fields: RelayFields } | { missing: string[] } | { errors: string[] };

/** The fields of a body, or which are missing, or what is wrong with each; null counts as left out. */
export function parseRelay(body: unknown): ParsedRelay {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { errors: [`body: ${OBJECT_PROBLEM}`] };
  // An empty text for a number that may be left out counts as left out.
  const given = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !(OPTIONAL.has(name) && value === '')),
  );
  const missing = REQUIRED.filter((name) => !Object.hasOwn(given, name) || given[name] === '');
  if (missing.length > 0) return { missing };
  const parsed = relayBody.safeParse(given);
  if (!parsed.success) return { errors: problemsOf(parsed.error) };
  const { to, data, value = 0n, gasLimit, userAddress, permit, metadata } = parsed.data;
  return {
    fields: {
      to,
      data,
      valueWei: value,
      gasLimit,
      userAddress,
      permit: permit ?? metadata?.permit ?? undefined,
    },
  };
}

export const relayResult = z.object({
  success: z.literal(true),
  transactionHash: hash().meta({ description: 'Transaction of the call.' }),
  gasUsed: z.string().meta({ description: 'Gas used.' }),
  effectiveGasPrice: z.string().meta({ description: 'Wei per unit of gas.' }),
  blockNumber: z.int(),
  from: address().meta({ description: 'The gas wallet that sent it.' }),
  to: address().meta({ description: 'Contract called.' }),
  status: z.literal('confirmed'),
  explorerUrl: z.string().meta({ description: 'The transaction in a block explorer.' }),
});
export type RelayResult = z.output<typeof relayResult>;

export const relayState = z.object({
  success: z.boolean().meta({ description: 'True once the call is in a block and had its effect.' }),
  status: z.enum(['pending', 'confirmed', 'failed']).meta({
    id: 'RelayStatus',
    description: 'pending: not in a block yet · failed: in a block, without effect.',
  }),
  transactionHash: hash().meta({
    description: 'The newest hash: a replacement with a higher fee has another one.',
  }),
  from: address(),
  to: address(),
  explorerUrl: z.string(),
  gasUsed: z.string().optional(),
  effectiveGasPrice: z.string().optional(),
  blockNumber: z.int().optional(),
});
export type RelayState = z.output<typeof relayState>;

export const relayRefusalBody = named(
  'Refusal',
  z.object({
    success: z.literal(false),
    error: z.string().meta({ description: 'For people.' }),
    code: z.string().meta({ description: 'For programs.' }),
    details: z
      .looseObject({
        reason: z.string().meta({ description: 'Which check refused.' }),
        contract: address(),
        allowed: z.array(address()).meta({ description: 'Contracts that may be called.' }),
        missing: z.array(z.string()),
        errors: z.array(z.string()),
        transactionHash: hash().nullable(),
        remainingSeconds: z.int(),
        retryAt: instant(),
      })
      .partial()
      .meta({ id: 'RelayRefusalDetails', description: 'Facts about the refusal; each code has its own.' }),
  }),
);

const { perks, user, gasWallet, hash: transactionHash } = relayExample;
const call = { to: perks, data: '0x3fb0d2a9', userAddress: user, metadata: { action: 'purchase' } };
const state = {
  transactionHash,
  from: gasWallet,
  to: perks,
  explorerUrl: `https://explorer.example/tx/${transactionHash}`,
};
const included = { gasUsed: '96210', effectiveGasPrice: '1000000007', blockNumber: 1_204 };
const hashInPath = z.object({
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .meta({ description: 'Any hash that the call was sent under.' }),
});

export const relayEndpoint: Endpoint<RelayRefusalCode> = {
  id: 'relay',
  tag: 'Relay',
  method: 'post',
  path: '/relay',
  summary: 'Send a call on behalf of a user',
  description: [
    'The answer comes when a block holds the call. A permit is sent just before it; one that was sent already does not stop the call.',
    'A refused call costs nothing; one that was sent is one of 35 within an hour.',
  ].join('\n\n'),
  key: { scheme: 'userToken', required: true },
  parameters: [idempotencyKeyHeader],
  body: named('RelayRequest', relayBody),
  examples: [{ summary: 'Buy a perk', body: call }],
  answers: {
    200: {
      description: 'A block holds the call.',
      body: named('RelayResult', relayResult),
      example: { success: true, status: 'confirmed', ...state, ...included },
      headers: RATE_HEADERS,
    },
  },
  refusals: relayRefusals.codes.filter((code) => !ofLookups.includes(code)),
};

export const relayStatusEndpoint: Endpoint<RelayRefusalCode> = {
  id: 'relayStatus',
  tag: 'Relay',
  method: 'get',
  path: '/relay/{hash}',
  summary: 'How far a relayed call has come',
  parameters: [{ in: 'path', schema: hashInPath }],
  examples: [{ summary: 'By its hash', path: { hash: transactionHash } }],
  answers: {
    200: {
      description: 'Its state.',
      body: named('RelayState', relayState),
      example: { success: false, status: 'pending', ...state },
      headers: RATE_HEADERS,
    },
  },
  refusals: [...anywhere, 'rate_limit_exceeded', 'invalid_hash', 'relay_not_found'],
};
