/** Who pays for gas, and what happens when it is dear, short, or lost. */
import { type Hex, parseEther, toHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { perkNFTAbi } from '../../../src/chain/contracts/abis.ts';
import { roleId } from '../../../src/chain/contracts/deployment-steps.ts';
import { FREE_PERK, type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';

let shared: RelayKit;
let kit: RelayKit;
beforeAll(async () => {
  shared = await startRelayKit();
  kit = shared;
});
afterAll(() => shared?.stop());
/** For the rest of a test, a service of its own instead of the one that all share. */
const startOwn = async (change: Parameters<typeof startRelayKit>[0]) => {
  const own = await startRelayKit(change);
  kit = own;
  onTestFinished(async () => {
    kit = shared;
    await own.stop();
  });
};
const rpc = (method: string, ...params: unknown[]) => kit.chain.request({ method, params } as never);
const walletOf = async (): Promise<{ address: Hex; ready: boolean }> =>
  (await kit.request(`${kit.ready.urls.control}/brands/${kit.brand.brandId}`)).body.gasWallet;
const GWEI = 10n ** 9n;

test('Limits, Relay gas price: over 100 gwei nothing is sent', async () => {
  const { alice } = kit.users;
  await rpc('anvil_setNextBlockBaseFeePerGas', toHex(101n * GWEI));
  await rpc('evm_mine');
  const { status, body } = await kit.relay(alice, kit.purchase(alice.address));
  expect([status, body.code, body.details.reason]).toEqual([
    403,
    'VALIDATION_FAILED',
    'gas_price_over_limit',
  ]);
  await rpc('anvil_setNextBlockBaseFeePerGas', toHex(40n * GWEI));
  await rpc('evm_mine');
  const sent = await kit.relay(alice, kit.purchase(alice.address));
  expect(sent.status).toBe(200);
  const { maxFeePerGas } = await kit.chain.getTransaction({ hash: sent.body.transactionHash });
  expect(maxFeePerGas).toBeLessThanOrEqual(100n * GWEI);
});

test("a brand's wallet that runs low is topped up by the service's own, and what waited for it is sent", async () => {
  await startOwn({ engine: { relay: { gasCheckMs: 200 }, lane: { resendAfterMs: 300 } } });
  const { alice } = kit.users;
  const { address } = await walletOf();
  await rpc('anvil_setBalance', address, toHex(1_000n));
  const { status, body } = await kit.relay(alice, kit.purchase(alice.address));
  expect(status).toBe(200);
  expect(await kit.perksOf(alice.address, FREE_PERK)).toBe(1n);
  await expect.poll(() => kit.chain.getBalance({ address })).toBeGreaterThan(parseEther('2.9'));
  expect(typeof body.from).toBe('string');
  // Once: while money is on its way, no more is asked for.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await kit.chain.getBalance({ address })).toBeLessThan(parseEther('3.1'));
}, 60_000);

test("a brand's wallet with less than a call may cost: the service's own sends for it", async () => {
  await startOwn({ engine: { relay: { gasCheckMs: 100, gasLowWei: 0n } } });
  const { alice } = kit.users;
  const { address } = await walletOf();
  // The dearest call may take 360,000 gas, at 1 gwei and more.
  for (const balance of [1n, 300_000n * GWEI]) {
    await rpc('anvil_setBalance', address, toHex(parseEther('1')));
    await expect.poll(walletOf).toEqual({ address, ready: true });
    await rpc('anvil_setBalance', address, toHex(balance));
    await expect.poll(walletOf).toEqual({ address, ready: false });
    const { status, body } = await kit.relay(alice, kit.purchase(alice.address));
    expect(status).toBe(200);
    expect(body.from).not.toBe(address);
  }
  await rpc('anvil_setBalance', address, toHex(parseEther('1')));
  await expect.poll(walletOf).toEqual({ address, ready: true });
  expect((await kit.relay(alice, kit.purchase(alice.address))).body.from).toBe(address);
}, 60_000);

test("a brand's wallet that lost its role: the service's own sends for it", async () => {
  await startOwn({ engine: { relay: { gasCheckMs: 100 } } });
  const { alice } = kit.users;
  const { address } = await walletOf();
  const role = { address: kit.contracts.perks, abi: perkNFTAbi } as const;
  const args = [roleId('RELAYER_ROLE'), address] as const;
  await kit.mined(await kit.admin.writeContract({ ...role, functionName: 'revokeRole', args }));
  await expect.poll(walletOf).toEqual({ address, ready: false });
  const { status, body } = await kit.relay(alice, kit.purchase(alice.address));
  expect(status).toBe(200);
  expect(body.from).not.toBe(address);
  await kit.mined(await kit.admin.writeContract({ ...role, functionName: 'grantRole', args }));
  await expect.poll(walletOf).toEqual({ address, ready: true });
  expect((await kit.relay(alice, kit.purchase(alice.address))).body.from).toBe(address);
}, 60_000);

test('a new brand of the emulator has its own gas wallet at once', async () => {
  const { alice } = kit.users;
  const { status, body } = await kit.control('/brands', {
    brandId: `0x${'7'.repeat(40)}`,
    name: 'Shop',
    domains: ['shop.example'],
  });
  expect(status).toBe(201);
  await kit.setPerk(8n, 0n, 5n, `0x${'7'.repeat(40)}`);
  const sent = await kit.relay(alice, kit.purchase(alice.address, 8n), { origin: 'https://shop.example' });
  expect([sent.status, sent.body.from]).toEqual([200, body.gasWallet.address]);
});

test('no block for longer than the caller waits: 504 with the hash, and later it is there', async () => {
  await startOwn({ relay: { answerTimeoutMs: 1_000 } });
  const { alice } = kit.users;
  await rpc('evm_setAutomine', false);
  const late = await kit.relay(alice, kit.purchase(alice.address), { 'idempotency-key': 'late' });
  expect([late.status, late.body.code]).toEqual([504, 'CONFIRMATION_TIMEOUT']);
  const hash = late.body.details.transactionHash;
  const state = () => kit.request(`${kit.ready.urls.relay}/relay/${hash}`);
  expect((await state()).body).toMatchObject({ success: false, status: 'pending', transactionHash: hash });
  await rpc('evm_mine');
  await expect.poll(async () => (await state()).body.status).toBe('confirmed');
  // The same key: the call is not sent again, and now the answer is there.
  const again = await kit.relay(alice, kit.purchase(alice.address), { 'idempotency-key': 'late' });
  expect([again.status, again.body.transactionHash]).toEqual([200, hash]);
  expect(await kit.perksOf(alice.address, FREE_PERK)).toBe(1n);
});

test('what fails on chain although it would have passed: 500 with its hash', async () => {
  const { alice, bob } = kit.users;
  await kit.setPerk(7n, 0n, 1n);
  await rpc('evm_setAutomine', false);
  const buying = [alice, bob].map((user) => kit.relay(user, kit.purchase(user.address, 7n)));
  await expect
    .poll(async () => Number(((await rpc('txpool_status')) as unknown as { pending: Hex }).pending))
    .toBe(2);
  await rpc('evm_mine');
  const answers = (await Promise.all(buying)).sort((a, b) => a.status - b.status);
  expect(answers.map(({ status }) => status)).toEqual([200, 500]);
  const failed = answers[1]?.body;
  expect(failed).toMatchObject({ code: 'TRANSACTION_FAILED', details: { reason: 'reverted' } });
  const receipt = await kit.chain.getTransactionReceipt({ hash: failed.details.transactionHash });
  expect(receipt.status).toBe('reverted');
  const { body } = await kit.request(`${kit.ready.urls.relay}/relay/${failed.details.transactionHash}`);
  expect(body).toMatchObject({ success: false, status: 'failed' });
  await rpc('evm_setAutomine', true);
});
