/**
 * Writes granted rewards into the ledger: claims and totals are counted, funds promised, spending counted, wallets and
 * sequence numbers given, rows written. The one way to a reward, whatever it is for; each step is a conditional
 * statement that refuses what is over a limit.
 */
import { takeNumbers } from '../../ledger/counters.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { type AddedClaims, addClaimTotals, eventKeyText, takeClaims } from '../../ledger/rewards/claims.ts';
import { promiseFunds } from '../../ledger/rewards/funds.ts';
import { takeOnceClaims } from '../../ledger/rewards/once-claims.ts';
import { recordRewards } from '../../ledger/rewards/rewards.ts';
import { takeSpending } from '../../ledger/rewards/spending.ts';
import { ensureWallets, type Wallet } from '../../ledger/wallets/wallets.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import type { Once } from '../../rules/events/claim-policy.ts';
import { type SpendLimit, spendLimits } from '../../rules/events/spend-limit.ts';

/** A reward that may be paid. */
export interface Grantable {
  /** The id that the reward gets. */
  rewardId: string;
  brand: Brand;
  eventType: string;
  /** The form under which the user is counted. */
  userKey: string;
  userEmail: string | undefined;
  /** Set when the user is named by an address of their own: it is paid directly. */
  userAddress: `0x${string}` | undefined;
  metadata: Record<string, unknown>;
  /** Where the user was, by its one name. */
  platform?: string | undefined;
  /** Whole RWT, 1 or more. */
  amount: number;
}

/** With the terms that the ledger's conditions hold it to. */
export interface GrantToRecord extends Grantable {
  /** Granted only while the user has fewer claims of the event than this … */
  claimsBelow: number;
  /** … the last one no later than this … */
  lastAtMost: number;
  /** … and all users together have no more than this, with this one. */
  maxTotalClaims: number;
  /** What the user is rewarded for once and for all; absent where the rule does not say so. */
  once?: Once | undefined;
}

/** A reward that is in the ledger and will be paid. */
export interface GrantedReward {
  rewardId: string;
  sequence: number;
  brandId: BrandId;
  eventType: string;
  amount: number;
  wallet: `0x${string}`;
  walletCreated: boolean;
}

/** Another process changed what a decision was based on: nothing may be committed, and the decision is made again. */
export class Overtaken extends Error {
  override name = 'Overtaken';
}

interface RoundOfGrants {
  grants: GrantToRecord[];
  /** The wallets that the users had, where the caller has looked for them. */
  wallets?: ReadonlyMap<string, Wallet>;
  nowMs: number;
}

/**
 * Records these grants, each of another claim key, and returns their rewards in the same order. The caller has locked
 * the brands' funds (`lockAvailableFunds`) before it judged them. Throws `Overtaken` where a condition says no.
 */
export async function recordGrants(
  deps: { addressAt: (index: number) => `0x${string}` },
  tx: Queries,
  round: RoundOfGrants,
): Promise<GrantedReward[]> {
  await countClaims(tx, round);
  await takeOnce(tx, round);
  await countTotals(tx, round.grants);
  if (!(await promiseFunds(tx, amountsOf(round.grants)))) throw new Overtaken();
  await countSpending(tx, round);
  return writeRewards(deps, tx, round);
}

/** Counts each user's claim under the terms on which it was granted. */
async function countClaims(tx: Queries, { grants, nowMs }: RoundOfGrants): Promise<void> {
  const taken = await takeClaims(
    tx,
    grants.map(({ rewardId, brand, eventType, userKey, amount, claimsBelow, lastAtMost }) => {
      const { brandId } = brand;
      return { brandId, eventType, userKey, rewardId, amount, nowMs, claimsBelow, lastAtMost };
    }),
  );
  if (taken.length !== grants.length) throw new Overtaken();
}

