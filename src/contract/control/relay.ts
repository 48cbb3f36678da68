/** How the relay stands, as the control API has it: limits, gas, and the accounts that send. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant, listLimit, wrongLimit } from './fields.ts';

const LIST_MAX = 500;

const total = () => z.int().meta({ description: 'How many there are, with those beyond the list.' });

const rateWindows = z
  .object({
    limit: z.int().meta({ description: 'How many uses a window has.' }),
    windowSeconds: z.int(),
    total: total(),
    shown: z.array(
      z
        .object({ subject: z.string(), used: z.int(), left: z.int(), resetAt: instant() })
        .meta({ id: 'RateWindowUse' }),
    ),
  })
  .meta({ id: 'RateWindowUses' });

const payer = z
  .object({
    payer: z.string().meta({ description: 'Id of the brand whose gas it is, or `service`.' }),
    address: z.string().meta({ description: 'The account that sends.' }),
    ready: z
      .boolean()
      .meta({ description: "False: it has no gas money or role yet, and the service's account sends." }),
    budgetGwei: z.int().meta({ description: 'What its users may spend today.' }),
    spentGwei: z.int().meta({ description: 'Spent or promised; the worst case until a block says more.' }),
    leftGwei: z.int(),
    userMaxGwei: z.int().meta({ description: 'The part of the budget that one user may spend.' }),
  })
  .meta({ id: 'GasPayer' });

const lane = z
  .object({
    address: z.string(),
    purpose: z.enum(['payout', 'mint', 'relay', 'redeem', 'setup']),
    nextNonce: z.int().nullable().meta({ description: 'Null before its first transaction.' }),
    underWay: z.int().meta({ description: 'Stored or sent, and in no block yet.' }),
    notFinal: z.int().meta({ description: 'The same, and what blocks hold that can still change.' }),
    owner: z.string().meta({ description: 'The process that has, or had, the lease.' }),
    epoch: z.int(),
    leaseUntil: instant().nullable().meta({ description: 'Null: nobody holds it.' }),
  })
  .meta({ id: 'LaneState' });

export const showRelay = endpoint('GET /relay', {
  id: 'showRelay',
  onLedger: true,
  tag: 'Relay',
  summary: 'How the relay stands: limits, gas and lanes',
  description:
    'What each user and each address has used of their limits, what payers have spent for gas today, and what each sending account has under way. Every list begins with the busiest.',
  query: z.object({
    user: z
      .string()
      .optional()
      .meta({ description: 'Only the window of this user: an e-mail, an address or `<platform>:<id>`.' }),
    limit: listLimit(LIST_MAX),
  }),
  unfit: wrongLimit(LIST_MAX),
  example: { query: { user: demo.user } },
  answer: {
    description: 'By the clock of the stack; leases by the one of its database.',
    body: named(
      'RelayState',
      z.object({
        users: rateWindows,
        addresses: rateWindows,
        payers: z.object({ resetAt: instant(), total: total(), shown: z.array(payer) }),
        lanes: z.object({ total: total(), shown: z.array(lane) }),
      }),
    ),
  },
  refusals: ['invalid_limit', 'wallet_not_found'],
});

export type RelayState = AnswerOf<typeof showRelay>;
