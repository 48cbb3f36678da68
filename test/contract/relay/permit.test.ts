/** contract: Permit. A user without gas buys with a signature; it makes no difference who sends the permit first. */
import { encodeFunctionData, type Hex, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { perkNFTAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import {
  filled,
  PERK,
  PERK_PRICE,
  type PermitWish,
  type RelayKit,
  signPermit,
  startRelayKit,
  type User,
} from '../../kits/chain/wallet.ts';

let kit: RelayKit;
let alice: User;
let bob: User;
beforeAll(async () => {
  kit = await startRelayKit();
  ({ alice, bob } = kit.users);
  for (const { email } of [alice, bob]) {
    for (const eventType of ['account_creation', 'first_purchase', 'referral']) {
      const { status } = await kit.event({ userEmail: email, eventType });
      expect(status).toBe(200);
    }
  }
}, 60_000);
afterAll(() => kit?.stop());

const allowance = (owner: Hex, spender: Hex) =>
  kit.chain.readContract({
    address: kit.contracts.token,
    abi: rewardTokenAbi,
    functionName: 'allowance',
    args: [owner, spender],
  });
const buy = (user: User, permit: unknown, place: 'metadata' | 'top' = 'metadata') =>
  kit.relay(user, {
    ...kit.purchase(user.address, PERK, PERK_PRICE),
    ...(place === 'top' ? { permit } : { metadata: { action: 'purchase', permit } }),
  });
/** Hands a permit to the token from an account that has nothing to do with us. */
async function frontRun(permit: Awaited<ReturnType<RelayKit['permit']>>) {
  const { owner, spender, value, deadline, v, r, s } = permit;
  const args = [owner, spender, BigInt(value), BigInt(deadline), v, r, s] as const;
  const call = { address: kit.contracts.token, abi: rewardTokenAbi, functionName: 'permit', args } as const;
  await kit.mined(await kit.admin.writeContract(call));
}
const lastTwo = async (hash: Hex) => {
  const call = await kit.chain.getTransaction({ hash });
  const block = await kit.chain.getBlock({ includeTransactions: true, blockNumber: call.blockNumber ?? 0n });
  const before = await kit.chain.getBlock({
    includeTransactions: true,
    blockNumber: (call.blockNumber ?? 1n) - 1n,
  });
  const all = [...before.transactions, ...block.transactions];
  return { call, permit: all.find(({ from, nonce }) => from === call.from && nonce === call.nonce - 1) };
};

test.each(['metadata', 'top'] as const)(
  'bought by a user who owns no gas, permit and call in one request (%s)',
  async (place) => {
    expect(await kit.chain.getBalance({ address: alice.address })).toBe(0n);
    const [perks, tokens] = [await kit.perksOf(alice.address, PERK), await kit.tokensOf(alice.address)];
    const { status, body } = await buy(alice, await kit.permit(alice), place);
    expect([status, body.status]).toEqual([200, 'confirmed']);
    expect(await kit.perksOf(alice.address, PERK)).toBe(perks + 1n);
    expect(await kit.tokensOf(alice.address)).toBe(tokens - PERK_PRICE);
    expect(await allowance(alice.address, kit.contracts.perks)).toBe(0n);
    // The permit went just before it, from the same account.
    const { permit } = await lastTwo(body.transactionHash);
    expect(permit?.to).toBe(kit.contracts.token.toLowerCase());
    expect(permit?.input.slice(0, 10)).toBe('0xd505accf');
  },
);

test('without a permit the purchase is refused, and nothing is sent', async () => {
  const { status, body } = await buy(alice, undefined);
  expect([status, body.details.reason]).toEqual([403, 'would_fail']);
  expect(body.error).toContain('ERC20InsufficientAllowance');
});

describe('used before us', () => {
  test('the allowance is there: the call alone is sent', async () => {
    const permit = await kit.permit(bob);
    await frontRun(permit);
    const perks = await kit.perksOf(bob.address, PERK);
    const { status, body } = await buy(bob, permit);
    expect(status).toBe(200);
    expect(await kit.perksOf(bob.address, PERK)).toBe(perks + 1n);
    const { permit: before } = await lastTwo(body.transactionHash);
    expect(before?.input.slice(0, 10)).not.toBe('0xd505accf');
  });

  test('while ours is on its way: it fails, and the purchase succeeds', async () => {
    // Blocks by hand: both permits wait for the same one, and the other pays more.
    await kit.chain.request({ method: 'evm_setAutomine', params: [false] } as never);
    try {
      const permit = await kit.permit(bob);
      const perks = await kit.perksOf(bob.address, PERK);
      const buying = buy(bob, permit);
      await expect
        .poll(async () => {
          const { pending } = (await kit.chain.request({ method: 'txpool_status' } as never)) as {
            pending: Hex;
          };
          return Number(pending);
        })
        .toBe(2);
      const { owner, spender, value, deadline, v, r, s } = permit;
      const hash = await kit.admin.writeContract({
        address: kit.contracts.token,
        abi: rewardTokenAbi,
        functionName: 'permit',
        args: [owner, spender, BigInt(value), BigInt(deadline), v, r, s],
        maxFeePerGas: parseEther('0.000001'),
        maxPriorityFeePerGas: parseEther('0.000001'),
        gas: 200_000n,
      });
      await kit.chain.request({ method: 'evm_mine' } as never);
      const { status, body } = await buying;
      expect(status).toBe(200);
      expect((await kit.chain.getTransactionReceipt({ hash })).status).toBe('success');
      const { permit: ours } = await lastTwo(body.transactionHash);
      const receipt = await kit.chain.getTransactionReceipt({ hash: ours?.hash as Hex });
      expect(receipt.status).toBe('reverted');
      expect(await kit.perksOf(bob.address, PERK)).toBe(perks + 1n);
    } finally {
      await kit.chain.request({ method: 'evm_setAutomine', params: [true] } as never);
    }
  });

  test('and the allowance is gone: refused before anything is sent, and says so', async () => {
    const permit = await kit.permit(bob);
    expect((await buy(bob, permit)).status).toBe(200);
    const { status, body } = await buy(bob, permit);
    expect([status, body.code, body.details.reason]).toEqual([403, 'VALIDATION_FAILED', 'permit_consumed']);
    expect(body.details.allowance).toBe('0');
  });
});

describe('a permit that is refused before anything is sent', () => {
  const sent = () => kit.chain.getBlockNumber();
  const refused = async (permit: unknown, reason: string, user = alice) => {
    const before = await sent();
    const { status, body, headers } = await buy(user, permit);
    expect([status, body.code, body.details.reason]).toEqual([403, 'VALIDATION_FAILED', reason]);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    expect(await sent()).toBe(before);
  };
  const changed = (change: Partial<PermitWish>) => kit.permit(alice, change);

  test('of another owner', async () => {
    await refused(await kit.permit(bob), 'permit_not_of_user');
  });
  test("another owner's signature under our name", async () => {
    const { owner: _, ...others } = await kit.permit(bob);
    await refused({ ...others, owner: alice.address }, 'permit_not_signed');
  });
  test('a spender that is not allowed', async () => {
    await refused(await changed({ spender: bob.address }), 'permit_spender_not_allowed');
  });
  test.each<[string, Partial<PermitWish['domain']>]>([
    ['another chain', { chainId: 1 }],
    ['another token', { verifyingContract: filled(5, 20) }],
    ['another name', { name: 'Other Token' }],
    ['another version', { version: '2' }],
  ])('signed for %s', async (_, change) => {
    await refused(await changed({ domain: { ...kit.domain, ...change } }), 'permit_not_signed');
  });
  test.each(['value', 'deadline', 'v', 'r', 's'])('%s changed after it was signed', async (field) => {
    const permit = await changed({});
    const other = {
      value: '61',
      deadline: permit.deadline + 1,
      v: 55 - permit.v,
      r: filled(3, 32),
      s: filled(3, 32),
    }[field];
    await refused({ ...permit, [field]: other }, 'permit_not_signed');
  });
  test('the other form of the same signature', async () => {
    const permit = await changed({});
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = `0x${(order - BigInt(permit.s)).toString(16).padStart(64, '0')}`;
    await refused({ ...permit, s, v: 55 - permit.v }, 'permit_not_signed');
  });
  test('for a nonce that has not come yet', async () => {
    const { nonce } = await nonceOf(alice);
    await refused(await changed({ nonce: nonce + 1n }), 'permit_not_signed');
  });
  test('past its deadline, and about to be', async () => {
    const now = await kit.now();
    await refused(await changed({ deadline: BigInt(now - 1) }), 'permit_expired');
    await refused(await changed({ deadline: BigInt(now + 2) }), 'permit_expired');
  });
  test('too small for the call', async () => {
    await refused(await changed({ value: PERK_PRICE - 1n }), 'would_fail');
  });
});

const nonceOf = async (user: User) => ({
  nonce: await kit.chain.readContract({
    address: kit.contracts.token,
    abi: rewardTokenAbi,
    functionName: 'nonces',
    args: [user.address],
  }),
});

test('purchaseWithPermit carries the permit in its own data', async () => {
  const { nonce } = await nonceOf(alice);
  const deadline = BigInt((await kit.now()) + 600);
  const wish = { owner: alice.address, spender: kit.contracts.perks, value: PERK_PRICE, nonce, deadline };
  const { v, r, s } = await signPermit(alice.account, { ...wish, domain: kit.domain });
  const args = [alice.address, PERK, PERK_PRICE, deadline, v, r, s] as const;
  const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'purchaseWithPermit', args });
  const perks = await kit.perksOf(alice.address, PERK);
  expect((await kit.relay(alice, { to: kit.contracts.perks, data })).status).toBe(200);
  expect(await kit.perksOf(alice.address, PERK)).toBe(perks + 1n);
});

test('a transfer that its owner signed', async () => {
  const before = await kit.tokensOf(bob.address);
  expect((await kit.relay(alice, await kit.transfer(alice, bob.address, 5n))).status).toBe(200);
  expect(await kit.tokensOf(bob.address)).toBe(before + 5n);
  const { body } = await kit.relay(alice, await kit.transfer(bob, alice.address, 5n));
  expect(body.details.reason).toBe('not_the_user');
});
