/** Builds the services host, and the streaks that the event host counts by too, from adapters that the caller has picked. */
import { listUserAchievements, takeProgressReport } from '../../actions/engagement/achievements.ts';
import { claimMilestone } from '../../actions/engagement/claim-milestone.ts';
import { readLeaderboard } from '../../actions/engagement/read-leaderboard.ts';
import { readStreak } from '../../actions/engagement/read-streaks.ts';
import { recordActivity } from '../../actions/engagement/record-activity.ts';
import type { StreakDeps, StreakRequest } from '../../actions/engagement/streak-work.ts';
import { readUserStats, updateStats } from '../../actions/engagement/user-stats.ts';
import { judgeRedemption } from '../../actions/perks/judge-redemption.ts';
import { listPerks } from '../../actions/perks/list-perks.ts';
import { checkCode, useCode } from '../../actions/perks/manage-redemptions.ts';
import { createPerkRedeemer, type RedeemDeps } from '../../actions/perks/redeem-perk.ts';
import { type AskedUser, asOneUser } from '../../actions/wallets/one-user.ts';
import type { PerkContract } from '../../chain/contracts/calls/perk-calls.ts';
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import type { ChainEngine } from '../../chain/engine.ts';
import type { Milestone } from '../../chain/waiting/reward-waiters.ts';
import { servicesRefusals } from '../../contract/services/refusals.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import { createServicesHost, type ServicesHostDeps } from '../../http/services/host.ts';
import type { WalletTree } from '../../identity/wallets.ts';
import type { BusinessTime } from '../../ledger/database/database.ts';
import type { StreakKey } from '../../ledger/engagement/streaks.ts';
import type { Facts } from '../../ledger/facts.ts';
import { findPerkByToken } from '../../ledger/perks/perks.ts';
import { createKeyedMutex } from '../../lib/mutex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { settings } from '../config.ts';

/** What this file binds. */
type Actions =
  | ('listUserAchievements' | 'takeProgressReport')
  | ('readUserStats' | 'listPerks' | 'findPerkByToken' | 'readLeaderboard' | 'updateStats')
  | ('judgeRedemption' | 'redeemPerk' | 'checkCode' | 'useCode')
  | keyof Streaks;

/** Everything that the services host does. */
export function createServices(deps: {
  frame: Omit<ServicesHostDeps, 'settings' | 'refuser' | 'tokens' | Actions>;
  businessTime: BusinessTime;
  /** Awaited before boards and achievements are read, so that what is paid is on them. */
  caughtUp: () => Promise<void>;
  redeeming: Omit<RedeemDeps, 'database' | 'clock' | 'ownHosts'>;
  token: RewardToken;
  perks: PerkContract;
  streaks: Streaks;
  /** Absent where users cannot log in. */
  tokens: ServicesHostDeps['tokens'];
  hostSettings: ServicesHostDeps['settings'];
}) {
  const { frame, businessTime, caughtUp, token, perks, streaks, tokens, hostSettings } = deps;
  const { database, clock, random, ownHosts } = frame;
  const redeeming = { ...deps.redeeming, database, clock, ownHosts };
  /** Whichever of the brand's names for a user a request has. */
  const one = <Asked extends AskedUser>(asked: Asked) => asOneUser(database.db, asked);
  const redeemPerk = createPerkRedeemer(redeeming);
  return createServicesHost({
    ...frame,
    ...streaks,
    tokens,
    async readUserStats(wanted) {
      await caughtUp();
      return readUserStats({ database, businessTime, token }, wanted);
    },
    async readLeaderboard(wanted) {
      await caughtUp();
      const { brandId, userKey } = wanted;
      const user = userKey === undefined ? wanted : await one({ brandId, userKey });
      return readLeaderboard({ database, businessTime }, { ...wanted, userKey: user.userKey });
    },
    updateStats: async (of) =>
      updateStats({ database, businessTime, random, ownHosts }, { ...of, report: await one(of.report) }),
    async listUserAchievements(user) {
      await caughtUp();
      return listUserAchievements({ database }, await one(user));
    },
    takeProgressReport: async (report) => takeProgressReport({ ...frame, businessTime }, await one(report)),
    listPerks: (wanted) => listPerks({ database, perks }, wanted),
    findPerkByToken: (tokenId) => findPerkByToken(database.db, tokenId),
    judgeRedemption: async (wanted) => judgeRedemption(redeeming, await one(wanted)),
    redeemPerk: async (wanted, ...more) => redeemPerk(await one(wanted), ...more),
    checkCode: (asked) => checkCode({ database }, asked),
    useCode: (asked) => useCode({ database, clock }, asked),
    refuser: createRefuser(servicesRefusals, { clock }),
    // The host's paths stand without the prefix.
    settings: { ...hostSettings, apiPrefix: '' },
  });
}

// Binds what the hosts do with streaks to the adapters that the caller has picked.

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

type Streaks = ReturnType<typeof createStreaks>;

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
