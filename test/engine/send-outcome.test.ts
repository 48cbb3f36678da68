/** What nodes say to signed bytes, in their own words, and what it means. */
import { expect, test } from 'vitest';
import { RpcAnswerError, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { sortSendError } from '../../src/chain/rpc/send-outcome.ts';

const known = { kind: 'known' };
const nonceUsed = { kind: 'nonce_used' };
const rejected = (reason: string) => ({ kind: 'rejected', reason });
const cheap = rejected('fee_too_low');
const poor = rejected('insufficient_gas_money');
const full = rejected('pool_full');
const capped = rejected('over_node_cap');
const malformed = rejected('malformed');
const unknown = { kind: 'unknown' };

const wordings: [node: string, code: number, message: string, means: object][] = [
  ['geth', -32000, 'already known', known],
  ['geth', -32000, 'nonce too low: next nonce 5, tx nonce 4', nonceUsed],
  ['geth', -32000, 'nonce too low: address 0xf39F, tx: 4 state: 5', nonceUsed],
  ['geth', -32000, 'replacement transaction underpriced', cheap],
  ['geth', -32000, 'transaction underpriced', cheap],
  ['geth', -32000, 'transaction underpriced: gas tip cap 1, minimum needed 1000000', cheap],
  [
    'geth',
    -32000,
    'max fee per gas less than block base fee: address 0xf39F, maxFeePerGas: 1, baseFee: 7',
    cheap,
  ],
  ['geth', -32000, 'insufficient funds for gas * price + value: address 0xf39F have 0 want 21000', poor],
  ['geth', -32000, 'insufficient funds for transfer', poor],
  ['geth', -32000, 'txpool is full', full],
  ['geth', -32000, 'intrinsic gas too low: gas 100, minimum needed 21000', malformed],
  ['geth', -32000, 'exceeds block gas limit', malformed],
  ['geth', -32000, 'invalid sender', malformed],
  ['geth', -32000, 'rlp: expected input list for types.LegacyTx', malformed],
  ['geth', -32000, 'oversized data: transaction size 200000, limit 131072', malformed],
  ['erigon', -32000, 'ALREADY_EXISTS: already known', known],
  ['erigon', -32000, 'already known', known],
  ['erigon', -32000, 'nonce too low', nonceUsed],
  ['erigon', -32000, 'underpriced', cheap],
  ['erigon', -32000, 'replacement transaction underpriced', cheap],
  ['erigon', -32000, 'fee cap less than block base fee', cheap],
  ['erigon', -32000, 'insufficient funds', poor],
  ['nethermind', -32010, 'AlreadyKnown', known],
  ['nethermind', -32010, 'OldNonce', nonceUsed],
  ['nethermind', -32010, 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', nonceUsed],
  ['nethermind', -32010, 'FeeTooLow', cheap],
  ['nethermind', -32010, 'FeeTooLowToCompete', cheap],
  ['nethermind', -32010, 'InsufficientFunds, Account balance: 0, cumulative cost: 21000', poor],
  ['nethermind', -32010, 'InsufficientFunds', poor],
  ['besu', -32000, 'Known transaction', known],
  ['besu', -32001, 'Nonce too low', nonceUsed],
  ['besu', -32009, 'Gas price below configured minimum gas price', cheap],
  ['besu', -32000, 'Replacement transaction underpriced', cheap],
  ['besu', -32004, 'Upfront cost exceeds account balance', poor],
  ['besu', -32004, 'transaction up-front cost 0x52 exceeds transaction sender account balance 0x0', poor],
  ['besu', -32002, 'Invalid signature', malformed],
  ['besu', -32003, 'Intrinsic gas exceeds gas limit', malformed],
  ['besu', -32005, 'Transaction gas limit exceeds block gas limit', malformed],
  ['anvil', -32003, 'transaction already imported', known],
  ['anvil', -32003, 'nonce too low', nonceUsed],
  ['anvil', -32003, 'replacement transaction underpriced', cheap],
  ['anvil', -32003, 'max fee per gas less than block base fee', cheap],
  ['anvil', -32003, 'Insufficient funds for gas * price + value', poor],
  ['anvil', -32602, 'Failed to decode transaction', malformed],
  ['geth', -32000, 'tx fee (1.06 ether) exceeds the configured cap (1.00 ether)', capped],
  [
    'reth',
    -32000,
    'tx fee (1068000000000000000 wei) exceeds the configured cap (1000000000000000000 wei)',
    capped,
  ],
  ['besu', -32000, 'Transaction fee cap exceeded', capped],
  ['any', -32000, 'unknown transaction', unknown],
  // Whatever nobody has heard before may have been taken.
  ['any', -32000, 'something new', unknown],
  ['any', -32603, 'Internal error', unknown],
  ['any', -32005, 'rate limit exceeded', unknown],
  ['any', -32000, 'request timed out', unknown],
  // A revert's text is the contract's own, whatever it quotes.
  ['any', 3, 'execution reverted: nonce too low', unknown],
  ['any', 3, 'execution reverted: already known', unknown],
];

test.each(wordings)('%s, %i: %s', (_, code, message, means) => {
  expect(sortSendError(new RpcAnswerError('eth_sendRawTransaction', { code, message }))).toMatchObject(means);
});

test('a refusal is certain unless another node that was asked before gave no answer', () => {
  const error = new RpcAnswerError('send', { code: -32000, message: 'txpool is full' });
  expect(sortSendError(error)).toEqual({ kind: 'rejected', reason: 'pool_full', certain: true });
  error.othersUnanswered = true;
  expect(sortSendError(error)).toEqual({ kind: 'rejected', reason: 'pool_full', certain: false });
  const other = new RpcAnswerError('send', { code: -7, message: 'something new' });
  expect(sortSendError(other)).toEqual({ kind: 'unknown', why: 'error -7' });
});

test.each(['no answer', 'an unreadable answer'] as const)('%s is unknown', (why) => {
  expect(sortSendError(new RpcUnreachableError('eth_sendRawTransaction', why))).toMatchObject(unknown);
});
