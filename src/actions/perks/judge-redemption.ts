/** Whether a user can redeem a perk now: what the chain has in the newest block that was read, less what is under way. */

import { rewardTokenAbi } from '../../chain/contracts/abis.ts';
import { type ChainPerk, readChainPerk } from '../../chain/contracts/calls/perk-calls.ts';
import type { Permit } from '../../chain/contracts/permit.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import type { CollectCap } from '../../chain/contracts/reward-token.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import { findPerk, type StoredPerk } from '../../ledger/perks/perks.ts';
import { type ChainSupply, reservedOf, takenOf } from '../../ledger/perks/redemptions.ts';
import { newestFollowed } from '../../ledger/transactions/backlog.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { isPageOf } from '../../rules/brands/domain.ts';
import type { CheckConstraints, Constraint, UnmetConstraint } from '../../rules/constraint.ts';
import {
  type Agreement,
  type Asker,
  type AskerRefusal,
  type ConsentRefusal,
  redemptionsOf,
  refuseAsker,
} from '../../rules/perks/consent.ts';
import { type ConsentDeps, judgeConsent } from './judge-consent.ts';

export interface JudgeDeps extends ConsentDeps {
  rpc: Rpc;
  checkConstraints: CheckConstraints;
  /** The service's own domains, whose pages count as every brand's. */
  ownHosts: readonly string[];
}

export interface WantedRedemption {
  brandId: BrandId;
  perkId: string;
  userKey: string;
  /** Where the user was named by it; lower case. */
  userAddress: Hex | undefined;
  asker: Asker;
  /** The permit that came with the request. */
  permit: Permit | undefined;
}

/** What a user may send in place of the brand's own word: a permit of at least `value` to `spender`. */
export interface WantedPermit {
  token: Hex;
  spender: Hex;
  value: number;
}

/** Why a user cannot have a perk now. Amounts are whole RWT. */
export type RedemptionRefusal =
  | AskerRefusal
  | { code: 'perk_not_found'; perkId: string }
  | { code: 'perk_not_active'; perk: string }
  | { code: 'perk_price_changing'; perk: string }
  | { code: 'perk_sold_out'; perk: string }
  | { code: 'insufficient_balance'; perk: string; userBalance: number; perkCost: number }
  | { code: 'wallet_missing'; perk: string }
  | Exclude<ConsentRefusal, { code: 'consent_required' }>
  /** `permit`: undefined where the contracts take none. */
  | {
      code: 'consent_required';
      perk: string;
      perkCost: number;
      collectable: number;
      permit: WantedPermit | undefined;
    }
  /** `passesAtMs`: undefined where no time makes it pass. */
  | {
      code: 'redemption_limit_reached';
      perk: string;
      perkCost: number;
      cap: number;
      left: number;
      passesAtMs: number | undefined;
    }
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
  /** On whose word it is paid; present where nothing refuses it. */
  agreement?: Agreement;
  /** Under which the ledger knows the wallet's user. */
  userKeys?: string[];
}

/** Without a perk there is nothing more to say than why. */
export type JudgedRedemption =
  | Judged
  | { refusal: RedemptionRefusal | { code: 'brand_not_found'; brandId: string } };

/** The first refusal that applies; constraints are asked last, since others answer for them. */
export async function judgeRedemption(deps: JudgeDeps, wanted: WantedRedemption): Promise<JudgedRedemption> {
  const { db } = deps.database;
  const { brandId, perkId, asker } = wanted;
  const brand = await findBrand(db, brandId);
  if (!brand) return { refusal: { code: 'brand_not_found', brandId } };
  const { domains } = brand.profile;
  const isPageOfBrand = (origin: string) => isPageOf(origin, [...domains, ...deps.ownHosts]);
  const turnedAway = refuseAsker(
    { brandId, redemptions: redemptionsOf(brand.profile) },
    asker,
    isPageOfBrand,
  );
  const perk = await findPerk(db, { brandId, perkId });
  if (!perk) return { refusal: turnedAway ?? { code: 'perk_not_found', perkId } };
  const seen = await readSupply(deps, perk, await walletOf(deps, wanted));
  const found = turnedAway ?? refusalBy(seen);
  const { wallet } = seen;
  if (found || !wallet) return { ...seen, refusal: found ?? { code: 'wallet_missing', perk: perk.name } };
  const agreed = await agreementOn(deps, { brand, seen: { ...seen, wallet }, wanted });
  if ('refusal' in agreed) return { ...seen, ...agreed };
  const refusal = refusalByCap(seen, agreed.agreement) ?? (await unmet(deps, seen, wanted));
  return { ...seen, ...agreed, refusal };
}

