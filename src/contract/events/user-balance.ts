/** GET and POST user-balance: whose balance, and how much of the history with it. */
import { z } from 'zod';
import { addressKey, emailKey } from '../../rules/user-key.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, example } from '../examples.ts';
import {
  address,
  brandIdField,
  EMAIL_PROBLEM,
  emailMeta,
  hash,
  OBJECT_PROBLEM,
  otherWallets,
  trimmedText,
} from '../shapes.ts';
import { anywhere } from '../shared-refusals.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';

/** Contract: historyLimit is at most 50. */
const HISTORY_MAX = 50;
const HISTORY_DEFAULT = 10;

const includeHistory = z
  .union(
    [
      z.boolean(),
      z
        .enum(['true', 'false'])
        .meta({ id: 'TrueOrFalse' })
        .transform((value) => value === 'true'),
    ],
    {
      error: 'must be true or false',
    },
  )
  .default(false)
  .meta({ description: 'Whether the answer includes the last rewards from this brand.' });
const historyLimit = z.coerce
  .number({ error: `must be a number from 1 to ${HISTORY_MAX}` })
  .int({ error: `must be a number from 1 to ${HISTORY_MAX}` })
  .min(1, { error: `must be a number from 1 to ${HISTORY_MAX}` })
  .max(HISTORY_MAX, { error: `must be a number from 1 to ${HISTORY_MAX}` })
  .default(HISTORY_DEFAULT)
  .meta({ description: 'How many rewards to include.' });

export const userBalanceQuestion = z
  .object(
    {
      brandId: brandIdField,
      userEmail: trimmedText(EMAIL_PROBLEM)
        .optional()
        .meta({
          description: 'Required unless `userIdentifier` is given.',
          ...emailMeta,
        }),
      userIdentifier: trimmedText('must be an e-mail or an address')
        .optional()
        .meta({ description: 'An e-mail or a blockchain address.' }),
      includeHistory,
      historyLimit,
    },
    { error: OBJECT_PROBLEM },
  )
  .transform((question, context) => {
    const named = question.userEmail ?? question.userIdentifier ?? '';
    const address = question.userEmail === undefined ? addressKey(named) : undefined;
    const email = address ? undefined : emailKey(named);
    const userKey = address ?? email;
    if (userKey === undefined) {
      context.addIssue({ code: 'custom', path: ['userEmail'], message: EMAIL_PROBLEM, input: named });
      return z.NEVER;
    }
    return { ...question, user: { userKey, userAddress: address } };
  });

export const balanceResult = z.object({
  success: z.literal(true),
  balance: z.int().meta({ description: 'RWT in the wallet on chain now.' }),
  walletAddress: address().nullable().meta({ description: 'Null for a user without a wallet.' }),
  otherWallets: otherWallets(),
  history: z
    .array(
      z
        .object({
          transactionHash: hash().nullable().meta({ description: 'Null until a transaction carries it.' }),
          eventType: z.string(),
          amount: z.int(),
          timestamp: z.int().meta({ description: 'Milliseconds since 1970.' }),
        })
        .meta({ id: 'EarnedReward' }),
    )
    .optional()
    .meta({ description: 'Rewards from this brand, newest first; with `includeHistory`.' }),
});

const balanceBody = named('BalanceResult', balanceResult);
const { brandId, user: userEmail } = demo;
const balance = {
  success: true,
  balance: 100,
  walletAddress: example.walletAddress,
  history: [
    {
      transactionHash: example.transactionHash,
      eventType: 'account_creation',
      amount: 100,
      timestamp: Date.parse(example.timestamp),
    },
  ],
};

export const userBalanceEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'userBalance',
  tag: 'Users',
  method: 'get',
  path: '/user-balance',
  prefixed: true,
  summary: 'What a user holds',
  parameters: [{ in: 'query', schema: userBalanceQuestion }],
  examples: [{ summary: 'With the last rewards', query: { brandId, userEmail, includeHistory: 'true' } }],
  answers: { 200: { description: 'The balance.', body: balanceBody, example: balance } },
  refusals: ['invalid_event_data', 'brand_not_found', ...anywhere],
};

export const userBalanceByBodyEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'userBalanceByBody',
  tag: 'Users',
  method: 'post',
  path: '/user-balance',
  prefixed: true,
  summary: 'The same, without the e-mail in the URL',
  body: named('BalanceQuestion', userBalanceQuestion),
  examples: [
    {
      summary: 'With the last rewards',
      body: { brandId, userEmail, includeHistory: true, historyLimit: 10 },
    },
  ],
  answers: { 200: { description: 'The balance.', body: balanceBody, example: balance } },
  refusals: [...withBody, 'invalid_event_data', 'brand_not_found'],
};
