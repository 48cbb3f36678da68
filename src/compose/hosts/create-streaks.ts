/** Binds what the hosts do with streaks to the adapters that the caller has picked. */
import { claimMilestone } from '../../actions/engagement/claim-milestone.ts';
import { readStreak } from '../../actions/engagement/read-streak.ts';
import { recordActivity } from '../../actions/engagement/record-activity.ts';
import type { StreakDeps, StreakRequest } from '../../actions/engagement/streak-work.ts';
import type { ChainEngine } from '../../chain/engine.ts';
import type { Milestone } from '../../chain/waiting/reward-waiters.ts';
import type { WalletTree } from '../../identity/wallets.ts';
import type { StreakKey } from '../../ledger/engagement/streaks.ts';
import type { Facts } from '../../ledger/facts.ts';
import { createKeyedMutex } from '../../lib/mutex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { settings } from '../config.ts';

/** The zero address: what is sent there is lost. */
const NOBODY = `0x${'0'.repeat(40)}`;

/** The service's contracts and accounts, in lower case: no reward goes there. */
export function ownAddressesOf({
  facts,
  ownAccounts = [],
}: {
  facts: Facts['chain'];
  ownAccounts?: readonly `0x${string}`[] | undefined;
}): Set<string> {
  const addresses = [NOBODY, ...Object.values(facts.contracts), ...ownAccounts];
  return new Set(addresses.map((address) => address.toLowerCase()));
}

export type Streaks = ReturnType<typeof createStreaks>;

interface StreaksDeps
  extends Pick<StreakDeps, 'database' | 'clock' | 'businessTime' | 'random' | 'crash' | 'nudgeWebhooks'> {
  facts: Facts['chain'];
  ownAccounts?: readonly `0x${string}`[] | undefined;
  wallets: WalletTree;
  engine: Pick<ChainEngine, 'payouts' | 'progress'>;
}

export function createStreaks(
  deps: StreaksDeps,
  {
    serviceDomains,
    ownDomain,
    answerWhen,
  }: { serviceDomains: readonly string[]; ownDomain?: string | undefined; answerWhen: Milestone },
) {
  const { database, clock, businessTime, random, crash, wallets, engine, nudgeWebhooks } = deps;
  const streakDeps: StreakDeps = {
    database,
    clock,
    businessTime,
    random,
    crash,
    nudgeWebhooks,
    addressAt: wallets.addressAt,
    ownAddresses: ownAddressesOf(deps),
    ownHosts: serviceDomains,
    ownDomain,
    inTurn: createKeyedMutex<BrandId>(),
    triesMax: settings.decideTriesMax,
    typesMax: settings.streakTypesMax,
    payouts: engine.payouts,
    progress: engine.progress,
    answerWhen,
    // As long as callers wait for an event's.
    answerTimeoutMs: settings.answerTimeoutMs,
  };
  return {
    recordActivity: (request: StreakRequest) => recordActivity(streakDeps, request),
    claimMilestone: (request: StreakRequest & { milestoneDays: number }) =>
      claimMilestone(streakDeps, request),
    readStreak: (key: StreakKey) => readStreak({ database, businessTime }, key),
  };
}
