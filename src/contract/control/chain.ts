/** The chain as the control API shows it: blocks, transactions with their calls in words, balances and contracts. */
import { z } from 'zod';
import { named } from '../endpoint.ts';
import { example } from '../examples.ts';
import { textAs } from '../settings-schema.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { instant, listLimit, wrongLimit } from './fields.ts';

const BLOCKS_MAX = 50;
const BLOCKS_SHOWN = 20;
/** Of one block, at once. */
const TRANSACTIONS_MAX = 500;
const TRANSACTIONS_SHOWN = 100;

const contractName = z.enum(['token', 'escrow', 'perks', 'pointsSale']);

const blockFacts = {
  number: z.int(),
  hash: z.string(),
  at: instant(),
  baseFeeWei: z.string(),
};

const transactionRow = {
  hash: z.string(),
  from: z.string(),
  to: z.string().nullable().meta({ description: 'Null: it makes a contract.' }),
  contract: contractName.nullable().meta({ description: 'Null: none of ours.' }),
  call: z
    .string()
    .nullable()
    .meta({ description: 'Such as `purchaseFor(address,uint256,uint256)`; null where it is not ours.' }),
  valueWei: z.string(),
  state: z.enum(['waiting', 'done', 'reverted']),
  gasUsed: z.int().nullable(),
  lane: z
    .enum(['payout', 'mint', 'relay', 'redeem', 'setup'])
    .nullable()
    .meta({ description: 'What this service sent it for; null: somebody else sent it.' }),
};

const argument = z.object({ name: z.string(), value: z.string() }).meta({ id: 'CallArgument' });

export const showChain = endpoint('GET /chain', {
  id: 'showChain',
  tag: 'Chain',
  summary: 'What is on chain: contracts, accounts, supply',
  description: 'The accounts that the service sends from with what they own, and RWT against the ledger.',
  answer: {
    description: 'As of the newest block. Amounts of RWT are whole tokens.',
    body: named(
      'ChainState',
      z.object({
        chainId: z.int(),
        deploymentBlock: z.int(),
        head: z.object(blockFacts).meta({ id: 'ChainHead' }).nullable(),
        contracts: z.array(z.object({ name: z.string(), address: z.string() }).meta({ id: 'ChainContract' })),
        accounts: z.array(
          z
            .object({
              address: z.string(),
              is: z.string().meta({ description: 'What the service does with it.' }),
              wei: z.string(),
              rwt: z.string(),
            })
            .meta({ id: 'ChainAccount' }),
        ),
        token: z
          .object({
            supply: z.string(),
            escrowed: z.string().meta({ description: 'Of that, what the escrow holds for brands.' }),
            ledgerMinted: z
              .int()
              .meta({ description: 'Minted by the ledger, for payments and by hand, and what waits.' }),
            ledgerRewarded: z.int().meta({ description: 'RWT of all rewards, paid or on their way.' }),
          })
          .meta({ id: 'ChainToken' }),
      }),
    ),
  },
  refusals: ['node_unavailable'],
});

/** A block with some of its transactions. */
const blockWith = {
  ...blockFacts,
  gasUsed: z.int(),
  count: z.int().meta({ description: 'How many transactions it has.' }),
  transactions: z.array(
    z
      .object({
        ...transactionRow,
        payouts: z.int().meta({ description: 'Rewards in it.' }),
        logs: z.int(),
      })
      .meta({ id: 'BlockTransaction' }),
  ),
};

export const listBlocks = endpoint('GET /chain/blocks', {
  id: 'listBlocks',
  tag: 'Chain',
  summary: 'Blocks with what they call, newest first',
  query: z.object({
    before: z.int().min(0).optional().meta({ description: 'Only blocks before this number.' }),
    limit: listLimit(BLOCKS_MAX).default(BLOCKS_SHOWN),
  }),
  unfit: wrongLimit(BLOCKS_MAX),
  example: { query: { limit: '10' } },
  answer: {
    description: 'Of a block at most 20 transactions are named; `count` says how many it has.',
    body: named(
      'BlockList',
      z.object({
        head: z.int().meta({ description: 'The newest block; -1 before the first.' }),
        blocks: z.array(z.object(blockWith).meta({ id: 'ChainBlock' })),
      }),
    ),
  },
  refusals: ['invalid_limit', 'invalid_settings', 'node_unavailable'],
});

