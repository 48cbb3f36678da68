/** contract: Relay request. Calls that a user signed about their own tokens: an allowance, a deposit, a transfer taken back. */
import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { businessEscrowAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import {
  filled,
  type RelayKit,
  signCancel,
  signPermit,
  startRelayKit,
  type User,
} from '../../kits/chain/wallet.ts';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';

const AMOUNT = 7n;

describe.each(databaseKinds)('on $kind', ({ open }) => {
  let database: TestDatabase;
  let kit: RelayKit;
  let alice: User;
  beforeAll(async () => {
    database = await open();
    kit = await startRelayKit({ databaseUrl: database.databaseUrl });
    ({ alice } = kit.users);
    const { status } = await kit.event({ userEmail: alice.email, eventType: 'account_creation' });
    expect(status).toBe(200);
  });
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });

  /** What `of` signs for the escrow. */
  const signed = async (of: User) => {
    const nonce = await kit.chain.readContract({
      address: kit.contracts.token,
      abi: rewardTokenAbi,
      functionName: 'nonces',
      args: [of.address],
    });
    const deadline = BigInt((await kit.now()) + 3_600);
    const wish = { owner: of.address, spender: kit.contracts.escrow, value: AMOUNT, nonce, deadline };
    return signPermit(of.account, { ...wish, domain: kit.domain });
  };
  const permitOf = async (of: User) => {
    const { owner, spender, value, deadline, v, r, s } = await signed(of);
    const args = [owner, spender, value, deadline, v, r, s] as const;
    const data = encodeFunctionData({ abi: rewardTokenAbi, functionName: 'permit', args });
    return { to: kit.contracts.token, data };
  };
  const depositOf = async (of: User) => {
    const { owner, value, deadline, v, r, s } = await signed(of);
    const args = [owner, value, deadline, v, r, s] as const;
    const data = encodeFunctionData({ abi: businessEscrowAbi, functionName: 'depositWithPermit', args });
    return { to: kit.contracts.escrow, data };
  };
  const cancelOf = async (of: User, nonce: Hex = filled(7, 32)) => {
    const { v, r, s } = await signCancel(of.account, kit.domain, { authorizer: of.address, nonce });
    const args = [of.address, nonce, v, r, s] as const;
    const data = encodeFunctionData({ abi: rewardTokenAbi, functionName: 'cancelAuthorization', args });
    return { to: kit.contracts.token, data };
  };
  const allowance = () =>
    kit.chain.readContract({
      address: kit.contracts.token,
      abi: rewardTokenAbi,
      functionName: 'allowance',
      args: [alice.address, kit.contracts.escrow],
    });

  test('permit: the allowance is there, and the user has paid no gas', async () => {
    expect(await allowance()).toBe(0n);
    const { status, body } = await kit.relay(alice, await permitOf(alice));
    expect([status, body.status], JSON.stringify(body)).toEqual([200, 'confirmed']);
    expect(await allowance()).toBe(AMOUNT);
    expect(await kit.chain.getBalance({ address: alice.address })).toBe(0n);
  });

  test("depositWithPermit: the user's tokens are their own balance in the escrow, and nobody else's", async () => {
    const [tokens, brand] = [await kit.tokensOf(alice.address), await kit.escrowOf(kit.brand.brandId)];
    const { status, body } = await kit.relay(alice, await depositOf(alice));
    expect([status, body.status], JSON.stringify(body)).toEqual([200, 'confirmed']);
    expect(await kit.tokensOf(alice.address)).toBe(tokens - AMOUNT);
    expect(await kit.escrowOf(alice.address)).toBe(AMOUNT);
    expect(await kit.escrowOf(kit.brand.brandId)).toBe(brand);
  });

  test('cancelAuthorization: the signed transfer cannot be sent any more, by any sender', async () => {
    const transfer = await kit.transfer(alice, kit.users.bob.address);
    const { args } = decodeFunctionData({ abi: rewardTokenAbi, data: transfer.data });
    const { status, body } = await kit.relay(alice, await cancelOf(alice, args?.[5] as Hex));
    expect([status, body.status], JSON.stringify(body)).toEqual([200, 'confirmed']);
    const tokens = await kit.tokensOf(alice.address);
    const late = await kit.relay(alice, transfer);
    expect([late.status, late.body.code], JSON.stringify(late.body)).toEqual([403, 'VALIDATION_FAILED']);
    expect(await kit.tokensOf(alice.address)).toBe(tokens);
    expect(await kit.chain.getBalance({ address: alice.address })).toBe(0n);
  });

  test.each([
    ['permit', permitOf],
    ['depositWithPermit', depositOf],
    ['cancelAuthorization', (of: User) => cancelOf(of)],
  ])('%s that another user signed is refused', async (_function, callOf) => {
    const { status, body } = await kit.relay(alice, await callOf(kit.users.bob));
    expect([status, body.details.reason]).toEqual([403, 'not_the_user']);
  });

  test('what the same wallet could do without a signature is refused', async () => {
    const approve = parseAbi(['function approve(address,uint256)']);
    const data = encodeFunctionData({ abi: approve, args: [alice.address, AMOUNT] });
    const { status, body } = await kit.relay(alice, { to: kit.contracts.token, data });
    expect([status, body.details.reason]).toEqual([403, 'function_not_allowed']);
  });
});
