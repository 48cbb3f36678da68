/** PerkNFT: perks bought by allowance or permit, paid into the brand's escrow balance. */
import { encodeDeployData, type Hex, maxUint256, parseEventLogs, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectRevert, type Kit, people, startKit } from './kit.ts';
import greedyBuyer from './solidity/artifacts/GreedyBuyer.json' with { type: 'json' };

const { admin, alice, brand, bob, redeemer: perkAdmin, relayer, stranger } = people;
const PERK = 1n;
const PRICE = 50n;

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

test('a buyer with an allowance buys for itself; the brand’s escrow balance is paid', async () => {
  await approve(PRICE);
  const { logs } = await kit.mined(kit.perks.write.purchase([PERK, PRICE], kit.by(alice)));
  expect(parseEventLogs({ abi: kit.perks.abi, logs, eventName: 'PerkPurchased' })).toMatchObject([
    { args: { perkId: PERK, buyer: alice.address, brand: brand.address, price: PRICE } },
  ]);
  expect(await state()).toEqual({ perks: 1n, tokens: 150n, escrow: 50n, left: 2n, stranded: 0n });
  await expectRevert(kit.perks.write.purchase([PERK, PRICE], kit.by(alice)), 'ERC20InsufficientAllowance');
});

test('a relayer buys for a buyer with an allowance; no other account can', async () => {
  await approve(200n);
  const call = [alice.address, PERK, PRICE] as const;
  for (const caller of [stranger, admin, perkAdmin, brand]) {
    await expectRevert(kit.perks.write.purchaseFor(call, kit.by(caller)), 'NotBuyerOrRelayer');
  }
  await kit.mined(kit.perks.write.purchaseFor(call, kit.by(relayer)));
  await kit.mined(kit.perks.write.purchaseFor(call, kit.by(alice)));
  expect(await state()).toEqual({ perks: 2n, tokens: 100n, escrow: 100n, left: 1n, stranded: 0n });
});

test('a relayer can do nothing else', async () => {
  await expectRevert(
    kit.perks.write.setPerk([PERK, 0n, 1n, relayer.address, true], kit.by(relayer)),
    'AccessControlUnauthorizedAccount',
  );
  await expectRevert(
    kit.perks.write.purchaseFor([bob.address, PERK, PRICE], kit.by(relayer)),
    'ERC20InsufficientAllowance',
  );
  await approve(PRICE);
  await kit.mined(kit.perks.write.purchaseFor([alice.address, PERK, PRICE], kit.by(relayer)));
  await expectRevert(
    kit.perks.write.safeTransferFrom([alice.address, relayer.address, PERK, 1n, '0x'], kit.by(relayer)),
    'ERC1155MissingApprovalForAll',
  );
});

test('a permit buys without an allowance set before', async () => {
  const terms = await kit.permit(alice, kit.perks.address, PRICE);
  const call = [alice.address, PERK, PRICE, ...terms] as const;
  await expectRevert(kit.perks.write.purchaseWithPermit(call, kit.by(stranger)), 'NotBuyerOrRelayer');
  await kit.mined(kit.perks.write.purchaseWithPermit(call, kit.by(relayer)));
  expect(await state()).toEqual({ perks: 1n, tokens: 150n, escrow: 50n, left: 2n, stranded: 0n });
  await expectRevert(kit.perks.write.purchaseWithPermit(call, kit.by(relayer)), 'ERC20InsufficientAllowance');
});

test('a permit that someone has submitted before still buys', async () => {
  const terms = await kit.permit(alice, kit.perks.address, PRICE);
  const permit = [alice.address, kit.perks.address, PRICE, ...terms] as const;
  await kit.mined(kit.token.write.permit(permit, kit.by(stranger)));
  await kit.mined(
    kit.perks.write.purchaseWithPermit([alice.address, PERK, PRICE, ...terms], kit.by(relayer)),
  );
  expect(await state()).toMatchObject({ perks: 1n, tokens: 150n });
});

test('a forged permit without an allowance buys nothing', async () => {
  const terms = await kit.permit(bob, kit.perks.address, PRICE);
  await expectRevert(
    kit.perks.write.purchaseWithPermit([alice.address, PERK, PRICE, ...terms], kit.by(relayer)),
    'ERC20InsufficientAllowance',
  );
});

test('stock runs out, unless it is unlimited', async () => {
  await setPerk({ stock: 2n });
  await approve(200n);
  const buy = () => kit.perks.write.purchase([PERK, PRICE], kit.by(alice));
  await kit.mined(buy());
  await kit.mined(buy());
  await expectRevert(buy(), 'PerkSoldOut');
  await setPerk({ stock: maxUint256 });
  await kit.mined(buy());
  expect(await state()).toMatchObject({ perks: 3n, left: maxUint256 });
});

