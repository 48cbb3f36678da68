/** Whether a user can redeem a perk now: what the chain has in the newest block that was read, less what is under way. */

import { rewardTokenAbi } from '../../chain/contracts/abis.ts';
import { type ChainPerk, readChainPerk } from '../../chain/contracts/calls/perk-redemption.ts';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findPerk, type StoredPerk } from '../../ledger/perks/perks.ts';
import { type ChainSupply, reservedOf, takenOf } from '../../ledger/perks/redemptions.ts';
import { newestFollowed } from '../../ledger/transactions/backlog.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { CheckConstraints, Constraint, UnmetConstraint } from '../../rules/constraints/constraint.ts';

type Hex = `0x${string}`;

export interface JudgeDeps {
  database: Database;
  rpc: Rpc;
  contracts: Pick<ContractAddresses, 'token' | 'perks'>;
  checkConstraints: CheckConstraints;
}

export interface WantedRedemption {
  brandId: BrandId;
  perkId: string;
  userKey: string;
  /** Where the user was named by it; lower case. */
  userAddress: Hex | undefined;
}

/** Why a user cannot have a perk now. Amounts are whole RWT. */
export type RedemptionRefusal =
  | { code: 'perk_not_found'; perkId: string }
  | { code: 'perk_not_active'; perk: string }
  | { code: 'perk_price_changing'; perk: string }
  | { code: 'perk_sold_out'; perk: string }
  | { code: 'insufficient_balance'; perk: string; userBalance: number; perkCost: number }
  | { code: 'wallet_missing'; perk: string }
  | { code: 'constraints_not_met'; missing: UnmetConstraint[] };

export interface Judged {
  perk: StoredPerk;
  /** Lower case; undefined while the user has none. */
  wallet: Hex | undefined;
  /** What it costs on chain. */
  cost: number;
  /** RWT that the user can spend: less what redemptions under way will take. */
  userBalance: number;
  chain: ChainSupply;
  refusal: RedemptionRefusal | undefined;
}

/** Without a perk there is nothing more to say than why. */
export type JudgedRedemption =
  | Judged
  | { refusal: RedemptionRefusal | { code: 'brand_not_found'; brandId: string } };

/** The first refusal that applies; constraints are asked last, since others answer for them. */
export async function judgeRedemption(deps: JudgeDeps, wanted: WantedRedemption): Promise<JudgedRedemption> {
  const { db } = deps.database;
  const { brandId, perkId } = wanted;
  if (!(await findBrand(db, brandId))) return { refusal: { code: 'brand_not_found', brandId } };
  const perk = await findPerk(db, { brandId, perkId });
  if (!perk) return { refusal: { code: 'perk_not_found', perkId } };
  const seen = await readSupply(deps, perk, await walletOf(deps, wanted));
  const found = refusalBy(seen);
  return { ...seen, refusal: found ?? (await unmet(deps, seen, wanted)) };
}

async function walletOf(
  { database }: Pick<JudgeDeps, 'database'>,
  { userKey, userAddress }: WantedRedemption,
): Promise<Hex | undefined> {
  if (userAddress) return userAddress;
  const known = (await findWallets(database.db, [userKey])).get(userKey);
  return known?.address.toLowerCase() as Hex | undefined;
}

type Seen = Omit<Judged, 'refusal'> & { onChain: ChainPerk; taken: number };

async function readSupply(
  { database: { db }, rpc, contracts }: JudgeDeps,
  perk: StoredPerk,
  wallet: Hex | undefined,
): Promise<Seen> {
  const { tokenId } = perk;
  // Of one block that the ledger has read: what it shows as taken, and what is still to come, are told apart by it.
  const block = (await newestFollowed(db)) ?? 0;
  const balanceOf = { address: contracts.token, abi: rewardTokenAbi, functionName: 'balanceOf' } as const;
  const [onChain, balance] = await Promise.all([
    readChainPerk({ rpc, perks: contracts.perks }, { tokenId, block }),
    wallet ? readContract(rpc, { ...balanceOf, args: [wallet] }, block) : 0n,
  ]);
  const reserved = wallet ? await reservedOf(db, { wallet, block }) : 0n;
  const taken = (await takenOf(db, { tokenIds: [tokenId], block })).get(tokenId) ?? 0;
  const spendable = balance > reserved ? balance - reserved : 0n;
  return {
    ...{ perk, wallet, onChain, taken, cost: Number(onChain.price), userBalance: Number(spendable) },
    chain: { block, balance, stock: onChain.stock },
  };
}

function refusalBy({ perk, wallet, onChain, taken, cost, userBalance }: Seen): RedemptionRefusal | undefined {
  if (!perk.active || !onChain.active) return { code: 'perk_not_active', perk: perk.name };
  // The catalogue's price is what the user agrees to.
  if (cost > perk.cost) return { code: 'perk_price_changing', perk: perk.name };
  if (onChain.stock !== undefined && onChain.stock <= BigInt(taken))
    return { code: 'perk_sold_out', perk: perk.name };
  if (userBalance < cost)
    return { code: 'insufficient_balance', perk: perk.name, userBalance, perkCost: cost };
  if (!wallet) return { code: 'wallet_missing', perk: perk.name };
  return undefined;
}

async function unmet(
  { checkConstraints }: JudgeDeps,
  { perk, wallet }: Seen,
  { userKey, userAddress }: WantedRedemption,
): Promise<RedemptionRefusal | undefined> {
  if (perk.constraints.length === 0 || !wallet) return undefined;
  const missing = await checkConstraints({
    brandId: perk.brandId,
    tokenId: perk.tokenId,
    constraints: perk.constraints as readonly Constraint[],
    buyer: { address: wallet, ...(userAddress === undefined && { userKey }) },
  });
  return missing.length > 0 ? { code: 'constraints_not_met', missing } : undefined;
}
