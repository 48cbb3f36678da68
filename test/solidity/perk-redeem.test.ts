/** PerkNFT: perks redeemed for users, once for each key, from the stock that purchases use, and changes of perks on sale. */
import { keccak256, maxUint256, parseEventLogs, toHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { contractsAt } from '../../src/chain/contracts/deploy.ts';
import earlier from './earlier/PerkNFT-without-redemptions.json' with { type: 'json' };
import { expectRevert, type Kit, people, startKit } from './kit.ts';

const { admin, alice, brand, bob, distributor, operator, redeemer, relayer, stranger } = people;
const PERK = 1n;
const PRICE = 50n;
const key = keccak256(toHex('redemption 1'));
const otherKey = keccak256(toHex('redemption 2'));
const call = [key, alice.address, PERK, PRICE] as const;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(async () => {
  await kit.reset();
  await setPerk({});
  await kit.give(alice.address, 200n);
});
afterAll(() => kit?.anvil.stop());

test('redeems once for a key, without an allowance; a second time returns false and does nothing', async () => {
  const { write, read, simulate, abi } = kit.perks;
  expect((await simulate.redeem(call, { account: redeemer })).result).toBe(true);
  const first = await kit.mined(write.redeem(call, kit.by(redeemer)));
  expect(parseEventLogs({ abi, logs: first.logs, eventName: 'PerkRedeemed' })).toMatchObject([
    { args: { key, perkId: PERK, buyer: alice.address, brand: brand.address, price: PRICE } },
  ]);
  const collected = parseEventLogs({ abi: kit.escrow.abi, logs: first.logs, eventName: 'Redeemed' });
  expect(collected).toMatchObject([
    { args: { key, brand: brand.address, user: alice.address, amount: PRICE } },
  ]);
  expect(await read.isRedeemed([key])).toBe(true);
  expect((await simulate.redeem(call, { account: redeemer })).result).toBe(false);
  const second = await kit.mined(write.redeem(call, kit.by(redeemer)));
  expect(parseEventLogs({ abi, logs: second.logs })).toMatchObject([
    { eventName: 'AlreadyRedeemed', args: { key } },
  ]);
  expect(second.logs.length).toBe(1);
  expect(await state()).toEqual({ perks: 1n, tokens: 150n, escrow: 50n, left: 2n, stranded: 0n });
});

test('a used key stays used whatever else is asked under it', async () => {
  const { write } = kit.perks;
  await kit.mined(write.redeem(call, kit.by(redeemer)));
  await setPerk({ active: false });
  await kit.mined(write.redeem([key, bob.address, 99n, 0n], kit.by(redeemer)));
  expect(await kit.perks.read.balanceOf([bob.address, 99n])).toBe(0n);
});

test('one redemption when both transactions of a key are in the same block', async () => {
  await kit.rpc('evm_setAutomine', [false]);
  const nonce = await kit.publicClient.getTransactionCount({ address: redeemer.address });
  const sent = [nonce, nonce + 1].map((each) =>
    kit.perks.write.redeem(call, { account: redeemer, nonce: each, gas: 300_000n }),
  );
  await Promise.all(sent);
  await kit.rpc('evm_mine', []);
  await kit.rpc('evm_setAutomine', [true]);
  await Promise.all(sent.map(kit.mined));
  expect(await state()).toMatchObject({ perks: 1n, tokens: 150n, left: 2n });
});

test('only a redeemer redeems', async () => {
  for (const caller of [stranger, admin, alice, brand, relayer, distributor, operator])
    await expectRevert(kit.perks.write.redeem(call, kit.by(caller)), 'AccessControlUnauthorizedAccount');
});

test('a redemption that cannot be leaves its key free, and stock and balance as they were', async () => {
  const by = kit.by(redeemer);
  const { write, read } = kit.perks;
  await expectRevert(write.redeem([key, alice.address, 99n, PRICE], by), 'PerkNotActive');
  await setPerk({ active: false });
  await expectRevert(write.redeem(call, by), 'PerkNotActive');
  await setPerk({ price: 51n });
  expect(await expectRevert(write.redeem(call, by), 'PriceAboveMaximum')).toEqual([PERK, 51n, PRICE]);
  await setPerk({ stock: 0n });
  await expectRevert(write.redeem(call, by), 'PerkSoldOut');
  await setPerk({});
  await expectRevert(write.redeem([key, bob.address, PERK, PRICE], by), 'ERC20InsufficientBalance');
  await expectRevert(write.redeem([key, zeroAddress, PERK, PRICE], by), 'ERC20InvalidSender');
  await expectRevert(write.redeem([key, kit.perks.address, PERK, PRICE], by), 'ERC20InsufficientBalance');
  await expectRevert(write.redeem([key, kit.escrow.address, PERK, PRICE], by), 'SelfCollect');
  expect(await read.isRedeemed([key])).toBe(false);
  expect(await state()).toEqual({ perks: 0n, tokens: 200n, escrow: 0n, left: 3n, stranded: 0n });
  await kit.mined(write.redeem(call, by));
});

test('a key that the escrow has collected under for something else redeems nothing', async () => {
  await kit.letCollect(operator);
  const collected = [key, brand.address, alice.address, 1n] as const;
  await kit.mined(kit.escrow.write.redeem(collected, kit.by(operator)));
  expect(await expectRevert(kit.perks.write.redeem(call, kit.by(redeemer)), 'KeyUsedInEscrow')).toEqual([
    key,
  ]);
  expect(await state()).toMatchObject({ perks: 0n, tokens: 199n, left: 3n });
});

test('a free perk collects nothing, and its key is used all the same', async () => {
  await setPerk({ price: 0n });
  const free = [key, bob.address, PERK, 0n] as const;
  const { logs } = await kit.mined(kit.perks.write.redeem(free, kit.by(redeemer)));
  expect(parseEventLogs({ abi: kit.escrow.abi, logs, eventName: 'Redeemed' })).toEqual([]);
  await kit.mined(kit.perks.write.redeem(free, kit.by(redeemer)));
  expect(await kit.perks.read.balanceOf([bob.address, PERK])).toBe(1n);
  expect((await state()).left).toBe(2n);
});

test('a permit to the escrow pays, in the same transaction, once for a key, and uses nothing of the cap', async () => {
  const { write, simulate } = kit.perks;
  await setCap(0n);
  await expectRevert(write.redeem(call, kit.by(redeemer)), 'CollectCapExceeded');
  const permit = await permitOf(PRICE);
  await kit.mined(write.redeemWithPermit([...call, permit], kit.by(redeemer)));
  expect(await state()).toEqual({ perks: 1n, tokens: 150n, escrow: 50n, left: 2n, stranded: 0n });
  expect(await kit.token.read.allowance([alice.address, kit.escrow.address])).toBe(0n);
  expect((await simulate.redeemWithPermit([...call, permit], { account: redeemer })).result).toBe(false);
  await expectRevert(
    write.redeemWithPermit([otherKey, alice.address, PERK, PRICE, permit], kit.by(redeemer)),
    'ERC20InsufficientAllowance',
  );
});

test('a permit that somebody has submitted pays too, as far as its allowance goes; any other is refused', async () => {
  const { write } = kit.perks;
  const permit = await permitOf(PRICE);
  const { value, deadline, v, r, s } = permit;
  const submitted = [alice.address, kit.escrow.address, value, deadline, v, r, s] as const;
  await kit.mined(kit.token.write.permit(submitted, kit.by(stranger)));
  await kit.mined(write.redeemWithPermit([...call, permit], kit.by(redeemer)));
  const again = [otherKey, alice.address, PERK, PRICE] as const;
  for (const bad of [
    permit,
    await permitOf(PRICE - 1n),
    await permitOf(PRICE, 1n),
    { ...(await permitOf(PRICE)), v: 27 + ((await permitOf(PRICE)).v === 27 ? 1 : 0) },
  ])
    await expectRevert(
      write.redeemWithPermit([...again, bad], kit.by(redeemer)),
      'ERC20InsufficientAllowance',
    );
  expect(await state()).toMatchObject({ perks: 1n, tokens: 150n, left: 2n });
});

test('only a redeemer redeems with a permit', async () => {
  const permit = await permitOf(PRICE);
  for (const caller of [stranger, admin, alice, brand, relayer, distributor, operator])
    await expectRevert(
      kit.perks.write.redeemWithPermit([...call, permit], kit.by(caller)),
      'AccessControlUnauthorizedAccount',
    );
});

test('redemptions and purchases share one stock', async () => {
  await setPerk({ stock: 2n });
  await kit.mined(kit.token.write.approve([kit.perks.address, 200n], kit.by(alice)));
  await kit.mined(kit.perks.write.purchaseFor([alice.address, PERK, PRICE], kit.by(relayer)));
  await kit.mined(kit.perks.write.redeem(call, kit.by(redeemer)));
  const again = [otherKey, alice.address, PERK, PRICE] as const;
  await expectRevert(kit.perks.write.redeem(again, kit.by(redeemer)), 'PerkSoldOut');
  await expectRevert(kit.perks.write.purchase([PERK, PRICE], kit.by(alice)), 'PerkSoldOut');
  expect(await state()).toEqual({ perks: 2n, tokens: 100n, escrow: 100n, left: 0n, stranded: 0n });
  await setPerk({ stock: maxUint256 });
  await kit.mined(kit.perks.write.redeem(again, kit.by(redeemer)));
  expect((await state()).left).toBe(maxUint256);
});

test('new terms leave the stock as sales have left it', async () => {
  await kit.mined(kit.perks.write.redeem(call, kit.by(redeemer)));
  const terms = [PERK, 70n, brand.address, false] as const;
  const { logs } = await kit.mined(kit.perks.write.setPerkTerms(terms, kit.by(redeemer)));
  expect(parseEventLogs({ abi: kit.perks.abi, logs })).toMatchObject([
    { eventName: 'PerkSet', args: { perkId: PERK, price: 70n, stock: 2n, active: false } },
  ]);
  expect(await kit.perks.read.perkOf([PERK])).toMatchObject({ price: 70n, stock: 2n, active: false });
  const toNobody = [PERK, 70n, zeroAddress, true] as const;
  await expectRevert(kit.perks.write.setPerkTerms(toNobody, kit.by(redeemer)), 'InvalidBrand');
  await expectRevert(
    kit.perks.write.setPerkTerms(terms, kit.by(relayer)),
    'AccessControlUnauthorizedAccount',
  );
});

test('a change of stock adds to what is left, and never takes more than that', async () => {
  const change = (by: bigint, from = redeemer) => kit.perks.write.changeStock([PERK, by], kit.by(from));
  await kit.mined(kit.perks.write.redeem(call, kit.by(redeemer)));
  const { logs } = await kit.mined(change(5n));
  expect(parseEventLogs({ abi: kit.perks.abi, logs })).toMatchObject([
    { eventName: 'PerkSet', args: { perkId: PERK, brand: brand.address, price: PRICE, stock: 7n } },
  ]);
  await kit.mined(change(-7n));
  expect((await state()).left).toBe(0n);
  expect(await expectRevert(change(-1n), 'StockNotChangeable')).toEqual([PERK, 0n, -1n]);
  await setPerk({ stock: maxUint256 });
  await expectRevert(change(1n), 'StockNotChangeable');
  await expectRevert(change(1n, relayer), 'AccessControlUnauthorizedAccount');
});

test('a PerkNFT of an earlier version is named as too old', async () => {
  const { token, escrow, perks, pointsSale } = kit.deployment;
  await kit.rpc('anvil_setCode', [perks, earlier.deployedBytecode]);
  expect(await contractsAt(kit.deps, { token, escrow, perks, pointsSale })).toEqual([
    { contract: 'perks', problem: 'too_old' },
  ]);
});

const setCap = (cap: bigint) => kit.mined(kit.token.write.setCollectCap([cap], kit.by(admin)));

async function permitOf(value: bigint, deadline?: bigint) {
  const [until, v, r, s] = await kit.permit(alice, kit.escrow.address, value, deadline);
  return { value, deadline: until, v: Number(v), r, s };
}

function setPerk({ price = PRICE, stock = 3n, active = true }) {
  const terms = [PERK, price, stock, brand.address, active] as const;
  return kit.mined(kit.perks.write.setPerk(terms, kit.by(redeemer)));
}

async function state() {
  return {
    perks: await kit.perks.read.balanceOf([alice.address, PERK]),
    tokens: await kit.token.read.balanceOf([alice.address]),
    escrow: await kit.escrow.read.balanceOf([brand.address]),
    left: (await kit.perks.read.perkOf([PERK])).stock,
    stranded: await kit.token.read.balanceOf([kit.perks.address]),
  };
}
