/** What PerkNFT is told of a perk; its sender needs `PERK_ADMIN_ROLE`. */
import { encodeFunctionData, type Hex, maxUint256 } from 'viem';
import { isUnlimited } from '../../../rules/brands/brand.ts';
import type { PerkTerms } from '../../../rules/perks/terms.ts';
import { perkNFTAbi as abi } from '../abis.ts';

/** An upper bound in gas: four slots that were empty, and an event. */
export const PERK_TERMS_GAS_LIMIT = 160_000n;

export function perkTermsData(of: PerkTerms & { tokenId: number; brandId: Hex }): Hex {
  const { kind, brandId, active, stock } = of;
  const [tokenId, price] = [BigInt(of.tokenId), BigInt(of.price)];
  if (kind === 'stock')
    return encodeFunctionData({ abi, functionName: 'changeStock', args: [tokenId, BigInt(stock)] });
  if (kind === 'terms')
    return encodeFunctionData({
      abi,
      functionName: 'setPerkTerms',
      args: [tokenId, price, brandId, active],
    });
  const left = isUnlimited(stock) ? maxUint256 : BigInt(stock);
  return encodeFunctionData({ abi, functionName: 'setPerk', args: [tokenId, price, left, brandId, active] });
}
