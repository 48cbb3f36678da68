/** What the pages and the REST API ask the service, for one user who is their e-mail. */
import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/ids.ts';
import { siteSettings } from '../../config.ts';
import type { SiteStore } from '../../store.ts';
import type { Plugin } from '../plugin.ts';
import type { AskService, ServiceCall } from './ask-service.ts';
import {
  achievementsAnswer,
  balanceAnswer,
  checkInAnswer,
  claimAnswer,
  leaderboardAnswer,
  perksAnswer,
  redeemAnswer,
  streakStatusAnswer,
} from './service-answers.ts';

/** The idempotency keys of redemptions whose outcome the site does not know yet, so that trying again pays once. */
export function createRedemptionKeys(deps: { store: SiteStore; clock: Clock; random: Random }) {
  const { store, clock, random } = deps;
  const forgetOld = store.prepare<[number]>('delete from redemption_keys where at <= ?');
  // A user who presses twice goes on with the key of the first time.
  const take = store.prepare<[string, string, string, number], { key: string }>(
    `insert into redemption_keys (email, perk_id, key, at) values (?, ?, ?, ?)
     on conflict (email, perk_id) do update set at = at returning key`,
  );
  const forget = store.prepare<[string, string, string]>(
    'delete from redemption_keys where email = ? and perk_id = ? and key = ?',
  );
  return {
    /** Kept before the service is asked, and until its answer is known. */
    keyFor(email: string, perkId: string): string {
      forgetOld.run(clock.now() - siteSettings.redemptionKeyMs);
      const kept = take.get(email, perkId, `site-${random.uuid()}`, clock.now());
      if (!kept) throw new Error('the store gave no key for a redemption');
      return kept.key;
    },
    /** The service has said yes or no: the next redemption of this perk is a new one. */
    settled: (email: string, perkId: string, key: string): void => void forget.run(email, perkId, key),
  };
}

/** What the brand sees as the place where its users are. */
export const PLATFORM = 'site';
/** The streak of check-ins. */
const STREAK = 'daily';
const HISTORY_LIMIT = 20;

type ServiceCalls = Pick<
  Plugin,
  'checkIn' | 'redeem' | 'claimMilestone' | 'leaderboard' | 'streak' | 'balance' | 'perks' | 'achievements'
>;

const who = ({ brandId }: ServiceCall, email: string) => ({
  brandId,
  userIdentifier: email,
  platform: PLATFORM,
});

export function createServiceCalls(
  { ask, call }: AskService,
  keys: ReturnType<typeof createRedemptionKeys>,
  /** Where the site's events come from. */
  domain: () => string,
): ServiceCalls {
  return {
    ...createChanges({ ask, call }, domain),
    redeem: createRedeem({ ask, call }, keys),
    leaderboard: async (wish) => {
      const board = await ask(
        {
          what: `leaderboard ${wish.metric} ${wish.period}`,
          send: ({ client, brandId, options }) =>
            client.leaderboard({ brandId, ...wish, limit: String(wish.limit) }, options),
          answer: leaderboardAnswer,
          refused: 'api_error',
          failure: 'Failed to fetch leaderboard',
        },
        call(),
      );
      const { metric, period } = wish;
      return board.ok ? { ok: true, value: { ...board.value, metric, period } } : board;
    },
    streak: ({ email }) =>
      ask(
        {
          what: `streak of ${email}`,
          send: (to) =>
            to.client.streaks.status(new URLSearchParams({ ...who(to, email), streakType: STREAK })),
          answer: streakStatusAnswer,
          refused: 'api_error',
        },
        call(),
      ),
    balance: ({ email }) =>
      ask(
        {
          what: `balance of ${email}`,
          send: ({ client, brandId, options }) =>
            client.balance(
              { brandId, userIdentifier: email, includeHistory: true, historyLimit: HISTORY_LIMIT },
              options,
            ),
          answer: balanceAnswer,
          refused: 'api_error',
        },
        call(),
      ),
    perks: async ({ category }) => {
      const listed = await ask(
        {
          what: `perks ${category}`,
          send: ({ client, brandId, options }) => client.perks.list({ brandId, category }, options),
          answer: perksAnswer,
          refused: 'api_error',
        },
        call(),
      );
      return listed.ok ? { ok: true, value: listed.value.perks } : listed;
    },
    achievements: async ({ email }) => {
      const reached = await ask(
        {
          what: `achievements of ${email}`,
          send: ({ client, brandId, options }) =>
            client.achievements({ brandId, userIdentifier: email }, options),
          answer: achievementsAnswer,
          refused: 'api_error',
        },
        call(),
      );
      return reached.ok ? { ok: true, value: reached.value.achievements } : reached;
    },
  };
}

/** What pays says where it comes from, as the site's events do. */
function createChanges(
  { ask, call }: AskService,
  domain: () => string,
): Pick<Plugin, 'checkIn' | 'claimMilestone'> {
  return {
    checkIn: async ({ email }) => {
      const recorded = await ask(
        {
          what: `check-in of ${email}`,
          send: (to) =>
            to.client.streaks.recordActivity(
              { ...who(to, email), streakType: STREAK, domain: domain() },
              to.options,
            ),
          answer: checkInAnswer,
          refused: 'checkin_failed',
        },
        call(),
      );
      if (!recorded.ok) return recorded;
      const { isNewActivity, reward, ...streak } = recorded.value;
      return {
        ok: true,
        value: { streak, reward: isNewActivity ? reward.final : 0, alreadyClaimed: !isNewActivity },
      };
    },
    claimMilestone: ({ email }, days) =>
      ask(
        {
          what: `milestone ${days} of ${email}`,
          send: (to) =>
            to.client.streaks.claimMilestone(
              { ...who(to, email), milestoneDays: days, streakType: STREAK, domain: domain() },
              to.options,
            ),
          answer: claimAnswer,
          refused: 'claim_failed',
        },
        call(),
      ),
  };
}

/** Without an answer the redemption may have happened: trying again asks for the same one. */
function createRedeem(
  { ask, call }: AskService,
  keys: ReturnType<typeof createRedemptionKeys>,
): Plugin['redeem'] {
  return async ({ email }, perkId) => {
    const key = keys.keyFor(email, perkId);
    const done = await ask(
      {
        what: `redemption of ${perkId} by ${email}`,
        send: (to) => {
          const headers = { ...to.options.headers, 'idempotency-key': key };
          return to.client.perks.redeem({ ...who(to, email), perkId }, { headers });
        },
        answer: redeemAnswer,
        refused: 'redeem_failed',
      },
      call(),
    );
    if (done.ok || done.refusal.code === 'redeem_failed') keys.settled(email, perkId, key);
    return done;
  };
}
