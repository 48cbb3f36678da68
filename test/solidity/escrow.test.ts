/** BusinessEscrow: deposits, withdrawals and redemptions of brands. */
import { keccak256, parseEventLogs, toHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { receiptOf } from '../kits/chain/chain.ts';
import { expectRevert, type Kit, people, startKit } from './kit.ts';

const { admin, alice, bob, brand, otherBrand, redeemer, relayer, stranger } = people;
const key = keccak256(toHex('redemption 1'));

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(async () => {
  await kit.reset();
  await kit.letCollect(redeemer);
});
afterAll(() => kit?.anvil.stop());

test('deposit pulls from the caller by allowance, for any brand', async () => {
  const { write, abi } = kit.escrow;
  await kit.give(stranger.address, 100n);
  await expectRevert(write.deposit([brand.address, 60n], kit.by(stranger)), 'ERC20InsufficientAllowance');
  await kit.mined(kit.token.write.approve([kit.escrow.address, 100n], kit.by(stranger)));
  const { logs } = await kit.mined(write.deposit([brand.address, 60n], kit.by(stranger)));
  expect(parseEventLogs({ abi, logs })).toMatchObject([
    { eventName: 'Deposited', args: { brand: brand.address, from: stranger.address, amount: 60n } },
  ]);
  expect(await balances()).toEqual({ brand: 60n, other: 0n, held: 60n });
  await expectRevert(write.deposit([zeroAddress, 1n], kit.by(stranger)), 'InvalidBrand');
  await expectRevert(write.deposit([brand.address, 0n], kit.by(stranger)), 'ZeroAmount');
});

test('depositWithPermit moves the signer’s RWT into its own balance, whoever sends it', async () => {
  await kit.give(brand.address, 100n);
  const terms = await kit.permit(brand, kit.escrow.address, 60n);
  await expectRevert(deposit(otherBrand.address, 60n, terms), 'InvalidPermit');
  await kit.mined(deposit(brand.address, 60n, terms));
  expect(await balances()).toEqual({ brand: 60n, other: 0n, held: 60n });
});

test('depositWithPermit still works when someone has submitted the permit before', async () => {
  await kit.give(brand.address, 100n);
  const terms = await kit.permit(brand, kit.escrow.address, 60n);
  const owner = brand.address;
  await kit.mined(kit.token.write.permit([owner, kit.escrow.address, 60n, ...terms], kit.by(stranger)));
  await kit.mined(deposit(owner, 60n, terms));
  expect(await balances()).toEqual({ brand: 60n, other: 0n, held: 60n });
  // The allowance is spent, so the same permit brings nothing more.
  await expectRevert(deposit(owner, 60n, terms), 'ERC20InsufficientAllowance');
});

test('a used permit is no longer good after its deadline', async () => {
  const { timestamp } = await kit.publicClient.getBlock();
  const terms = await kit.permit(brand, kit.escrow.address, 60n, timestamp + 100n);
  await kit.give(brand.address, 100n);
  const permit = [brand.address, kit.escrow.address, 60n, ...terms] as const;
  await kit.mined(kit.token.write.permit(permit, kit.by(stranger)));
  await kit.rpc('evm_increaseTime', [200]);
  await kit.rpc('evm_mine', []);
  await expectRevert(deposit(brand.address, 60n, terms), 'InvalidPermit');
});

test('an allowance alone does not let a stranger deposit for its owner', async () => {
  await kit.give(brand.address, 100n);
  await kit.mined(kit.token.write.approve([kit.escrow.address, 100n], kit.by(brand)));
  const forged = await kit.permit(stranger, kit.escrow.address, 60n);
  await expectRevert(deposit(brand.address, 60n, forged), 'InvalidPermit');
});

test('the allowance that a used permit left does not let a stranger deposit for its owner either', async () => {
  await kit.give(brand.address, 100n);
  const [deadline, v, r, s] = await kit.permit(brand, kit.escrow.address, 60n);
  const used = [brand.address, kit.escrow.address, 60n, deadline, v, r, s] as const;
  await kit.mined(kit.token.write.permit(used, kit.by(stranger)));
  const forged = await kit.permit(stranger, kit.escrow.address, 60n);
  await expectRevert(deposit(brand.address, 60n, forged), 'InvalidPermit');
  await kit.mined(deposit(brand.address, 60n, [deadline, v, r, s]));
});

test('a permit that was used already is good up to the second of its deadline, and not a second longer', async () => {
  const at = async (afterSeconds: bigint) => {
    await kit.reset();
    await kit.give(brand.address, 100n);
    const deadline = (await kit.publicClient.getBlock()).timestamp + 100n;
    const terms = await kit.permit(brand, kit.escrow.address, 60n, deadline);
    const used = [brand.address, kit.escrow.address, 60n, ...terms] as const;
    await kit.mined(kit.token.write.permit(used, kit.by(stranger)));
    await kit.rpc('evm_setNextBlockTimestamp', [Number(deadline + afterSeconds)]);
    const call = [brand.address, 60n, ...terms] as const;
    const hash = await kit.escrow.write.depositWithPermit(call, kit.by(relayer, 500_000n));
    return (await receiptOf(kit.publicClient, hash)).status;
  };
  expect(await at(0n)).toBe('success');
  expect(await at(1n)).toBe('reverted');
});

test('a brand withdraws all that it has', async () => {
  await kit.fund(brand.address, 100n);
  await kit.mined(kit.escrow.write.withdraw([100n], kit.by(brand)));
  expect(await balances()).toEqual({ brand: 0n, other: 0n, held: 0n });
  expect(await kit.token.read.balanceOf([brand.address])).toBe(100n);
});

test('only the brand itself withdraws, and no more than it has', async () => {
  const { write, abi } = kit.escrow;
  await kit.fund(brand.address, 100n);
  await kit.fund(otherBrand.address, 100n);
  await expectRevert(write.withdraw([1n], kit.by(stranger)), 'InsufficientBrandBalance');
  await expectRevert(write.withdraw([1n], kit.by(admin)), 'InsufficientBrandBalance');
  await expectRevert(write.withdraw([101n], kit.by(brand)), 'InsufficientBrandBalance');
  await expectRevert(write.withdraw([0n], kit.by(brand)), 'ZeroAmount');
  const { logs } = await kit.mined(write.withdraw([40n], kit.by(brand)));
  expect(parseEventLogs({ abi, logs })).toMatchObject([
    { eventName: 'Withdrawn', args: { brand: brand.address, amount: 40n } },
  ]);
  expect(await balances()).toEqual({ brand: 60n, other: 100n, held: 160n });
  expect(await kit.token.read.balanceOf([brand.address])).toBe(40n);
});

test('redeem collects once for a key; a second time returns false and does nothing', async () => {
  const { write, read, abi, simulate } = kit.escrow;
  await kit.give(alice.address, 100n);
  const call = [key, brand.address, alice.address, 40n] as const;
  expect((await simulate.redeem(call, { account: redeemer })).result).toBe(true);
  const first = await kit.mined(write.redeem(call, kit.by(redeemer)));
  expect(parseEventLogs({ abi, logs: first.logs, eventName: 'Redeemed' })).toMatchObject([
    { args: { key, brand: brand.address, user: alice.address, amount: 40n } },
  ]);
  expect(await read.isRedeemed([key])).toBe(true);
  expect((await simulate.redeem(call, { account: redeemer })).result).toBe(false);
  const second = await kit.mined(write.redeem(call, kit.by(redeemer)));
  expect(parseEventLogs({ abi, logs: second.logs })).toMatchObject([
    { eventName: 'AlreadyRedeemed', args: { key } },
  ]);
  expect(second.logs.length).toBe(1);
  expect(await balances()).toEqual({ brand: 40n, other: 0n, held: 40n });
  expect(await kit.token.read.balanceOf([alice.address])).toBe(60n);
});

test('a redemption that cannot be leaves its key free', async () => {
  const { write, read } = kit.escrow;
  await kit.give(alice.address, 10n);
  await kit.fund(brand.address, 100n);
  const by = kit.by(redeemer);
  await expectRevert(write.redeem([key, brand.address, alice.address, 11n], by), 'ERC20InsufficientBalance');
  await expectRevert(write.redeem([key, brand.address, alice.address, 0n], by), 'ZeroAmount');
  await expectRevert(write.redeem([key, zeroAddress, alice.address, 1n], by), 'InvalidBrand');
  await expectRevert(write.redeem([key, brand.address, kit.escrow.address, 1n], by), 'SelfCollect');
  expect(await read.isRedeemed([key])).toBe(false);
  await kit.mined(write.redeem([key, brand.address, alice.address, 10n], by));
});

test('distributing and redeeming need their roles', async () => {
  for (const account of [stranger, admin, relayer, brand]) {
    const denied = 'AccessControlUnauthorizedAccount';
    await expectRevert(
      kit.escrow.write.redeem([key, brand.address, bob.address, 1n], kit.by(account)),
      denied,
    );
    await expectRevert(kit.escrow.write.distributePacked(['0x'], kit.by(account)), denied);
  }
});

type PermitTerms = Awaited<ReturnType<Kit['permit']>>;

function deposit(owner: `0x${string}`, amount: bigint, terms: PermitTerms) {
  return kit.escrow.write.depositWithPermit([owner, amount, ...terms], kit.by(relayer));
}

async function balances() {
  const { read } = kit.escrow;
  return {
    brand: await read.balanceOf([brand.address]),
    other: await read.balanceOf([otherBrand.address]),
    held: await kit.token.read.balanceOf([kit.escrow.address]),
  };
}
