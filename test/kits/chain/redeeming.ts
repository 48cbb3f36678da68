/** What tests of redemptions share: a perk of their own on chain and in the catalogue, people with RWT, and requests for perks. */
import { randomUUID } from 'node:crypto';
import { createWalletClient, http, maxUint256 } from 'viem';
import { businessEscrowAbi, perkNFTAbi } from '../../../src/chain/contracts/abis.ts';
import { devPaths } from '../../../src/lib/development.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import { someone, type TestService } from '../service/service.ts';
import { devAccount } from './dev-accounts.ts';

/** As the fixture has it, with 2 to be had. */
export const EVENING = {
  id: '29fdd1ed-ecad-462e-abb1-d2f25b86fad2',
  tokenId: 5,
  cost: 2_000,
  name: 'An evening with the founders',
};
/** Without a limit. */
export const WALLPAPERS = {
  id: 'e1e181ae-4528-46a0-be75-39696d3c73b9',
  tokenId: 1,
  cost: 50,
  name: 'Desktop wallpapers',
};
export const MUG = { id: '493a88d1-9394-451c-93ba-6b0f07845ba7', tokenId: 3, cost: 600, name: 'Enamel mug' };

type Service = Pick<TestService, 'post' | 'control' | 'change' | 'event' | 'brand' | 'ready' | 'chain'>;

export const redeemBody = (service: Service, userIdentifier: string, perkId: string) => ({
  brandId: service.brand.brandId,
  userIdentifier,
  platform: 'web',
  perkId,
});

/** Somebody whom the brand has paid this much RWT in all. */
export async function personWith(service: Service, amount: number) {
  const email = someone();
  const rewarded = await service.event({ userEmail: email });
  const wallet = rewarded.body.walletAddress as Hex;
  const first = Number(rewarded.body.rewardAmount);
  if (amount > first) await payMore(service, { email, amount: amount - first });
  return { email, wallet };
}

/** Pays a user from the brand's escrow, by a rule for this amount. */
export async function payMore(service: Service, { email, amount }: { email: string; amount: number }) {
  const eventType = `custom_pay_${amount}`;
  const rule = { reward: amount, maxClaims: -1, cooldown: 0 };
  await service.change(`/brands/${service.brand.brandId}/rules/${eventType}`, rule);
  const paid = await service.event({ userEmail: email, eventType });
  if (paid.status !== 200) throw new Error(`not paid: ${JSON.stringify(paid.body)}`);
}

/** Mints RWT to a wallet: money that no brand has paid. */
export async function mintTo(service: Service, to: Hex, amount: number) {
  const minted = await service.control('/mints', { to, amount, reason: 'a test' });
  if (minted.body.state !== 'minted') throw new Error(`not minted: ${JSON.stringify(minted.body)}`);
}

/** Sets a perk's terms on chain as the emulator's admin. */
export async function setOnChain(
  { ready, chain, brand }: Service,
  {
    tokenId,
    price,
    stock = maxUint256,
    active = true,
  }: { tokenId: number; price: number; stock?: bigint; active?: boolean },
) {
  const wallet = createWalletClient({
    account: devAccount({ path: devPaths.admin }),
    transport: http(ready.urls.rpc),
  });
  const hash = await wallet.writeContract({
    address: ready.contracts.perks as Hex,
    abi: perkNFTAbi,
    functionName: 'setPerk',
    chain: null,
    args: [BigInt(tokenId), BigInt(price), stock, brand.brandId as Hex, active],
  });
  await chain.waitForTransactionReceipt({ hash });
}

/** What the chain has of redemptions: `PerkRedeemed` of PerkNFT, and `Redeemed` of the escrow. */
export async function redeemedOnChain({ ready, chain }: Service) {
  const perks = await chain.getContractEvents({
    address: ready.contracts.perks as Hex,
    abi: perkNFTAbi,
    eventName: 'PerkRedeemed',
    fromBlock: 0n,
  });
  const collected = await chain.getContractEvents({
    address: ready.contracts.escrow as Hex,
    abi: businessEscrowAbi,
    eventName: 'Redeemed',
    fromBlock: 0n,
  });
  return { perks, collected };
}

export const heldOnChain = ({ ready, chain }: Service, wallet: Hex, tokenId: number) =>
  chain.readContract({
    address: ready.contracts.perks as Hex,
    abi: perkNFTAbi,
    functionName: 'balanceOf',
    args: [wallet, BigInt(tokenId)],
  });

export const freshKey = () => `redeem-${randomUUID()}`;
