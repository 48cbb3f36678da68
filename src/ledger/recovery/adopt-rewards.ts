/** Rewards that the chain paid and the ledger lost, or knew and had not paid yet. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId, BrandProfile, EventRule } from '../../rules/brands/brand.ts';
import { spendLimits } from '../../rules/events/spend-limit.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { addClaimTotals, takeClaims } from '../rewards/claims.ts';
import { recordRewards } from '../rewards/rewards.ts';
import { takeSpending } from '../rewards/spending.ts';
import { brands, eventRules } from '../schema/brands.ts';
import { brandFunds, rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';
import { wallets } from '../schema/wallets.ts';

/** A reward with what became of the transaction that it is bound to. */
export type KnownReward = Awaited<ReturnType<typeof knownRewards>>[number];

export const knownRewards = (tx: Queries, sequences: number[]) =>
  inChunks(sequences, (some) =>
    tx
      .select({
        sequence: rewards.sequence,
        id: rewards.id,
        brandId: rewards.brandId,
        wallet: rewards.wallet,
        amount: rewards.amount,
        transactionId: rewards.transactionId,
        failure: rewards.failure,
        outcome: transactions.outcome,
        hash: transactions.hash,
      })
      .from(rewards)
      .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
      .where(inArray(rewards.sequence, some)),
  );

/** Binds a reward to the transaction that pays it, whatever it was bound to. */
export async function rebindReward(
  tx: Queries,
  { sequence, transactionId, isRetry }: { sequence: number; transactionId: string; isRetry: boolean },
): Promise<void> {
  const tries = isRetry ? sql`${rewards.failedTries} + 1` : rewards.failedTries;
  await tx
    .update(rewards)
    .set({ transactionId, failedTries: sql`${tries}` })
    .where(eq(rewards.sequence, sequence));
}

/** Gives a reward another sequence: the chain has paid somebody else under its own. Returns the new one. */
export async function moveReward(tx: Queries, sequence: number): Promise<number> {
  const next = await takeNumbers(tx, 'reward_sequence', 1);
  await tx.update(rewards).set({ sequence: next, transactionId: null }).where(eq(rewards.sequence, sequence));
  return next;
}

/** A reward as its calldata has it, with what the ledger knows or assumes of it. */
export interface AdoptedReward {
  id: string;
  sequence: number;
  brandId: BrandId;
  wallet: Hex;
  amount: number;
  userKey: string;
  userEmail: string | null;
  eventType: string;
  recoveryId: string;
  transactionId: string;
  createdAt: number;
}

/** More than any limit: what the chain has paid is counted, whatever a rule says. */
const WITHOUT_LIMIT = Number.MAX_SAFE_INTEGER;

/** Writes rewards and counts them as their grants did: claims, totals, promised funds, and what the brand limits. */
export async function adoptRewards(tx: Queries, adopted: AdoptedReward[]): Promise<void> {
  for (const { brandId, amount } of adopted) {
    await tx
      .insert(brandFunds)
      .values({ brandId, deposited: 0, promised: amount })
      .onConflictDoUpdate({
        target: brandFunds.brandId,
        set: { promised: sql`${brandFunds.promised} + ${amount}` },
      });
  }
  for (const one of adopted) {
    const { brandId, eventType, userKey, id: rewardId, amount, createdAt: nowMs } = one;
    const claim = { brandId, eventType, userKey, rewardId, amount, nowMs };
    await takeClaims(tx, [{ ...claim, claimsBelow: WITHOUT_LIMIT, lastAtMost: WITHOUT_LIMIT }]);
    await addClaimTotals(tx, [{ brandId, eventType, claims: 1, maxTotalClaims: WITHOUT_LIMIT }]);
    for (const { span } of await limitsOf(tx, brandId))
      await takeSpending(tx, { brandId, span, limit: WITHOUT_LIMIT, amount, nowMs });
  }
  await recordRewards(
    tx,
    adopted.map(({ recoveryId, ...reward }) => ({
      ...reward,
      walletCreated: false,
      metadata: { recovery: recoveryId },
    })),
  );
}

async function limitsOf(tx: Queries, brandId: BrandId) {
  const [brand] = await tx
    .select({ profile: brands.profile })
    .from(brands)
    .where(eq(brands.brandId, brandId));
  return brand ? spendLimits(brand.profile) : [];
}

/** The users whose wallets have these addresses, in every spelling, by address in lower case: of several, the one that came first. */
export async function usersAt(tx: Queries, spellings: Hex[]): Promise<Map<Hex, string>> {
  const users = new Map<Hex, string>();
  const rows = await inChunks(spellings, (some) =>
    tx
      .select({ userKey: wallets.userKey, address: wallets.address, createdAt: wallets.createdAt })
      .from(wallets)
      .where(inArray(wallets.address, some)),
  );
  rows.sort((a, b) => a.createdAt - b.createdAt || (a.userKey < b.userKey ? -1 : 1));
  for (const { userKey, address } of rows) {
    const key = address.toLowerCase() as Hex;
    if (!users.has(key)) users.set(key, userKey);
  }
  return users;
}

/** Gives a derived wallet that the ledger lost to a user who is known by its address, so that nobody else gets it. */
export async function adoptWallet(
  tx: Queries,
  of: { userKey: string; address: Hex; derivationIndex: number; createdAt: number },
): Promise<void> {
  await tx.insert(wallets).values(of).onConflictDoNothing();
}

export type PayingRule = Pick<EventRule, 'eventType' | 'rewardAmount' | 'detail'>;

/** A brand with its active rules. */
export interface PayingBrand {
  rules: PayingRule[];
  profile: BrandProfile;
}

/** The active rules of a brand, by which a reward's event may be known from its amount; undefined for an unknown brand. */
export async function payingRules(tx: Queries, brandId: BrandId): Promise<PayingBrand | undefined> {
  const [brand] = await tx
    .select({ profile: brands.profile })
    .from(brands)
    .where(eq(brands.brandId, brandId));
  if (!brand) return undefined;
  const rules = await tx
    .select({
      eventType: eventRules.eventType,
      rewardAmount: eventRules.rewardAmount,
      detail: eventRules.detail,
    })
    .from(eventRules)
    .where(and(eq(eventRules.brandId, brandId), eq(eventRules.active, true)));
  return { rules, profile: brand.profile };
}