test('the price never exceeds what the buyer agreed to', async () => {
  await approve(200n);
  await setPerk({ price: 51n });
  const args = await expectRevert(
    kit.perks.write.purchase([PERK, PRICE], kit.by(alice)),
    'PriceAboveMaximum',
  );
  expect(args).toEqual([PERK, 51n, 50n]);
  await setPerk({ price: 20n });
  await kit.mined(kit.perks.write.purchase([PERK, PRICE], kit.by(alice)));
  expect(await state()).toMatchObject({ tokens: 180n, escrow: 20n });
});

test('unknown and inactive perks are not on sale; a free perk needs no RWT', async () => {
  await approve(200n);
  await expectRevert(kit.perks.write.purchase([99n, PRICE], kit.by(alice)), 'PerkNotActive');
  await setPerk({ active: false });
  await expectRevert(kit.perks.write.purchase([PERK, PRICE], kit.by(alice)), 'PerkNotActive');
  await setPerk({ price: 0n });
  await kit.mined(kit.perks.write.purchase([PERK, 0n], kit.by(bob)));
  expect(await kit.perks.read.balanceOf([bob.address, PERK])).toBe(1n);
});

test('the smallest price, 1 RWT, is paid', async () => {
  await setPerk({ price: 1n });
  await approve(1n);
  await kit.mined(kit.perks.write.purchase([PERK, 1n], kit.by(alice)));
  expect(await state()).toEqual({ perks: 1n, tokens: 199n, escrow: 1n, left: 2n, stranded: 0n });
});

test('only a perk admin configures perks, and each needs a brand', async () => {
  const terms = [PERK, PRICE, 1n, brand.address, true] as const;
  const { logs } = await kit.mined(kit.perks.write.setPerk(terms, kit.by(perkAdmin)));
  expect(parseEventLogs({ abi: kit.perks.abi, logs })).toMatchObject([
    {
      eventName: 'PerkSet',
      args: { perkId: PERK, brand: brand.address, price: PRICE, stock: 1n, active: true },
    },
  ]);
  await expectRevert(kit.perks.write.setPerk(terms, kit.by(admin)), 'AccessControlUnauthorizedAccount');
  await expectRevert(
    kit.perks.write.setPerk([PERK, PRICE, 1n, zeroAddress, true], kit.by(perkAdmin)),
    'InvalidBrand',
  );
});

test('a buyer that buys again while receiving pays for each, within the stock', async () => {
  const data = encodeDeployData({
    abi: greedyAbi,
    bytecode: greedyBuyer.bytecode as Hex,
    args: [kit.perks.address, kit.token.address],
  });
  const { contractAddress } = await kit.mined(kit.wallet.sendTransaction({ data, account: stranger }));
  if (!contractAddress) throw new Error('not deployed');
  const buy = () =>
    kit.wallet.writeContract({
      address: contractAddress,
      abi: greedyAbi,
      functionName: 'buy',
      args: [PERK, PRICE],
      account: stranger,
    });
  await kit.give(contractAddress, 3n * PRICE);
  await kit.mined(buy());
  expect(await kit.perks.read.balanceOf([contractAddress, PERK])).toBe(3n);
  expect(await kit.token.read.balanceOf([contractAddress])).toBe(0n);
  expect(await kit.escrow.read.balanceOf([brand.address])).toBe(3n * PRICE);

  await setPerk({ stock: 1n });
  await kit.give(contractAddress, 2n * PRICE);
  await expect(buy()).rejects.toThrow();
  expect(await kit.perks.read.balanceOf([contractAddress, PERK])).toBe(3n);
});

const greedyAbi = [
  {
    type: 'constructor',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'perks', type: 'address' },
      { name: 'token', type: 'address' },
    ],
  },
  {
    type: 'function',
    name: 'buy',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'perkId', type: 'uint256' },
      { name: 'maxPrice', type: 'uint256' },
    ],
    outputs: [],
  },
] as const;

function setPerk({
  price = PRICE,
  stock = 3n,
  active = true,
}: {
  price?: bigint;
  stock?: bigint;
  active?: boolean;
}) {
  return kit.mined(kit.perks.write.setPerk([PERK, price, stock, brand.address, active], kit.by(perkAdmin)));
}

function approve(amount: bigint) {
  return kit.mined(kit.token.write.approve([kit.perks.address, amount], kit.by(alice)));
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
