/** Reads what a transaction of a sending account was for, from its calldata: the way back from what the lanes send. */
import { decodeFunctionData, type Hex, maxUint256 } from 'viem';
import type { KeptPermit } from '../../../ledger/schema/engagement/perks.ts';
import { PERMIT, relayPolicy } from '../../../rules/relay-policy.ts';
import { perkNFTAbi, pointsSaleAbi } from '../abis.ts';
import type { ContractAddresses } from '../deployment-steps.ts';
import { decodePayoutBatch, type PayoutEntry } from '../payout-batch.ts';
import { contractNamed, readCall } from './relay-calldata.ts';

/** One piece of the service's work on chain. Amounts are whole RWT, addresses lower case. */
export type LaneCall =
  | { kind: 'payout'; entries: PayoutEntry[] }
  | { kind: 'mint'; key: Hex; into: 'wallet' | 'escrow'; recipient: Hex; amount: number }
  | {
      kind: 'redeem';
      key: Hex;
      wallet: Hex;
      tokenId: number;
      cost: number;
      /** The user's own, where one pays. */
      permit: KeptPermit | undefined;
    }
  | { kind: 'perk_terms'; terms: FoundPerkTerms }
  | { kind: 'relay'; userAddress: Hex; perkId: number | undefined; isPermit: boolean }
  | { kind: 'top_up' }
  /** Nothing that a lane sends: a transaction without effect, or one that somebody made with its key. */
  | { kind: 'other' };

interface FoundPerkTerms {
  tokenId: number;
  kind: 'set' | 'terms' | 'stock';
  price?: number;
  active?: boolean;
  brandId?: Hex;
  /** -1: no limit. */
  stock: number;
}

export function readLaneCall(
  contracts: ContractAddresses,
  { to, data, valueWei }: { to: Hex | null; data: Hex; valueWei: bigint },
): LaneCall {
  const contract = to === null ? undefined : contractNamed(contracts, to.toLowerCase());
  if (to !== null && data === '0x' && valueWei > 0n) return { kind: 'top_up' };
  if (contract === undefined) return { kind: 'other' };
  if (contract === 'escrow') {
    const entries = batchIn(data);
    if (entries) return { kind: 'payout', entries };
  }
  if (contract === 'pointsSale') return mintIn(data) ?? { kind: 'other' };
  return (contract === 'perks' ? perkCallIn(data) : undefined) ?? relayIn(contract, data);
}

function batchIn(data: Hex): PayoutEntry[] | undefined {
  try {
    return decodePayoutBatch(data);
  } catch {
    return undefined;
  }
}

const lower = (address: string) => address.toLowerCase() as Hex;

function mintIn(data: Hex): LaneCall | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: pointsSaleAbi, data });
    if (functionName !== 'mintForPayment' && functionName !== 'mintIntoEscrow') return undefined;
    const [key, recipient, amount] = args;
    const into = functionName === 'mintForPayment' ? 'wallet' : 'escrow';
    return { kind: 'mint', key, into, recipient: lower(recipient), amount: Number(amount) };
  } catch {
    return undefined;
  }
}

function redeemIn(of: { key: Hex; wallet: Hex; tokenId: bigint; cost: bigint }) {
  const { key, wallet, tokenId, cost } = of;
  const kind = 'redeem' as const;
  return { kind, key, wallet: lower(wallet), tokenId: Number(tokenId), cost: Number(cost) };
}

function perkCallIn(data: Hex): LaneCall | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: perkNFTAbi, data });
    if (functionName === 'redeem') {
      const [key, wallet, tokenId, cost] = args;
      return { ...redeemIn({ key, wallet, tokenId, cost }), permit: undefined };
    }
    if (functionName === 'redeemWithPermit') {
      const [key, wallet, tokenId, cost, { value, deadline, v, r, s }] = args;
      const permit = { value: String(value), deadlineSeconds: String(deadline), v, r, s };
      return { ...redeemIn({ key, wallet, tokenId, cost }), permit };
    }
    if (functionName === 'setPerk') {
      const [tokenId, price, left, brand, active] = args;
      const stock = left === maxUint256 ? -1 : Number(left);
      const terms = { tokenId: Number(tokenId), price: Number(price), brandId: lower(brand), active, stock };
      return { kind: 'perk_terms', terms: { ...terms, kind: 'set' } };
    }
    if (functionName === 'setPerkTerms') {
      const [tokenId, price, brand, active] = args;
      const terms = { tokenId: Number(tokenId), price: Number(price), brandId: lower(brand), active };
      return { kind: 'perk_terms', terms: { ...terms, kind: 'terms', stock: 0 } };
    }
    if (functionName === 'changeStock') {
      const [tokenId, change] = args;
      const terms = { tokenId: Number(tokenId), stock: Number(change) };
      return { kind: 'perk_terms', terms: { ...terms, kind: 'stock' } };
    }
    return undefined;
  } catch {
    return undefined;
  }
}

/** A call that the relay sends for users: the policy says which argument is the user. */
function relayIn(contract: keyof typeof relayPolicy, data: Hex): LaneCall {
  const { signature, args } = readCall(contract, data);
  const allowed =
    signature !== undefined && Object.hasOwn(relayPolicy[contract], signature)
      ? relayPolicy[contract][signature]
      : undefined;
  const user = allowed && args[allowed.userArgument];
  if (typeof user !== 'string') return { kind: 'other' };
  const perk = allowed?.perkArgument === undefined ? undefined : args[allowed.perkArgument];
  return {
    kind: 'relay',
    userAddress: lower(user),
    perkId: typeof perk === 'bigint' ? Number(perk) : undefined,
    isPermit: signature === PERMIT,
  };
}
