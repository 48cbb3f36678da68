/** Builds the services host from adapters that the caller has picked. */
import { listUserAchievements } from '../../actions/engagement/read-achievements.ts';
import { readLeaderboard } from '../../actions/engagement/read-leaderboard.ts';
import { readUserStats } from '../../actions/engagement/read-user-stats.ts';
import { takeProgressReport } from '../../actions/engagement/report-progress.ts';
import { updateStats } from '../../actions/engagement/update-stats.ts';
import { checkCode, useCode } from '../../actions/perks/check-code.ts';
import { judgeRedemption } from '../../actions/perks/judge-redemption.ts';
import { listPerks } from '../../actions/perks/list-perks.ts';
import { createPerkRedeemer, type RedeemDeps } from '../../actions/perks/redeem-perk.ts';
import { type AskedUser, asOneUser } from '../../actions/wallets/one-user.ts';
import type { PerkContract } from '../../chain/contracts/calls/perk-stock.ts';
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { servicesRefusals } from '../../contract/services/refusals.ts';
import { createRefuser } from '../../http/frame/refuse.ts';
import { createServicesHost, type ServicesHostDeps } from '../../http/services/host.ts';
import type { BusinessTime } from '../../ledger/database/database.ts';
import { findPerkByToken } from '../../ledger/perks/perks.ts';
import type { Streaks } from './create-streaks.ts';

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
