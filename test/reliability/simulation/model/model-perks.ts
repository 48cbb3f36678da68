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

/**
 * What the code of a user's wallet does with a perk that it is given, or our own contracts with that user. reverts: always,
 * with an error that looks like one of ours · sometimes: as it likes, in trials and in blocks · on chain: only in blocks ·
 * burns gas: takes all of it · behind others: when the same transaction or trial did something before · refused by us: no
 * code at all, our contracts lack a role for this user, and nobody grants it.
 */
export type Manner = 'reverts' | 'sometimes' | 'on chain' | 'burns gas' | 'behind others' | 'refused by us';
export const manners: Manner[] = [
  'reverts',
  'sometimes',
  'on chain',
  'burns gas',
  'behind others',
  'refused by us',
];
/** The manners in which the wallet's own code is to blame. */
export const isOfCode = (manner: Manner | undefined) => manner !== undefined && manner !== 'refused by us';

/** Where a redemption runs. */
export interface Run {
  in: 'trial' | 'block';
  /** Undefined: a wallet like any other. */
  manner: Manner | undefined;
  /** A trial in which the wallet's code counts as removed. */
  isWithoutCode: boolean;
  /** Others ran before it in the same trial. */
  isBehind: boolean;
  /** Decides for wallets that like it sometimes. */
  likes: boolean;
}

export interface PerkState {
  /** How many are left. */
  stock: number;
  /** RWT of users, by wallet. */
  held: ReadonlyMap<Hex, number>;
  /** Keys of redemptions that are done. */
  redeemed: ReadonlySet<Hex>;
  /** What the escrow may still collect on permits that were used, by their signature. */
  allowed: ReadonlyMap<Hex, number>;
}

/** One call of `redeem` that was not refused; not new: its key was used before, and nothing happened. */
export interface ModelRedemption {
  key: Hex;
  wallet: Hex;
  tokenId: number;
  isNew: boolean;
}

/** `refused`: what the contract says, as it says it. */
type Redeemed = { after: PerkState; redemption: ModelRedemption } | { refused: Hex; burns?: boolean };

const tokenId = BigInt(PERK.tokenId);

const refusedWith = (errorName: 'PerkSoldOut', args: readonly [bigint]): Hex =>
  encodeErrorResult({ abi: perkNFTAbi, errorName, args });

/** What our contracts say while a role is missing; a wallet's code can say the same. */
const roleMissing = (wallet: Hex): Hex =>
  encodeErrorResult({
    abi: perkNFTAbi,
    errorName: 'AccessControlUnauthorizedAccount',
    args: [wallet, `0x${'0'.repeat(64)}`],
  });

const signatureOf = ({ r, s }: { r: Hex; s: Hex }): Hex => `0x${r.slice(2)}${s.slice(2)}`;

type RedeemArgs = readonly [Hex, Hex, bigint, bigint, { value: bigint; r: Hex; s: Hex }?];

/** Whose redemption a call is. */
export const buyerIn = (data: Hex): Hex =>
  String(decodeFunctionData({ abi: perkNFTAbi, data }).args?.[1]).toLowerCase() as Hex;

/** What PerkNFT, the escrow and the user's wallet do with this call. */
export function redeem(state: PerkState, data: Hex, run: Run): Redeemed {
  const { args } = decodeFunctionData({ abi: perkNFTAbi, data });
  const [key, buyer, id, , permit] = args as unknown as RedeemArgs;
  const wallet = buyer.toLowerCase() as Hex;
  const isNew = !state.redeemed.has(key);
  const redemption = { key, wallet, tokenId: Number(id), isNew };
  if (!isNew) return { after: state, redemption };
  const held = state.held.get(wallet) ?? 0;
  if (run.manner === 'refused by us') return { refused: roleMissing(wallet) };
  if (state.stock === 0) return { refused: refusedWith('PerkSoldOut', [tokenId]) };
  const allowed = new Map(state.allowed);
  if (permit) {
    const signature = signatureOf(permit);
    const left = (allowed.get(signature) ?? Number(permit.value)) - PERK.cost;
    if (left < 0) {
      const short = [ESCROW, BigInt(left + PERK.cost), BigInt(PERK.cost)] as const;
      return {
        refused: encodeErrorResult({
          abi: rewardTokenAbi,
          errorName: 'ERC20InsufficientAllowance',
          args: short,
        }),
      };
    }
    allowed.set(signature, left);
  }
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
  if (!run.isWithoutCode && codeRefuses(run))
    return {
      refused: run.manner === 'burns gas' ? '0x' : roleMissing(wallet),
      burns: run.manner === 'burns gas',
    };
  const after = {
    allowed,
    stock: state.stock - 1,
    held: new Map(state.held).set(wallet, held - PERK.cost),
    redeemed: new Set(state.redeemed).add(key),
  };
  return { after, redemption };
}

function codeRefuses({ in: place, manner, isBehind, likes }: Run): boolean {
  if (manner === 'reverts' || manner === 'burns gas') return true;
  if (manner === 'sometimes') return !likes;
  return (manner === 'on chain' && place === 'block') || (manner === 'behind others' && isBehind);
}

/** The escrow's log of what it collected. */
export const collectedLog = ({ key, wallet }: ModelRedemption) => ({
  address: ESCROW,
  topics: encodeEventTopics({
    abi: businessEscrowAbi,
    eventName: 'Redeemed',
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
      abi: rewardTokenAbi,
      functionName: 'balanceOf',
      result: BigInt(state.held.get(wallet) ?? 0),
    });
  }
  if (to !== CONTRACTS.perks) throw new Error(`the model knows no contract ${to}`);
  return encodeFunctionResult({
    abi: perkNFTAbi,
    functionName: 'perkOf',
    result: { price: BigInt(PERK.cost), stock: BigInt(state.stock), brand: PERK.brandId, active: true },
  });
}
