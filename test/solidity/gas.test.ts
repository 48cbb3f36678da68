/** What a reward costs in a batch, against a plain batch of ERC-20 transfers to new holders. */
import { encodeDeployData, type Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  REDEMPTION_GAS_LIMIT,
  REDEMPTION_WITH_PERMIT_GAS_LIMIT,
} from '../../src/chain/contracts/calls/perk-calls.ts';
import {
  batchShape,
  encodePayoutBatch,
  fittingPayouts,
  MAX_BATCH_GAS,
  type PayoutEntry,
  payoutGasLimit,
} from '../../src/chain/contracts/payout-batch.ts';
import { mintGasLimit } from '../../src/chain/contracts/sale-mint.ts';
import { type Kit, newHolder, people, startKit } from './kit.ts';
import plainBatch from './solidity/artifacts/PlainBatch.json' with { type: 'json' };

const BLOCK_GAS = '60000000';
const AMOUNT = 10n;
/** No zero byte among the lower five: calldata at its dearest for an amount anyone would pay. */
const LARGE_AMOUNT = 2n ** 40n - 1n;
const LOTS = 400n * LARGE_AMOUNT;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit(['--gas-limit', BLOCK_GAS, '--enable-tx-gas-limit']);
});
beforeEach(() => kit.reset());
afterAll(() => kit?.anvil.stop());

test.each([100, 250, 400])(
  'a reward in a batch of %i costs at most 1.00 x a plain batched transfer',
  async (count) => {
    const holders = Array.from({ length: count }, (_, index) => newHolder(index));
    const plain = await plainBatchGas(count);
    await kit.fund(people.brand.address, 1_000_000n);
    // An old sequence number, so that the batch starts in the middle of a word and ends in a fresh one.
    await kit.distribute([reward(1_000, people.alice.address)]);
    const { gasUsed } = await kit.distribute(holders.map((to, index) => reward(1_001 + index, to)));

    const perReward = Number(gasUsed) / count;
    const perTransfer = Number(plain) / count;
    const ratio = perReward / perTransfer;
    console.log(
      `gas in a batch of ${count}: ${perReward.toFixed(0)} a reward, ${perTransfer.toFixed(0)} a plain transfer, ratio ${ratio.toFixed(4)}`,
    );
    expect(ratio).toBeLessThanOrEqual(1);
  },
);

test('a batch of rewards of many brands stays under the same ratio', async () => {
  const holders = Array.from({ length: 400 }, (_, index) => newHolder(index));
  const plain = await plainBatchGas(400);
  const brands = [newHolder(9_001), newHolder(9_002), newHolder(9_003), newHolder(9_004)];
  for (const brand of brands) await kit.fund(brand, 1_000_000n);
  const entries = holders.map((to, index) => reward(index, to, brands[index % 4]));
  const { gasUsed } = await kit.distribute(entries);
  expect(Number(gasUsed) / Number(plain)).toBeLessThanOrEqual(1.05);
});

test('the gas limit covers new holders on sequences scattered over the whole span', async () => {
  await kit.fund(people.brand.address, LOTS);
  // Steps of 251 words: hardly ever the same word twice in a row.
  const wanted = Array.from({ length: 400 }, (_, index) =>
    reward((index * 64_257) % 65_536, newHolder(index), people.brand.address, LARGE_AMOUNT),
  );
  const entries = wanted.slice(0, fittingPayouts(wanted, { countMax: 400, gasMax: MAX_BATCH_GAS }));
  expect(entries.length).toBeGreaterThan(350);
  await expectCovered(entries);
});

test('the gas limit covers a brand for each reward, and 400 of them fit into a transaction', async () => {
  const brands = Array.from({ length: 400 }, (_, index) => newHolder(5_000 + index));
  await kit.fundAll(brands, LARGE_AMOUNT + 1n);
  // Neighbours in the batch lie in different words.
  const entries = brands.map((brand, index) =>
    reward(2 ** 40 + (index % 2) * 256 + index, newHolder(index), brand, LARGE_AMOUNT),
  );
  expect(fittingPayouts(entries, { countMax: 400, gasMax: MAX_BATCH_GAS })).toBe(400);
  await expectCovered(entries);
}, 60_000);

test('the gas limit covers an amount of its own for each reward', async () => {
  await kit.fund(people.brand.address, LOTS);
  await expectCovered(
    Array.from({ length: 400 }, (_, index) =>
      reward(index, newHolder(index), people.brand.address, LARGE_AMOUNT - BigInt(index)),
    ),
  );
});

test.each([1, 2, 10, 400])('the gas limit covers %i rewards, paid and then all skipped', async (count) => {
  await kit.fund(people.brand.address, 1_000_000n);
  const entries = Array.from({ length: count }, (_, index) => reward(index, newHolder(index)));
  await expectCovered(entries);
  const { words } = batchShape(entries);
  const skipped = await kit.distribute(entries, payoutGasLimit(count, 1, words));
  expect(skipped.logs.length).toBe(count + 1);
});