export const showBlock = endpoint('GET /chain/blocks/{block}', {
  id: 'showBlock',
  tag: 'Chain',
  summary: 'One block with all that it calls',
  path: z.object({
    block: z
      .string()
      .regex(/^\d{1,15}$/, { error: 'must be the number of a block' })
      .transform(Number)
      .meta({ description: 'Its number.' }),
  }),
  query: z.object({
    from: z
      .int()
      .min(0)
      .default(0)
      .meta({ description: 'The place of the first transaction to name, from 0.' }),
    limit: listLimit(TRANSACTIONS_MAX).default(TRANSACTIONS_SHOWN),
  }),
  unfit: wrongLimit(TRANSACTIONS_MAX),
  example: { path: { block: '1' }, query: { limit: '10' } },
  answer: {
    description: 'The block.',
    body: named(
      'BlockDetail',
      z.object({ head: z.int().meta({ description: 'The newest block.' }), ...blockWith }),
    ),
  },
  refusals: ['invalid_limit', 'invalid_settings', 'block_not_found', 'node_unavailable'],
});

export const showTransaction = endpoint('GET /chain/transactions/{hash}', {
  id: 'showTransaction',
  tag: 'Chain',
  summary: 'One transaction, its call and its logs in words',
  path: z.object({
    hash: textAs('must be the hash of a transaction, 0x and 64 hex digits', (text) =>
      /^0x[0-9a-f]{64}$/i.test(text) ? (text.toLowerCase() as `0x${string}`) : undefined,
    ),
  }),
  example: { path: { hash: example.transactionHash } },
  answer: {
    description: 'At most 100 rewards and 200 logs are named.',
    body: named(
      'ChainTransaction',
      z.object({
        ...transactionRow,
        nonce: z.int(),
        gas: z.int().meta({ description: 'The most that it may use.' }),
        feeWei: z.string().nullable(),
        block: z.object(blockFacts).meta({ id: 'TransactionBlock' }).nullable(),
        args: z.array(argument),
        payouts: z
          .object({
            count: z.int(),
            shown: z.array(
              z
                .object({ sequence: z.string(), brandId: z.string(), to: z.string(), amount: z.string() })
                .meta({ id: 'BatchPayout' }),
            ),
          })
          .meta({ id: 'BatchPayouts' }),
        logs: z
          .object({
            count: z.int(),
            shown: z.array(
              z
                .object({
                  address: z.string(),
                  contract: contractName.nullable(),
                  event: z.string().nullable(),
                  args: z.array(argument),
                })
                .meta({ id: 'ChainLog' }),
            ),
          })
          .meta({ id: 'ChainLogs' }),
        ledger: z
          .object({
            purpose: z.string(),
            status: z.enum(['stored', 'sent', 'included', 'final']),
            outcome: z.enum(['done', 'reverted', 'noop']).nullable(),
            kind: z.enum(['payload', 'noop']),
          })
          .meta({ id: 'LedgerTransaction' })
          .nullable()
          .meta({ description: 'What the ledger knows of it; null: it is not of this service.' }),
      }),
    ),
  },
  refusals: ['invalid_settings', 'node_unavailable', 'transaction_not_found'],
});

export type ChainState = AnswerOf<typeof showChain>;
export type BlockList = AnswerOf<typeof listBlocks>;
export type ChainTransaction = AnswerOf<typeof showTransaction>;

export const chainEndpoints = [showChain, listBlocks, showBlock, showTransaction];