async function walletOf(
  { database }: Pick<JudgeDeps, 'database'>,
  { userKey, userAddress }: WantedRedemption,
): Promise<Hex | undefined> {
  if (userAddress) return userAddress;
  const known = (await findWallets(database.db, [userKey])).get(userKey);
  return known?.address.toLowerCase() as Hex | undefined;
}

async function agreementOn(
  deps: JudgeDeps,
  { brand, seen, wanted }: { brand: Brand; seen: Seen & { wallet: Hex }; wanted: WantedRedemption },
): Promise<{ refusal: RedemptionRefusal } | { agreement: Agreement; userKeys: string[] }> {
  const { perk, cost, wallet } = seen;
  const { userKey, userAddress, asker, permit } = wanted;
  const named = { userKey, userAddress, wallet };
  const judged = await judgeConsent(deps, { brand, asker, permit, named, cost });
  if ('agreement' in judged) return judged;
  const { refusal } = judged;
  if (refusal.code !== 'consent_required') return { refusal };
  // Another redemption may have been admitted since the balance was looked at: then that is what is missing.
  const { block, balance } = seen.chain;
  const left = balance - (await reservedOf(deps.database.db, { wallet, block }));
  const short = left < BigInt(cost) && refusalBy({ ...seen, userBalance: Math.max(0, Number(left)) });
  if (short) return { refusal: short };
  return { refusal: await consentRequired(deps, { perk, cost, collectable: refusal.collectable }) };
}

/** The refusal that says how much may be collected without the user, and what they may send in its place. */
export async function consentRequired(
  { contracts, collecting }: Pick<JudgeDeps, 'contracts' | 'collecting'>,
  { perk, cost, collectable }: { perk: StoredPerk; cost: number; collectable: number },
): Promise<RedemptionRefusal> {
  const permit = { token: contracts.token, spender: contracts.escrow, value: cost };
  return {
    code: 'consent_required',
    perk: perk.name,
    perkCost: cost,
    collectable,
    permit: (await collecting.takesPermits()) ? permit : undefined,
  };
}

type Seen = Omit<Judged, 'refusal' | 'agreement' | 'userKeys'> & {
  onChain: ChainPerk;
  taken: number;
  collectCap: CollectCap | undefined;
};

async function readSupply(
  { database: { db }, rpc, contracts, collecting }: JudgeDeps,
  perk: StoredPerk,
  wallet: Hex | undefined,
): Promise<Seen> {
  const { tokenId } = perk;
  // Of one block that the ledger has read: what it shows as taken, and what is still to come, are told apart by it.
  const block = (await newestFollowed(db)) ?? 0;
  const balanceOf = { address: contracts.token, abi: rewardTokenAbi, functionName: 'balanceOf' } as const;
  const [onChain, balance, collectCap] = await Promise.all([
    readChainPerk({ rpc, perks: contracts.perks }, { tokenId, block }),
    wallet ? readContract(rpc, { ...balanceOf, args: [wallet] }, block) : 0n,
    collecting.capIn(block),
  ]);
  const reserved = wallet ? await reservedOf(db, { wallet, block }) : 0n;
  const taken = (await takenOf(db, { tokenIds: [tokenId], block })).get(tokenId) ?? 0;
  const spendable = balance > reserved ? balance - reserved : 0n;
  return {
    perk,
    wallet,
    onChain,
    taken,
    collectCap,
    cost: Number(onChain.price),
    userBalance: Number(spendable),
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

/** What the token lets nobody collect now without the holder's allowance, which a permit is. */
function refusalByCap(
  { perk, cost, collectCap }: Seen,
  { consent }: Agreement,
): RedemptionRefusal | undefined {
  if (!collectCap || consent === 'permit' || BigInt(cost) <= collectCap.left) return undefined;
  const { cap, left, resetsAtSeconds } = collectCap;
  return {
    code: 'redemption_limit_reached',
    perk: perk.name,
    perkCost: cost,
    cap: Number(cap),
    left: Number(left),
    passesAtMs: BigInt(cost) <= cap ? resetsAtSeconds * 1_000 : undefined,
  };
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