/** Takes what is rewarded once and for all; asks nothing where no grant is of that kind. */
async function takeOnce(tx: Queries, { grants, nowMs }: RoundOfGrants): Promise<void> {
  const claims = grants.flatMap(({ once, rewardId, brand, eventType, userKey, amount }) =>
    once ? { ...once, rewardId, brandId: brand.brandId, eventType, userKey, amount, claimedAt: nowMs } : [],
  );
  if (claims.length > 0 && !(await takeOnceClaims(tx, claims))) throw new Overtaken();
}

/** Counts the grants of each event, always in the same order, so that processes cannot deadlock. */
async function countTotals(tx: Queries, grants: GrantToRecord[]): Promise<void> {
  const events = new Map<string, AddedClaims>();
  for (const { brand, eventType, maxTotalClaims } of grants) {
    const { brandId } = brand;
    const key = eventKeyText({ brandId, eventType });
    const claims = (events.get(key)?.claims ?? 0) + 1;
    events.set(key, { brandId, eventType, claims, maxTotalClaims });
  }
  const totals = [...events].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
  if (!(await addClaimTotals(tx, totals))) throw new Overtaken();
}

/** The brands of these rewards, each with the limits that it has set. */
export function limitsOf(rewards: { brand: Brand }[]): { brandId: BrandId; limits: SpendLimit[] }[] {
  const brands = new Map(rewards.map(({ brand }) => [brand.brandId, brand]));
  return [...brands.values()].map(({ brandId, profile }) => ({ brandId, limits: spendLimits(profile) }));
}

/** Counts the rewards in the windows of their brands' spend limits, always in the same order. */
async function countSpending(
  tx: Queries,
  { grants, nowMs }: { grants: GrantToRecord[]; nowMs: number },
): Promise<void> {
  const limited = new Map(limitsOf(grants).map(({ brandId, limits }) => [brandId, limits]));
  for (const { brandId, amount } of amountsOf(grants)) {
    for (const limit of limited.get(brandId) ?? []) {
      if (!(await takeSpending(tx, { ...limit, brandId, amount, nowMs }))) throw new Overtaken();
    }
  }
}

/** What the grants of each brand come to, brands always in the same order. */
function amountsOf(grants: GrantToRecord[]): { brandId: BrandId; amount: number }[] {
  const amounts = new Map<BrandId, number>();
  for (const { brand, amount } of grants)
    amounts.set(brand.brandId, (amounts.get(brand.brandId) ?? 0) + amount);
  return [...amounts]
    .map(([brandId, amount]) => ({ brandId, amount }))
    .sort((a, b) => (a.brandId < b.brandId ? -1 : 1));
}

/** Gives wallets and sequence numbers, and writes the rewards; in the order of the grants. */
async function writeRewards(
  { addressAt }: { addressAt: (index: number) => `0x${string}` },
  tx: Queries,
  { grants, wallets: known, nowMs }: RoundOfGrants,
): Promise<GrantedReward[]> {
  const userKeys = new Set<string>();
  for (const { userAddress, userKey } of grants) if (!userAddress) userKeys.add(userKey);
  const wallets = await ensureWallets(tx, { userKeys: [...userKeys], known, addressAt, nowMs });
  const firstSequence = await takeNumbers(tx, 'reward_sequence', grants.length);
  const rewards = grants.map(({ rewardId, brand, eventType, userKey, userAddress, amount }, place) => {
    const own = userAddress ? undefined : wallets.get(userKey);
    const wallet = userAddress ?? own?.address;
    if (!wallet) throw new Error('a user was left without a wallet');
    const walletCreated = own?.created === true;
    // Only the first of several rewards in this commit tells of the new wallet.
    if (own) own.created = false;
    const { brandId } = brand;
    return { rewardId, sequence: firstSequence + place, brandId, eventType, amount, wallet, walletCreated };
  });
  await recordRewards(
    tx,
    rewards.map(({ rewardId: id, sequence, brandId, eventType, amount, wallet, walletCreated }, place) => {
      const { userKey, userEmail, metadata, platform } = grants[place] as GrantToRecord;
      const user = { userKey, userEmail, wallet, walletCreated };
      return { sequence, id, brandId, eventType, ...user, amount, metadata, platform, createdAt: nowMs };
    }),
  );
  return rewards;
}
