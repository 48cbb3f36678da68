/** Which calls are sent on behalf of a user: whose argument must be theirs, and what each may cost. */
import { describe, expect, test } from 'vitest';
import {
  type ContractName,
  dearestCallGas,
  gasMaxOf,
  gasOfData,
  perkBought,
  refuseCall,
} from '../../src/rules/relay-policy.ts';

const user = `0x${'ab'.repeat(20)}`;
const other = `0x${'cd'.repeat(20)}`;
const TRANSFER =
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)';
const CANCEL = 'cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)';
const BUY = 'purchaseFor(address,uint256,uint256)';
const BUY_WITH_PERMIT = 'purchaseWithPermit(address,uint256,uint256,uint256,uint8,bytes32,bytes32)';
const DEPOSIT = 'depositWithPermit(address,uint256,uint256,uint8,bytes32,bytes32)';

const PERMIT = 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)';

const call = (
  contract: ContractName,
  signature: string | undefined,
  args: readonly unknown[],
  valueWei = 0n,
) => refuseCall({ contract, signature, args, valueWei }, user);

/** Every function that may be called: the most gas that is paid for it, and whether it buys a perk. */
const allowed: [ContractName, string, number, boolean][] = [
  ['token', TRANSFER, 150_000, false],
  ['token', CANCEL, 100_000, false],
  ['token', PERMIT, 120_000, false],
  ['perks', BUY, 220_000, true],
  ['perks', BUY_WITH_PERMIT, 240_000, true],
  ['escrow', DEPOSIT, 200_000, false],
];

describe.each(allowed)('%s.%s', (contract, signature, gasMax, buysPerk) => {
  const args = [user, 7n, 9n];
  const checksummed = `0x${'aB'.repeat(20)}`;

  test('is sent for the user whom its first argument names, and for nobody else', () => {
    expect(call(contract, signature, args)).toBeUndefined();
    expect(call(contract, signature, [checksummed, 7n, 9n])).toBeUndefined();
    const refusal = { reason: 'not_the_user', function: signature, argument: 0 };
    expect(call(contract, signature, [other, user, 9n])).toEqual(refusal);
    expect(call(contract, signature, [])).toEqual(refusal);
    expect(call(contract, signature, [5n])).toEqual(refusal);
  });

  test('takes no native currency', () => {
    expect(call(contract, signature, args, 1n)).toEqual({ reason: 'value_not_allowed', maxWei: '0' });
  });

  test('has its own most gas, and its perk', () => {
    expect(gasMaxOf(contract, signature)).toBe(gasMax);
    expect(perkBought({ contract, signature, args })).toBe(buysPerk ? 7n : undefined);
    expect(perkBought({ contract, signature, args: [user, 7] })).toBeUndefined();
  });
});

test.each<[ContractName, string]>([
  ['token', 'transfer(address,uint256)'],
  ['token', BUY],
  ['escrow', PERMIT],
  ['pointsSale', BUY],
  ['perks', 'toString'],
  ['perks', 'constructor'],
])('%s.%s is not sent', (contract, signature) => {
  expect(call(contract, signature, [user])).toEqual({ reason: 'function_not_allowed', function: signature });
  expect(gasMaxOf(contract, signature)).toBe(0);
  expect(perkBought({ contract, signature, args: [user, 7n] })).toBeUndefined();
});

test('a function that the contract does not have is not sent', () => {
  expect(call('perks', undefined, [user])).toEqual({ reason: 'unknown_function' });
  expect(perkBought({ contract: 'perks', signature: undefined, args: [user, 7n] })).toBeUndefined();
});

test.each<[unknown, unknown, string | undefined]>([
  [other, 1n, undefined],
  [other, 0n, 'zero_amount'],
  [user, 0n, 'zero_amount'],
  [user, 1n, 'to_self'],
  [user.toUpperCase(), 1n, 'to_self'],
])('a transfer to %s of %s moves nothing: %s', (to, amount, because) => {
  expect(call('token', TRANSFER, [user, to, amount])).toEqual(
    because && { reason: 'moves_nothing', function: TRANSFER, because },
  );
});

test('the dearest call is a purchase with a permit before it', () => {
  expect(dearestCallGas).toBe(240_000 + 120_000);
});

test.each([
  ['0x', 21_000],
  ['0x00', 21_010],
  ['0xff', 21_040],
  ['0x0000ff10', 21_100],
])('data %s costs %i gas before anything runs', (data, gas) => {
  expect(gasOfData(data)).toBe(gas);
});
