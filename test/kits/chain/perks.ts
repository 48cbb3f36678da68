/** Sales of perks past the service, as anybody with a wallet may make them. */
import { createWalletClient, http, keccak256, maxUint256, toHex } from 'viem';
import { expect } from 'vitest';
import { perkNFTAbi } from '../../../src/chain/contracts/abis.ts';
import { devPaths } from '../../../src/lib/development.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { someone, type TestService } from '../service/service.ts';
import { devAccount } from './dev-accounts.ts';

/** Calls PerkNFT as the emulator's admin; resolves when a block has the call. */
export async function perkCall(
  service: Pick<TestService, 'ready' | 'chain'>,
  functionName: 'setPerk' | 'redeem' | 'grantRole' | 'revokeRole',
  args: readonly unknown[],
): Promise<void> {
  const account = devAccount({ path: devPaths.admin });
  const client = createWalletClient({ account, transport: http(service.ready.urls.rpc) });
  const address = service.ready.contracts.perks as Hex;
  const call = { address, abi: perkNFTAbi, functionName, args, chain: null };
  const hash = await client.writeContract(call as never);
  expect((await service.chain.waitForTransactionReceipt({ hash })).status).toBe('success');
}

/** Sells a perk to a user who has just earned the RWT for it; returns the user's wallet. */
export async function buyPerk(
  service: TestService,
  { tokenId, cost }: { tokenId: number; cost: number },
): Promise<Hex> {
  const userEmail = someone();
  const { body } = await service.event({ userEmail });
  expect(body.rwtAmount ?? body.rwtDistributed).toBeGreaterThanOrEqual(cost);
  const { address } = devAccount({ path: devPaths.admin });
  await perkCall(service, 'grantRole', [keccak256(toHex('REDEEMER_ROLE')), address]);
  const key = keccak256(toHex(`${userEmail} buys ${tokenId}`));
  await perkCall(service, 'redeem', [key, body.walletAddress, BigInt(tokenId), maxUint256]);
  return body.walletAddress;
}