test('the gas limits of mints cover a new holder, a brand that is new to the escrow, and large amounts', async () => {
  const { write, estimateGas } = kit.pointsSale;
  const by = { account: people.operator };
  const key = (n: number) => `0x${'ab'.repeat(31)}${n.toString(16).padStart(2, '0')}` as const;
  const cost = {
    wallet: await estimateGas.mintForPayment([key(1), newHolder(1), LARGE_AMOUNT], by),
    escrow: await estimateGas.mintIntoEscrow([key(2), newHolder(2), LARGE_AMOUNT], by),
  };
  console.log(`gas of a first mint: ${cost.wallet} to an account, ${cost.escrow} into escrow`);
  for (const kind of ['wallet', 'escrow'] as const) {
    expect(Number(mintGasLimit(kind))).toBeGreaterThan(Number(cost[kind]) * 1.1);
  }
  const limits = { wallet: { gas: mintGasLimit('wallet') }, escrow: { gas: mintGasLimit('escrow') } };
  const first = [key(3), newHolder(3), 1n] as const;
  await kit.mined(write.mintForPayment(first, { ...kit.by(people.operator), ...limits.wallet }));
  await kit.mined(
    write.mintIntoEscrow([key(4), newHolder(4), 1n], { ...kit.by(people.operator), ...limits.escrow }),
  );
}, 60_000);

test('the gas limits of a redemption cover a first perk, paid to a brand that is new to the escrow, and a first permit', async () => {
  const { redeemer, alice, admin } = people;
  const amount = LARGE_AMOUNT;
  await kit.mined(kit.token.write.setCollectCap([2n * amount], kit.by(admin)));
  const perk = (place: number) => BigInt(2 ** 40 + place);
  for (const place of [0, 1])
    await kit.mined(
      kit.perks.write.setPerk([perk(place), amount, 10n, newHolder(place + 1), true], kit.by(redeemer)),
    );
  await kit.give(alice.address, 2n * amount + 1n);
  const call = (place: number) =>
    [`0x${`c${place}`.repeat(32)}` as Hex, alice.address, perk(place), amount] as const;
  const [deadline, v, r, s] = await kit.permit(alice, kit.escrow.address, 2n ** 200n - 1n);
  const permit = { value: 2n ** 200n - 1n, deadline, v: Number(v), r, s };
  const withPermit = await kit.perks.estimateGas.redeemWithPermit([...call(1), permit], {
    account: redeemer,
  });
  const cost = await kit.perks.estimateGas.redeem(call(0), { account: redeemer });
  console.log(`gas of a first redemption: ${cost}; with a permit: ${withPermit}`);
  expect(Number(REDEMPTION_GAS_LIMIT)).toBeGreaterThan(Number(cost) * 1.1);
  expect(Number(REDEMPTION_WITH_PERMIT_GAS_LIMIT)).toBeGreaterThan(Number(withPermit) * 1.1);
  await kit.mined(kit.perks.write.redeem(call(0), kit.by(redeemer, REDEMPTION_GAS_LIMIT)));
  const by = kit.by(redeemer, REDEMPTION_WITH_PERMIT_GAS_LIMIT);
  await kit.mined(kit.perks.write.redeemWithPermit([...call(1), permit], by));
}, 60_000);

function reward(
  sequence: number,
  to: Hex,
  brandId: Hex = people.brand.address,
  amount = AMOUNT,
): PayoutEntry {
  return { sequence: BigInt(sequence), brandId, to, amount };
}

/** Also with the 64th part that every outer call keeps back, which is why the estimate is compared. */
async function expectCovered(entries: readonly PayoutEntry[]) {
  const { count, brands, words } = batchShape(entries);
  const limit = payoutGasLimit(count, brands, words);
  expect(limit).toBeLessThanOrEqual(MAX_BATCH_GAS);
  const needed = await kit.publicClient.estimateGas({
    account: people.distributor,
    to: kit.escrow.address,
    data: encodePayoutBatch(entries),
  });
  console.log(`${count} rewards, ${brands} brands, ${words} words: needs ${needed} gas, limit ${limit}`);
  expect(needed).toBeLessThanOrEqual(limit);
  const { logs } = await kit.distribute(entries, limit);
  expect(logs.length).toBe(count + 1);
}

/** Gas of a plain batch to holders of its own, who hold nothing yet. */
async function plainBatchGas(count: number): Promise<bigint> {
  const holders = Array.from({ length: count }, (_, index) => newHolder(100_000 + index));
  const data = encodeDeployData({ abi: plainBatchAbi, bytecode: plainBatch.bytecode as Hex });
  const deployed = await kit.mined(kit.wallet.sendTransaction({ data, account: people.admin }));
  if (!deployed.contractAddress) throw new Error('not deployed');
  await kit.give(deployed.contractAddress, 1_000_000n);
  const paid = await kit.mined(
    kit.wallet.writeContract({
      address: deployed.contractAddress,
      abi: plainBatchAbi,
      functionName: 'pay',
      args: [kit.token.address, holders, holders.map(() => AMOUNT)],
      account: people.admin,
    }),
  );
  expect(paid.logs.length).toBe(holders.length);
  return paid.gasUsed;
}

const plainBatchAbi = [
  {
    type: 'function',
    name: 'pay',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'token', type: 'address' },
      { name: 'to', type: 'address[]' },
      { name: 'amounts', type: 'uint256[]' },
    ],
    outputs: [],
  },
] as const;
