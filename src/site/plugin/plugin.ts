/**
 * What the plugin does for its site: the pages, the REST API, the AJAX action and the hooks all come through here, and
 * everything here asks the service over HTTP. A user is their e-mail, everywhere.
 */
import type { z } from 'zod';
import type { LeaderboardBody } from '../../client/bodies.ts';
import type { SiteUser } from '../accounts/users.ts';
import type { PluginSettings, SettingsProblem } from './plugin-settings.ts';
import type * as answers from './service/service-answers.ts';

/** Contract: Streak. */
export type Streak = z.output<typeof answers.streakAnswer>;
export type Milestone = Streak['unclaimedMilestones'][number];
/** As redeem returns it; `cost` is in RWT. */
type RedeemedPerk = NonNullable<z.output<typeof answers.redeemAnswer>['perk']>;
/** `available`: 999999 without a limit. */
export type ListedPerk = z.output<typeof answers.perksAnswer>['perks'][number];
/** `history`: newest first; `atMs` is in milliseconds since 1970. */
export type Balance = z.output<typeof answers.balanceAnswer>;
export type Achievement = z.output<typeof answers.achievementsAnswer>['achievements'][number];

export interface LeaderboardWish {
  metric: LeaderboardBody['metric'];
  period: 'week' | 'month' | 'all';
  limit: number;
}
/** `total`: users on the board. */
export type Leaderboard = z.output<typeof answers.leaderboardAnswer> &
  Pick<LeaderboardWish, 'metric' | 'period'>;

/** What became of one event call. `status` 0: the service gave no answer. Success means HTTP 200. */
export interface EventCall {
  eventName: string;
  success: boolean;
  status: number;
  /** Why the plugin sent nothing. */
  code?: 'not_configured' | 'event_not_allowed';
  /** For people: what the service said, or why nothing was sent. */
  message: string;
  /** RWT, where the service rewarded the event. */
  reward?: number | undefined;
}

/** Something happened on the site. */
export interface Occurrence {
  /** Whom it is about: the user, never their name alone. */
  email: string;
  metadata?: Record<string, unknown> | undefined;
}

/** One line of the debug log, newest first in lists. E-mails stand in it as the site's administrator may read them. */
export interface DebugLine {
  atMs: number;
  text: string;
}

export interface Plugin {
  settings: {
    read(): PluginSettings;
    /** Saves what is sound; else says what is wrong and saves nothing. */
    save(wanted: unknown): SettingsProblem[];
  };
  checkIn(user: SiteUser): Promise<Outcome<{ streak: Streak; reward: number; alreadyClaimed: boolean }>>;
  redeem(
    user: SiteUser,
    perkId: string,
  ): Promise<Outcome<{ confirmationCode: string | null; perk: RedeemedPerk | null }>>;
  claimMilestone(user: SiteUser, days: number): Promise<Outcome<z.output<typeof answers.claimAnswer>>>;
  leaderboard(wish: LeaderboardWish): Promise<Outcome<Leaderboard>>;
  streak(user: SiteUser): Promise<Outcome<Streak & { checkedInToday: boolean }>>;
  balance(user: SiteUser): Promise<Outcome<Balance>>;
  perks(wish: { category: string }): Promise<Outcome<ListedPerk[]>>;
  achievements(user: SiteUser): Promise<Outcome<Achievement[]>>;
  /** Sends an event call for every enabled event of the hook; a daily visit only once in 24 hours. */
  fire(hook: string, occurrence: Occurrence): Promise<EventCall[]>;
  /** The same, for pages, which do not wait for it. */
  fireLater(hook: string, occurrence: Occurrence): void;
  /** Resolves when no such event is under way any more. */
  idle(): Promise<void>;
  /** The share button and the AJAX action: an event that the settings open to pages. */
  customEvent(eventName: string, occurrence: Occurrence): Promise<EventCall>;
  /** Sends a test event; says what came back and what to do about it. */
  testConnection(wish: { email: string; eventName: string }): Promise<EventCall>;
  debugLog(): DebugLine[];
}

/** What the plugin's API can refuse: one row a code. Contract: Site Plugin REST API, Errors. */
export const pluginRefusals = {
  not_logged_in: { status: 401, message: 'User must be logged in' },
  not_configured: { status: 500, message: 'Plugin not configured' },
  missing_perk_id: { status: 400, message: 'perkId is required' },
  missing_milestone: { status: 400, message: 'milestoneDays is required' },
  checkin_failed: { status: 400, message: 'Check-in failed' },
  redeem_failed: { status: 400, message: 'Redemption failed' },
  claim_failed: { status: 400, message: 'Milestone not available or already claimed' },
  api_error: { status: 500, message: 'Error communicating with the service' },
} as const;

export type PluginRefusalCode = keyof typeof pluginRefusals;

/** An expected no. `message` is for visitors, in the service's short words where it gave a reason. */
export interface PluginRefusal {
  code: PluginRefusalCode;
  message: string;
}

export type Outcome<Value> = { ok: true; value: Value } | { ok: false; refusal: PluginRefusal };

/** What leaderboards rank by, and since when, with the names that visitors read. */
export const metricNames: Record<LeaderboardWish['metric'], string> = {
  rwt_earned: 'RWT earned',
  activity: 'Activity',
  streak: 'Longest streak',
  claims: 'Rewards claimed',
};
export const periodNames: Record<LeaderboardWish['period'], string> = {
  week: 'This week',
  month: 'This month',
  all: 'Of all time',
};

export const metrics = Object.keys(metricNames) as LeaderboardWish['metric'][];
export const periods = Object.keys(periodNames) as LeaderboardWish['period'][];
