/** Token and PerkNFT of earlier versions: they stay usable, without a cap and without permits. */
import { encodeDeployData, type Hex, keccak256, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contractsAt } from '../../src/chain/contracts/deploy.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { createCollecting } from '../../src/chain/contracts/reward-token.ts';
import earlierPerks from './earlier/PerkNFT-without-permits.json' with { type: 'json' };
import earlierToken from './earlier/RewardToken-without-collect-cap.json' with { type: 'json' };
import { type Kit, people, startKit } from './kit.ts';

const { admin, alice, brand, redeemer } = people;
let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
afterAll(() => kit?.anvil.stop());

async function create(abi: readonly unknown[], bytecode: string, args: readonly unknown[]): Promise<Hex> {
  const data = encodeDeployData({ abi, bytecode: bytecode as Hex, args } as never);
  const hash = await kit.wallet.sendTransaction({ data, account: admin });
  const { contractAddress } = await kit.publicClient.waitForTransactionReceipt({ hash });
  return contractAddress as Hex;
}

test('are known as ours, and a redemption collects as before', async () => {
  const { token: newer, escrow: ofNewer } = kit.deployment;
  const token = await create(kit.token.abi, earlierToken.bytecode, [admin.address]);
  const escrowArtifact = await import('../../src/chain/contracts/artifacts/BusinessEscrow.json', {
    with: { type: 'json' },
  });
  const saleArtifact = await import('../../src/chain/contracts/artifacts/PointsSale.json', {
    with: { type: 'json' },
  });
  const escrow = await create(kit.escrow.abi, escrowArtifact.default.bytecode, [token, admin.address]);
  const perks = await create(kit.perks.abi, earlierPerks.bytecode, [token, escrow, admin.address, '']);
  const pointsSale = await create(kit.pointsSale.abi, saleArtifact.default.bytecode, [
    token,
    escrow,
    admin.address,
  ]);
  const contracts = { token, escrow, perks, pointsSale };
  expect(await contractsAt(kit.deps, contracts)).toEqual([]);
  const earlier = createCollecting({ rpc: kit.rpc, contracts });
  expect([await earlier.takesPermits(), await earlier.capIn(1)]).toEqual([false, undefined]);
  // A newer PerkNFT on an earlier token: a permit would be spent by nobody.
  const mixed = createCollecting({ rpc: kit.rpc, contracts: { token, perks: kit.deployment.perks } });
  expect(await mixed.takesPermits()).toBe(false);
  const present = createCollecting({
    rpc: kit.rpc,
    contracts: { token: newer, perks: kit.deployment.perks },
  });
  expect(await present.takesPermits()).toBe(true);
  expect(ofNewer).not.toBe(escrow);

  const write = (address: Hex, functionName: string, args: readonly unknown[], account = admin) =>
    kit.mined(
      kit.wallet.writeContract({
        address,
        abi: [...kit.token.abi, ...kit.escrow.abi, ...kit.perks.abi],
        functionName,
        args,
        account,
      } as never),
    );
  await write(token, 'grantRole', [roleId('REDEEMER_ROLE'), escrow]);
  await write(token, 'grantRole', [roleId('MINTER_ROLE'), admin.address]);
  await write(token, 'setMinterCap', [admin.address, 100n]);
  await write(token, 'mint', [alice.address, 100n]);
  await write(escrow, 'grantRole', [roleId('REDEMPTION_ROLE'), perks]);
  await write(perks, 'grantRole', [roleId('REDEEMER_ROLE'), redeemer.address]);
  await write(perks, 'grantRole', [roleId('PERK_ADMIN_ROLE'), admin.address]);
  await write(perks, 'setPerk', [1n, 60n, 5n, brand.address, true]);
  await write(perks, 'redeem', [keccak256(toHex('one')), alice.address, 1n, 60n], redeemer);
  const balance = { abi: kit.token.abi, functionName: 'balanceOf' } as const;
  const held = [
    await kit.publicClient.readContract({ address: token, ...balance, args: [alice.address] }),
    await kit.publicClient.readContract({ address: escrow, ...balance, args: [brand.address] }),
  ];
  expect(held).toEqual([40n, 60n]);
});
