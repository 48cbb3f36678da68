/** Deployment, roles and recognition of the contracts. */
import { getAddress, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { contractsAt, deployContracts } from '../../src/chain/contracts/deploy.ts';
import { contractAddresses, roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { type Kit, people, startKit } from './kit.ts';

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(() => kit.reset());
afterAll(() => kit?.anvil.stop());

test('the addresses follow from the admin and its first nonce, and the code is ours', async () => {
  const { block, ...addresses } = kit.deployment;
  expect(addresses).toEqual(contractAddresses({ deployer: people.admin.address, firstNonce: 0 }));
  expect(block).toBe(1n);
  expect(await contractsAt(kit.deps, addresses)).toEqual([]);
});

test('missing, foreign and wrongly wired contracts are named', async () => {
  const { token, escrow, perks, pointsSale } = kit.deployment;
  expect(await contractsAt(kit.deps, { token, escrow, perks, pointsSale: people.alice.address })).toEqual([
    { contract: 'pointsSale', problem: 'no_code' },
  ]);
  expect(await contractsAt(kit.deps, { token: escrow, escrow, perks, pointsSale })).toEqual([
    { contract: 'token', problem: 'other_code' },
  ]);
  const second = await deployContracts(kit.deps, everyRoleTo(people.admin.address));
  expect(await contractsAt(kit.deps, { token, escrow: second.escrow, perks, pointsSale })).toEqual([
    { contract: 'escrow', problem: 'other_token' },
    { contract: 'perks', problem: 'other_escrow' },
    { contract: 'pointsSale', problem: 'other_escrow' },
  ]);
});

test('all transactions of a deployment fit into one block', async () => {
  await kit.rpc('evm_setAutomine', [false]);
  try {
    const deploying = deployContracts(kit.deps, everyRoleTo(people.admin.address));
    await expect
      .poll(async () => Number(await kit.rpc('eth_getTransactionCount', [people.admin.address, 'pending'])))
      .toBe(28);
    await kit.rpc('evm_mine', []);
    const { block } = await deploying;
    const { transactions } = await kit.publicClient.getBlock({ blockNumber: block });
    expect(transactions.length).toBe(14);
  } finally {
    await kit.rpc('evm_setAutomine', [true]);
  }
});

test('a deployment that is not mined in time is an error', async () => {
  await kit.rpc('evm_setAutomine', [false]);
  try {
    const deploying = deployContracts(kit.deps, everyRoleTo(people.admin.address), { timeoutMs: 50 });
    await expect(deploying).rejects.toThrow(/was not mined within 50 ms/);
  } finally {
    await kit.rpc('evm_setAutomine', [true]);
  }
});

test('each role is held by exactly whom it was given to', async () => {
  const { token, escrow, perks, pointsSale } = kit;
  const holders = {
    token: await members(token.address),
    escrow: await members(escrow.address),
    perks: await members(perks.address),
    pointsSale: await members(pointsSale.address),
  };
  const { admin, distributor, operator, redeemer, relayer } = people;
  expect(holders).toEqual({
    token: {
      DEFAULT_ADMIN_ROLE: [admin.address],
      MINTER_ROLE: [getAddress(pointsSale.address)],
      REDEEMER_ROLE: [getAddress(escrow.address)],
    },
    escrow: {
      DEFAULT_ADMIN_ROLE: [admin.address],
      DISTRIBUTOR_ROLE: [distributor.address],
      REDEMPTION_ROLE: [getAddress(perks.address)],
    },
    perks: {
      DEFAULT_ADMIN_ROLE: [admin.address],
      REDEEMER_ROLE: [redeemer.address],
      PERK_ADMIN_ROLE: [redeemer.address],
      RELAYER_ROLE: [relayer.address],
    },
    pointsSale: { DEFAULT_ADMIN_ROLE: [admin.address], OPERATOR_ROLE: [operator.address] },
  });
  expect(await token.read.minterCap([pointsSale.address])).toBe(10n ** 15n);
  expect((await token.read.collectCap()).slice(0, 2)).toEqual([1_000_000n, 1_000_000n]);
});

test('the gas wallet holds no tokens and no role but that of a relayer', async () => {
  const wallet = people.relayer.address;
  expect(await kit.token.read.balanceOf([wallet])).toBe(0n);
  for (const [contract, names] of [
    [kit.token, ['', 'MINTER_ROLE', 'REDEEMER_ROLE']],
    [kit.escrow, ['', 'DISTRIBUTOR_ROLE', 'REDEMPTION_ROLE']],
    [kit.perks, ['', 'PERK_ADMIN_ROLE', 'REDEEMER_ROLE']],
    [kit.pointsSale, ['', 'OPERATOR_ROLE']],
  ] as const) {
    for (const name of names) {
      const held = await kit.publicClient.readContract({
        address: contract.address,
        abi: kit.token.abi,
        functionName: 'hasRole',
        args: [roleId(name), wallet],
      });
      expect(held).toBe(false);
    }
  }
});

/** Everyone a role was granted to, from the events of the contract. */
async function members(address: `0x${string}`): Promise<Record<string, string[]>> {
  const events = await kit.publicClient.getContractEvents({
    address,
    abi: kit.token.abi,
    eventName: 'RoleGranted',
    fromBlock: 0n,
  });
  const names = new Map<unknown, string>([[roleId(''), 'DEFAULT_ADMIN_ROLE']]);
  for (const name of [
    'MINTER',
    'REDEEMER',
    'DISTRIBUTOR',
    'REDEMPTION',
    'PERK_ADMIN',
    'RELAYER',
    'OPERATOR',
  ]) {
    names.set(roleId(`${name}_ROLE`), `${name}_ROLE`);
  }
  const found: Record<string, string[]> = {};
  for (const { args } of events) {
    const name = names.get(args.role) ?? String(args.role);
    found[name] = [...(found[name] ?? []), args.account ?? zeroAddress];
  }
  return found;
}

function everyRoleTo(account: `0x${string}`) {
  return {
    admin: people.admin,
    distributor: account,
    operator: account,
    redeemer: account,
    perkAdmin: account,
    relayers: [account],
  };
}
