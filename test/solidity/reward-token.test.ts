/** RewardToken: roles and caps, permit, transfer by authorization, batches and collecting. */
import { concat, type Hex, numberToHex, parseEventLogs, parseSignature } from 'viem';
import type { HDAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { expectRevert, type Kit, newHolder, people, startKit, tokenDomain } from './kit.ts';

const { admin, alice, bob, stranger } = people;
const FOREVER = 2n ** 64n;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(() => kit.reset());
afterAll(() => kit?.anvil.stop());

test('is Reward Token, RWT, without decimals', async () => {
  const { name, symbol, decimals, totalSupply } = kit.token.read;
  expect(await Promise.all([name(), symbol(), decimals(), totalSupply()])).toEqual([
    'Reward Token',
    'RWT',
    0,
    0n,
  ]);
});

test('a minter mints up to its cap and no further', async () => {
  const { write, read } = kit.token;
  await kit.mined(write.grantRole([roleId('MINTER_ROLE'), alice.address], kit.by(admin)));
  expect(await expectRevert(write.mint([bob.address, 1n], kit.by(alice)), 'MinterCapExceeded')).toEqual([
    alice.address,
    1n,
    0n,
  ]);
  const { logs } = await kit.mined(write.setMinterCap([alice.address, 10n], kit.by(admin)));
  expect(parseEventLogs({ abi: kit.token.abi, logs })).toMatchObject([
    { eventName: 'MinterCapSet', args: { minter: alice.address, cap: 10n } },
  ]);
  await kit.mined(write.mint([bob.address, 7n], kit.by(alice)));
  expect(await read.minterCap([alice.address])).toBe(3n);
  await expectRevert(write.mint([bob.address, 4n], kit.by(alice)), 'MinterCapExceeded');
  await kit.mined(write.mint([bob.address, 3n], kit.by(alice)));
  expect(await read.balanceOf([bob.address])).toBe(10n);
  expect(await read.totalSupply()).toBe(10n);
});

test('a cap without the role, and roles without an admin, are worth nothing', async () => {
  const { write } = kit.token;
  await kit.mined(write.setMinterCap([stranger.address, 10n], kit.by(admin)));
  const denied = 'AccessControlUnauthorizedAccount';
  await expectRevert(write.mint([bob.address, 1n], kit.by(stranger)), denied);
  await expectRevert(write.setMinterCap([stranger.address, 1n], kit.by(stranger)), denied);
  await expectRevert(write.grantRole([roleId('MINTER_ROLE'), stranger.address], kit.by(stranger)), denied);
  await expectRevert(write.collect([bob.address, 0n], kit.by(admin)), denied);
});

test('a permit sets an allowance once, for its signer, until its deadline', async () => {
  const { write, read } = kit.token;
  const terms = await kit.permit(alice, bob.address, 5n);
  await expectRevert(
    write.permit([bob.address, bob.address, 5n, ...terms], kit.by(stranger)),
    'ERC2612InvalidSigner',
  );
  await kit.mined(write.permit([alice.address, bob.address, 5n, ...terms], kit.by(stranger)));
  expect(await read.allowance([alice.address, bob.address])).toBe(5n);
  await expectRevert(
    write.permit([alice.address, bob.address, 5n, ...terms], kit.by(stranger)),
    'ERC2612InvalidSigner',
  );
  const expired = await kit.permit(alice, bob.address, 5n, 1n);
  await expectRevert(
    write.permit([alice.address, bob.address, 5n, ...expired], kit.by(stranger)),
    'ERC2612ExpiredSignature',
  );
});

test('transferWithAuthorization moves tokens once, whoever sends it, within its time', async () => {
  const { write, read } = kit.token;
  await kit.give(alice.address, 10n);
  const nonce = numberToHex(77n, { size: 32 });
  const signed = await authorization('TransferWithAuthorization', { value: 4n, nonce });
  const forged = [alice.address, bob.address, 5n, 0n, FOREVER, nonce, ...signed] as const;
  await expectRevert(write.transferWithAuthorization(forged, kit.by(stranger)), 'ERC3009InvalidSignature');
  const genuine = [alice.address, bob.address, 4n, 0n, FOREVER, nonce, ...signed] as const;
  await kit.mined(write.transferWithAuthorization(genuine, kit.by(stranger)));
  expect(await read.authorizationState([alice.address, nonce])).toBe(true);
  expect(await read.balanceOf([bob.address])).toBe(4n);
  await expectRevert(write.transferWithAuthorization(genuine, kit.by(stranger)), 'ERC3009UsedAuthorization');
  expect(await read.balanceOf([bob.address])).toBe(4n);

  const later = numberToHex(78n, { size: 32 });
  const tooEarly = await authorization('TransferWithAuthorization', {
    value: 1n,
    nonce: later,
    validAfter: 2n ** 40n,
  });
  await expectRevert(
    write.transferWithAuthorization(
      [alice.address, bob.address, 1n, 2n ** 40n, FOREVER, later, ...tooEarly],
      kit.by(stranger),
    ),
    'ERC3009InvalidAuthorizationTime',
  );
});

test('receiveWithAuthorization is for the receiver alone', async () => {
  const { write, read } = kit.token;
  await kit.give(alice.address, 10n);
  const nonce = numberToHex(1n, { size: 32 });
  const signed = await authorization('ReceiveWithAuthorization', { value: 4n, nonce });
  const call = [alice.address, bob.address, 4n, 0n, FOREVER, nonce, ...signed] as const;
  await expectRevert(write.receiveWithAuthorization(call, kit.by(stranger)), 'ERC20InvalidReceiver');
  await kit.mined(write.receiveWithAuthorization(call, kit.by(bob)));
  expect(await read.balanceOf([bob.address])).toBe(4n);
});

test('a cancelled authorization can no longer be used', async () => {
  const { write, read } = kit.token;
  await kit.give(alice.address, 10n);
  const nonce = numberToHex(2n, { size: 32 });
  const cancel = await sign(alice, 'CancelAuthorization', cancelType, { authorizer: alice.address, nonce });
  await kit.mined(write.cancelAuthorization([alice.address, nonce, ...cancel], kit.by(stranger)));
  expect(await read.authorizationState([alice.address, nonce])).toBe(true);
  const signed = await authorization('TransferWithAuthorization', { value: 4n, nonce });
  await expectRevert(
    write.transferWithAuthorization(
      [alice.address, bob.address, 4n, 0n, FOREVER, nonce, ...signed],
      kit.by(stranger),
    ),
    'ERC3009UsedAuthorization',
  );
});

test('transferBatch moves the caller’s own tokens to many', async () => {
  const { write, read } = kit.token;
  await kit.give(alice.address, 10n);
  const [first, second] = [newHolder(1), newHolder(2)];
  await kit.mined(write.transferBatch([packed([first, 3n], [second, 7n])], kit.by(alice)));
  expect(await Promise.all([first, second, alice.address].map((holder) => read.balanceOf([holder])))).toEqual(
    [3n, 7n, 0n],
  );
  await expectRevert(write.transferBatch([packed([first, 1n])], kit.by(alice)), 'ERC20InsufficientBalance');
  await expectRevert(write.transferBatch([`${packed([first, 0n])}00`], kit.by(alice)), 'MalformedBatch');
  await kit.mined(write.transferBatch(['0x'], kit.by(stranger)));
});

test('a redeemer cannot collect from itself', async () => {
  await kit.mined(kit.token.write.grantRole([roleId('REDEEMER_ROLE'), bob.address], kit.by(admin)));
  await kit.give(bob.address, 1n);
  await expectRevert(kit.token.write.collect([bob.address, 1n], kit.by(bob)), 'SelfCollect');
});

describe('what a redeemer collects without an allowance', () => {
  const write = () => kit.token.write;
  const collect = (amount: bigint) => write().collect([alice.address, amount], kit.by(bob));
  beforeEach(async () => {
    await kit.mined(write().grantRole([roleId('REDEEMER_ROLE'), bob.address], kit.by(admin)));
    await kit.give(alice.address, 1_000n);
    await kit.mined(write().setCollectCap([100n], kit.by(admin)));
  });

  test('has a cap for an hour, from the first of it on', async () => {
    const { logs, blockNumber } = await kit.mined(collect(60n));
    const { timestamp } = await kit.publicClient.getBlock({ blockNumber });
    expect(
      parseEventLogs({ abi: kit.token.abi, logs, eventName: 'CollectedWithoutAllowance' }),
    ).toMatchObject([{ args: { from: alice.address, amount: 60n } }]);
    expect(await kit.token.read.collectCap()).toEqual([100n, 40n, timestamp + 3_600n]);
    expect(await expectRevert(collect(41n), 'CollectCapExceeded')).toEqual([41n, 40n, timestamp + 3_600n]);
    await kit.mined(collect(40n));
    await expectRevert(collect(1n), 'CollectCapExceeded');
    await kit.rpc('evm_setNextBlockTimestamp', [Number(timestamp) + 3_599]);
    await kit.rpc('evm_mine', []);
    await kit.rpc('evm_setNextBlockTimestamp', [Number(timestamp) + 3_600]);
    await kit.mined(write().collect([alice.address, 100n], { ...kit.by(bob), gas: 200_000n }));
    expect(await kit.token.read.balanceOf([bob.address])).toBe(200n);
  });

  test('counts only what goes beyond the allowance, which is spent first', async () => {
    await kit.mined(write().approve([bob.address, 70n], kit.by(alice)));
    const { logs } = await kit.mined(collect(100n));
    expect(
      parseEventLogs({ abi: kit.token.abi, logs, eventName: 'CollectedWithoutAllowance' }),
    ).toMatchObject([{ args: { amount: 30n } }]);
    expect(await kit.token.read.allowance([alice.address, bob.address])).toBe(0n);
    expect((await kit.token.read.collectCap())[1]).toBe(70n);
    await kit.mined(write().approve([bob.address, 500n], kit.by(alice)));
    expect((await kit.mined(collect(500n))).logs).toHaveLength(1);
    expect((await kit.token.read.collectCap())[1]).toBe(70n);
  });

  test('is what the admin says, and at first nothing; a lower cap holds at once', async () => {
    await kit.mined(collect(60n));
    await kit.mined(write().setCollectCap([50n], kit.by(admin)));
    expect((await kit.token.read.collectCap())[1]).toBe(0n);
    await expectRevert(collect(1n), 'CollectCapExceeded');
    for (const caller of [alice, bob, stranger])
      await expectRevert(write().setCollectCap([9n], kit.by(caller)), 'AccessControlUnauthorizedAccount');
    const { args } = parseEventLogs({
      abi: kit.token.abi,
      logs: (await kit.mined(write().setCollectCap([2n ** 96n - 1n], kit.by(admin)))).logs,
    })[0] as { args: unknown };
    expect(args).toEqual({ cap: 2n ** 96n - 1n });
    await kit.mined(collect(940n));
  });
});

function packed(...transfers: readonly [to: Hex, amount: bigint][]): Hex {
  return concat(transfers.flatMap(([to, amount]) => [to, numberToHex(amount, { size: 8 })]));
}

const transferType = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];
const cancelType = [
  { name: 'authorizer', type: 'address' },
  { name: 'nonce', type: 'bytes32' },
];

/** Alice's signature for a transfer to Bob. */
function authorization(
  primaryType: 'TransferWithAuthorization' | 'ReceiveWithAuthorization',
  { value, nonce, validAfter = 0n }: { value: bigint; nonce: Hex; validAfter?: bigint },
) {
  const message = { from: alice.address, to: bob.address, value, validAfter, validBefore: FOREVER, nonce };
  return sign(alice, primaryType, transferType, message);
}

async function sign(
  signer: HDAccount,
  primaryType: string,
  type: { name: string; type: string }[],
  message: Record<string, unknown>,
) {
  const domain = tokenDomain(kit.token.address);
  const signature = parseSignature(
    await signer.signTypedData({ domain, types: { [primaryType]: type }, primaryType, message }),
  );
  return [Number(signature.v), signature.r, signature.s] as const;
}
