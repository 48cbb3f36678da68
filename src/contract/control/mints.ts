/** RWT by hand, the mints of checkouts, and whether ledger and chain agree, as the control API has them. */
import { z } from 'zod';
import { parseSince, SINCE_MUST_BE } from '../../rules/since.ts';
import { addressKey } from '../../rules/user-key.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { textAs } from '../settings-schema.ts';
import { brandPath } from './brands.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { listLimit, settingAs, wrongLimit } from './fields.ts';

const REASON_MAX = 200;
export const REASON_MUST_SAY = `says in up to ${REASON_MAX} characters why RWT is created`;
const name = () => z.string().nullable();

/** What a mint by hand says of itself. */
const terms = {
  amount: settingAs({ kind: 'whole', least: 1, of: 'RWT' }, (error) =>
    z.union([z.int().min(1), z.string()], { error }),
  ).meta({ description: 'RWT to create.' }),
  reason: z
    .string({ error: REASON_MUST_SAY })
    .max(REASON_MAX, { error: REASON_MUST_SAY })
    .optional()
    .meta({ description: 'Why; required in production.' }),
};
const fundingRequest = z.object({
  ...terms,
  transaction: textAs('must be the hash of a transaction, 0x and 64 hex digits', (text) =>
    /^0x[0-9a-f]{64}$/i.test(text) ? (text as `0x${string}`) : undefined,
  )
    .optional()
    .meta({
      description:
        'A transaction that minted without a row in this ledger: it is recorded, and nothing is minted.',
    }),
});

const fundingResult = z.object({
  key: z.string().meta({ description: 'Minted once under this key.' }),
  brandId: z.string(),
  amount: z.int(),
  reason: z.string(),
  state: z.enum(['deposited', 'waiting', 'recorded']),
  transaction: z.object({ chainId: z.int(), to: z.string(), data: z.string() }).nullable().meta({
    description:
      'Of a mint that waits: the mint lane sends it, or an account with `OPERATOR_ROLE` on the points sale. Sent twice, it mints once.',
  }),
});

const mintRequest = z.object({
  to: textAs('must be an address, 0x and 40 hex digits', addressKey).meta({
    description: 'The account that gets it.',
  }),
  ...terms,
});

const mintResult = z.object({
  key: fundingResult.shape.key,
  to: z.string(),
  amount: z.int(),
  reason: z.string(),
  state: z.enum(['minted', 'waiting', 'given_up']),
  failure: z.string().nullable().meta({ description: 'Why it was given up.' }),
  transactionHash: z.string().nullable(),
  transaction: fundingResult.shape.transaction,
});

/** How far the mint of a checkout has come. */
const sessionMint = z.object({
  sessionId: z.string(),
  state: z
    .enum(['none', 'waiting', 'minted', 'given_up'])
    .meta({ description: '`none`: nobody has told the service that the session is paid.' }),
  failure: z.string().nullable().meta({ description: 'Why it was given up.' }),
  transactionHash: z.string().nullable(),
});

const DIFFERENCES_MAX = 1_000;
const verifyQuery = z.object({
  limit: listLimit(DIFFERENCES_MAX).meta({ description: 'The most differences to show.' }),
  since: textAs(SINCE_MUST_BE, parseSince)
    .optional()
    .meta({ description: `Compares a part: ${SINCE_MUST_BE}.` }),
});

const verifyResult = z.object({
  ok: z.boolean(),
  differences: z.array(
    z.object({
      kind: z.string(),
      message: z.string(),
      about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
      expected: name(),
      found: name(),
    }),
  ),
  flagged: z
    .array(
      z.object({
        kind: z.string(),
        message: z.string(),
        about: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
      }),
    )
    .meta({ description: 'Payments that a person should look at: given back or disputed after the mint.' }),
  complete: z.boolean().meta({ description: 'False when the search ended at the limit.' }),
  block: z.int().nullable().meta({ description: 'Compared as of this block.' }),
  behind: z.int().nullable().meta({ description: 'Blocks that the chain is ahead of it.' }),
  since: z.int().nullable().meta({ description: 'The first block of a part; null when all was compared.' }),
  notCompared: z.array(z.string()).meta({ description: 'What a part leaves out.' }),
  checked: z.record(z.string(), z.int()),
});

const total = (description: string) => z.int().meta({ description });

const totalsResult = z.object({
  rewards: total('Rewards granted.'),
  rwtRewarded: total('RWT of all rewards, paid or on their way.'),
  mints: total('Mints of payments and by hand.'),
  rwtMinted: total('RWT of all mints.'),
  relays: total('Calls taken over for users.'),
  redemptions: total('Perks bought.'),
  checkouts: total('Checkouts begun.'),
  wallets: total('Users with a wallet.'),
  webhooks: total('Events that endpoints are told of.'),
});

export const fundBrand = endpoint('POST /brands/{name}/funds', {
  id: 'fundBrand',
  onLedger: true,
  tag: 'Brands',
  summary: "Create RWT in the brand's escrow",
  description:
    'The ledger records the mint and its reason. The emulator mints at once; in production the mint lane of the running service does, and the answer has the transaction with which an operator can do it instead.',
  status: 201,
  path: brandPath,
  body: named('FundingWish', fundingRequest),
  example: { path: { name: demo.domain }, body: { amount: 1000, reason: 'opening balance' } },
  answer: { description: 'The mint.', body: named('Funding', fundingResult) },
  refusals: ['invalid_body', 'invalid_settings', 'brand_not_found'],
});

export const mintByHand = endpoint('POST /mints', {
  id: 'mintByHand',
  onLedger: true,
  tag: 'Money',
  summary: 'Create RWT for an account',
  description: 'As for the escrow of a brand: recorded with its reason, and minted once.',
  status: 201,
  body: named('MintWish', mintRequest),
  example: {
    body: {
      to: '0x00000000000000000000000000000000000000c3',
      amount: 1000,
      reason: 'refund of a purchase',
    },
  },
  answer: { description: 'The mint.', body: named('Mint', mintResult) },
  refusals: ['invalid_body', 'invalid_settings'],
});

export const mintOfSession = endpoint('GET /mints/{session}', {
  id: 'mintOfSession',
  tag: 'Money',
  summary: 'How far the mint of a checkout has come',
  description: 'Asks the ledger alone: nothing is minted by asking.',
  path: z.object({ session: z.string().meta({ description: "The processor's id of the session." }) }),
  example: { path: { session: 'cs_test_a1' } },
  answer: { description: 'The mint.', body: named('SessionMint', sessionMint) },
});

export const verify = endpoint('GET /verify', {
  id: 'verify',
  tag: 'Money',
  summary: 'Compare ledger and chain',
  query: verifyQuery,
  unfit: (issues) =>
    wrongLimit(DIFFERENCES_MAX)(issues) ?? { code: 'invalid_since', since: String(issues[0]?.input) },
  answer: { description: '`ok` when they agree.', body: named('VerifyReport', verifyResult) },
  refusals: ['invalid_limit', 'invalid_since'],
});

export const showTotals = endpoint('GET /totals', {
  id: 'showTotals',
  tag: 'Money',
  summary: 'What the ledger holds, in numbers',
  answer: {
    description: 'The difference of two answers is what happened in between.',
    body: named('Totals', totalsResult),
  },
});

export type Funding = AnswerOf<typeof fundBrand>;
export type Mint = AnswerOf<typeof mintByHand>;
export type SessionMint = AnswerOf<typeof mintOfSession>;
export type VerifyAnswer = AnswerOf<typeof verify>;
export type Totals = AnswerOf<typeof showTotals>;
