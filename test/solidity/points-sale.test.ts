/** PointsSale: one mint for each payment key, to an account or into a brand's escrow balance. */
import { keccak256, parseEventLogs, toHex, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectRevert, type Kit, people, startKit } from './kit.ts';

const { admin, alice, brand, operator, stranger } = people;
const key = keccak256(toHex('cs_test_1'));

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(() => kit.reset());
afterAll(() => kit?.anvil.stop());

test('mints once for a key; a second time says so and mints nothing', async () => {
  const { write, read, abi } = kit.pointsSale;
  expect(await read.isMinted([key])).toBe(false);
  const first = await kit.mined(write.mintForPayment([key, alice.address, 500n], kit.by(operator)));
  expect(parseEventLogs({ abi, logs: first.logs })).toMatchObject([
    { eventName: 'Minted', args: { key, to: alice.address, amount: 500n } },
  ]);
  expect(await read.isMinted([key])).toBe(true);

  const again = [key, alice.address, 500n] as const;
  const simulated = await kit.pointsSale.simulate.mintForPayment(again, { account: operator });
  expect(simulated.result).toBe(false);
  const second = await kit.mined(write.mintForPayment(again, kit.by(operator)));
  expect(parseEventLogs({ abi, logs: second.logs })).toMatchObject([
    { eventName: 'AlreadyMinted', args: { key } },
  ]);
  expect(second.logs.length).toBe(1);
  expect(await kit.token.read.totalSupply()).toBe(500n);
});

test('both kinds of mint share one set of keys', async () => {
  const { write, abi } = kit.pointsSale;
  const first = await kit.mined(write.mintIntoEscrow([key, brand.address, 300n], kit.by(operator)));
  expect(parseEventLogs({ abi, logs: first.logs })).toMatchObject([
    { eventName: 'MintedIntoEscrow', args: { key, brand: brand.address, amount: 300n } },
  ]);
  expect(parseEventLogs({ abi: kit.escrow.abi, logs: first.logs })).toMatchObject([
    { eventName: 'Deposited', args: { brand: brand.address, from: kit.pointsSale.address, amount: 300n } },
  ]);
  await kit.mined(write.mintIntoEscrow([key, brand.address, 300n], kit.by(operator)));
  await kit.mined(write.mintForPayment([key, alice.address, 300n], kit.by(operator)));
  expect(await kit.escrow.read.balanceOf([brand.address])).toBe(300n);
  expect(await kit.token.read.balanceOf([alice.address])).toBe(0n);
  expect(await kit.token.read.balanceOf([kit.pointsSale.address])).toBe(0n);
  expect(await kit.token.read.totalSupply()).toBe(300n);
});

test('both kinds of mint answer whether they minted', async () => {
  const { simulate, write } = kit.pointsSale;
  const by = { account: operator };
  const toUser = [key, alice.address, 5n] as const;
  const toBrand = [key, brand.address, 5n] as const;
  expect((await simulate.mintForPayment(toUser, by)).result).toBe(true);
  expect((await simulate.mintIntoEscrow(toBrand, by)).result).toBe(true);
  await kit.mined(write.mintIntoEscrow(toBrand, kit.by(operator)));
  expect((await simulate.mintForPayment(toUser, by)).result).toBe(false);
  expect((await simulate.mintIntoEscrow(toBrand, by)).result).toBe(false);
});

test('one mint when both transactions of a key are in the same block', async () => {
  await kit.rpc('evm_setAutomine', [false]);
  const call = [key, alice.address, 500n] as const;
  const nonce = await kit.publicClient.getTransactionCount({ address: operator.address });
  const sent = [nonce, nonce + 1].map((each) =>
    kit.pointsSale.write.mintForPayment(call, { account: operator, nonce: each, gas: 200_000n }),
  );
  await Promise.all(sent);
  await kit.rpc('evm_mine', []);
  await kit.rpc('evm_setAutomine', [true]);
  const receipts = await Promise.all(sent.map(kit.mined));
  expect(receipts[0]?.blockNumber).toBe(receipts[1]?.blockNumber);
  expect(await kit.token.read.totalSupply()).toBe(500n);
});

test('a mint that cannot be leaves its key free', async () => {
  const { write, read } = kit.pointsSale;
  const noOne = [zeroAddress, kit.token.address, kit.escrow.address, kit.pointsSale.address];
  for (const to of noOne) {
    await expectRevert(write.mintForPayment([key, to, 1n], kit.by(operator)), 'InvalidRecipient');
  }
  await expectRevert(write.mintForPayment([key, alice.address, 0n], kit.by(operator)), 'ZeroAmount');
  await expectRevert(write.mintIntoEscrow([key, zeroAddress, 1n], kit.by(operator)), 'InvalidBrand');
  await kit.mined(kit.token.write.setMinterCap([kit.pointsSale.address, 10n], kit.by(admin)));
  await expectRevert(write.mintForPayment([key, alice.address, 11n], kit.by(operator)), 'MinterCapExceeded');
  expect(await read.isMinted([key])).toBe(false);
  await kit.mined(write.mintForPayment([key, alice.address, 10n], kit.by(operator)));
});

test('only the operator mints', async () => {
  const { write } = kit.pointsSale;
  for (const account of [stranger, admin, people.relayer]) {
    const denied = 'AccessControlUnauthorizedAccount';
    await expectRevert(write.mintForPayment([key, alice.address, 1n], kit.by(account)), denied);
    await expectRevert(write.mintIntoEscrow([key, brand.address, 1n], kit.by(account)), denied);
  }
});
