/** Rewards of a payout that the ledger has lost: bound where they are known, moved where they differ, else written. */

import type { PayoutEntry } from '../../chain/contracts/payout-batch.ts';
import { addressSpellings, checksummed } from '../../identity/checksum.ts';
import type { Queries } from '../../ledger/database/database.ts';
import {
  type AdoptedReward,
  adoptRewards,
  adoptWallet,
  type KnownReward,
  knownRewards,
  moveReward,
  type PayingBrand,
  type PayingRule,
  payingRules,
  rebindReward,
  usersAt,
} from '../../ledger/recovery/adopt-rewards.ts';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId, BrandProfile } from '../../rules/brands/brand.ts';
import { milestonesOf, streakTerms } from '../../rules/engagement/streak.ts';
import { type FoundTransaction, note, type RecoveryContext, sequenceText, timeOf } from './context.ts';

/** The event of a reward of which only the amount is known. */
export const RECOVERED_EVENT = 'recovered';

export async function adoptPayout(
  tx: Queries,
  context: RecoveryContext,
  of: { found: FoundTransaction; entries: readonly PayoutEntry[]; transactionId: string },
): Promise<void> {
  const { found, transactionId } = of;
  const own = of.entries.filter(({ sequence }) => context.carrierOf(sequenceText(sequence)) === found.hash);
  const known = new Map(
    (
      await knownRewards(
        tx,
        own.map(({ sequence }) => Number(sequence)),
      )
    ).map((reward) => [reward.sequence, reward]),
  );
  const lost: PayoutEntry[] = [];
  for (const entry of new Map(own.map((one) => [one.sequence, one])).values()) {
    const reward = known.get(Number(entry.sequence));
    if (!reward) lost.push(entry);
    else if (isAsPromised(reward, entry)) await bindReward(tx, reward, transactionId);
    else {
      const movedTo = await moveReward(tx, reward.sequence);
      await note(tx, context, 'released', reward.id, {
        sequence: reward.sequence,
        movedTo,
        wallet: reward.wallet,
        amount: reward.amount,
      });
      lost.push(entry);
    }
  }
  await writeLost(tx, context, { found, lost, transactionId });
}

const isAsPromised = (reward: KnownReward, { to, amount, brandId }: PayoutEntry) =>
  reward.wallet.toLowerCase() === to && BigInt(reward.amount) === amount && reward.brandId === brandId;

/** A reward that another transaction has paid stays with that one. */
async function bindReward(tx: Queries, reward: KnownReward, transactionId: string): Promise<void> {
  const { sequence, outcome, failure } = reward;
  if (reward.transactionId === transactionId || (outcome === 'done' && failure === null)) return;
  await rebindReward(tx, { sequence, transactionId, isRetry: reward.transactionId !== null });
}

async function writeLost(
  tx: Queries,
  context: RecoveryContext,
  of: { found: FoundTransaction; lost: readonly PayoutEntry[]; transactionId: string },
): Promise<void> {
  const { found, lost, transactionId } = of;
  const { deps, recoveryId } = context;
  const createdAt = timeOf(context, found);
  const users = await usersOf(tx, context, { addresses: [...new Set(lost.map(({ to }) => to))], createdAt });
  const brands = new Map<BrandId, PayingBrand | undefined>();
  for (const { brandId } of lost)
    if (!brands.has(brandId)) brands.set(brandId, await payingRules(tx, brandId));
  const adopted: AdoptedReward[] = [];
  for (const { sequence, brandId, to, amount } of lost) {
    const userKey = users.get(to) ?? to;
    const events = eventsOf(brands.get(brandId), Number(amount));
    const [only, ...others] = events;
    const isKnown = only !== undefined && others.length === 0;
    const reward: AdoptedReward = {
      id: deps.random.uuid(),
      sequence: Number(sequence),
      brandId,
      wallet: checksummed(to),
      amount: Number(amount),
      userKey,
      userEmail: userKey.includes('@') ? userKey : null,
      eventType: isKnown ? only : RECOVERED_EVENT,
      recoveryId,
      transactionId,
      createdAt,
    };
    adopted.push(reward);
    await note(tx, context, 'reward', reward.id, {
      sequence: reward.sequence,
      brandId,
      userKey,
      wallet: to,
      amount: reward.amount,
      event: isKnown ? only : null,
      mayBe: isKnown ? [] : events,
      transaction: found.hash,
    });
  }
  await adoptRewards(tx, adopted);
}

/** Who has these wallets. An unknown address becomes a user of its own; a derived wallet is given to it for good. */
export async function usersOf(
  tx: Queries,
  context: RecoveryContext,
  of: { addresses: Hex[]; createdAt: number },
): Promise<Map<Hex, string>> {
  const users = await usersAt(tx, of.addresses.flatMap(addressSpellings));
  for (const address of of.addresses) {
    const known = users.get(address);
    const derivationIndex = context.work.derived.get(address);
    if (known === undefined && derivationIndex !== undefined) {
      const spelled = context.deps.wallets.addressAt(derivationIndex);
      const wallet = { userKey: address, address: spelled, derivationIndex, createdAt: of.createdAt };
      await adoptWallet(tx, wallet);
    }
    await note(tx, context, 'user', address, {
      userKey: known ?? address,
      isNew: known === undefined,
      derivationIndex: derivationIndex ?? null,
    });
    users.set(address, known ?? address);
  }
  return users;
}

/** The event types of a brand that may have paid this amount. */
function eventsOf(brand: PayingBrand | undefined, amount: number): string[] {
  if (!brand) return [];
  return brand.rules
    .filter((rule) => mayPay(rule, brand.profile, amount))
    .map(({ eventType }) => eventType)
    .concat(streakGrants(brand.profile, amount));
}

/** What the service may have paid by itself: a check-in, which is worth its base or a multiple, or a milestone's bonus. */
function streakGrants(profile: BrandProfile, amount: number): string[] {
  const terms = streakTerms({ profile });
  const { streakPays, streakBase } = terms;
  if (streakPays !== 'service') return [];
  return [
    ...(amount >= streakBase ? ['streak_checkin'] : []),
    ...(milestonesOf(terms).some(({ bonus }) => bonus === amount) ? ['streak_milestone'] : []),
  ];
}

/** A rule whose amount grows with an order or a streak may have paid any. */
const mayPay = (rule: PayingRule, profile: BrandProfile, amount: number): boolean =>
  rule.detail.dynamic !== undefined ||
  profile.streakCheckInEvents?.includes(rule.eventType) === true ||
  rule.rewardAmount === amount;
