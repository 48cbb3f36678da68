/** One perk of the model chain: its stock, its price, who holds RWT to pay it with, and which redemptions are done. */
import {
  decodeFunctionData,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
} from 'viem';
import { businessEscrowAbi, perkNFTAbi, rewardTokenAbi } from '../../../../src/chain/contracts/abis.ts';
import { CONTRACTS, ESCROW, PERK, TOKEN } from './accounts.ts';

export interface PerkState {
  /** How many are left. */
  stock: number;
  /** RWT of users, by wallet. */
  held: ReadonlyMap<Hex, number>;
  /** Keys of redemptions that are done. */
  redeemed: ReadonlySet<Hex>;
}

/** One call of `redeem` that was not refused; not new: its key was used before, and nothing happened. */
export interface ModelRedemption {
  key: Hex;
  wallet: Hex;
  tokenId: number;
  isNew: boolean;
}

/** `refused`: what the contract says, as it says it. */
type Redeemed = { after: PerkState; redemption: ModelRedemption } | { refused: Hex };

const tokenId = BigInt(PERK.tokenId);

/** What PerkNFT and the escrow do with this call. */
export function redeem(state: PerkState, data: Hex): Redeemed {
  const { args } = decodeFunctionData({ abi: perkNFTAbi, data });
  const [key, buyer, id] = args as readonly [Hex, Hex, bigint, bigint];
  const wallet = buyer.toLowerCase() as Hex;
  const isNew = !state.redeemed.has(key);
  const redemption = { key, wallet, tokenId: Number(id), isNew };
  if (!isNew) return { after: state, redemption };
  const held = state.held.get(wallet) ?? 0;
  if (state.stock === 0)
    return { refused: encodeErrorResult({ abi: perkNFTAbi, errorName: 'PerkSoldOut', args: [tokenId] }) };
  if (held < PERK.cost) {
    const balance = [wallet, BigInt(held), BigInt(PERK.cost)] as const;
    return {
      refused: encodeErrorResult({
        abi: rewardTokenAbi,
        errorName: 'ERC20InsufficientBalance',
        args: balance,
      }),
    };
  }
  const after = {
    stock: state.stock - 1,
    held: new Map(state.held).set(wallet, held - PERK.cost),
    redeemed: new Set(state.redeemed).add(key),
  };
  return { after, redemption };
}

/** The escrow's log of what it collected. */
export const collectedLog = ({ key, wallet }: ModelRedemption) => ({
  address: ESCROW,
  topics: encodeEventTopics({
    ...{ abi: businessEscrowAbi, eventName: 'Redeemed' },
    args: { key, brand: PERK.brandId, user: wallet },
  }) as Hex[],
  data: `0x${PERK.cost.toString(16).padStart(64, '0')}` as Hex,
});

/** What a view function answers: the terms of the perk, or a user's RWT. */
export function readView(state: PerkState, { to, data }: { to: Hex; data: Hex }): Hex {
  if (to === TOKEN) {
    const { args } = decodeFunctionData({ abi: rewardTokenAbi, data });
    const wallet = String(args?.[0]).toLowerCase() as Hex;
    return encodeFunctionResult({
      ...{ abi: rewardTokenAbi, functionName: 'balanceOf', result: BigInt(state.held.get(wallet) ?? 0) },
    });
  }
  if (to !== CONTRACTS.perks) throw new Error(`the model knows no contract ${to}`);
  return encodeFunctionResult({
    ...{ abi: perkNFTAbi, functionName: 'perkOf' },
    result: { price: BigInt(PERK.cost), stock: BigInt(state.stock), brand: PERK.brandId, active: true },
  });
}
