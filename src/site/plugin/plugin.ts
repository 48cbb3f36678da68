/**
 * What the plugin does for its site: the pages, the REST API, the AJAX action and the hooks all come through here, and
 * everything here asks the service over HTTP. A user is their e-mail, everywhere.
 */
import type { SiteUser } from '../accounts/users.ts';
import type { Outcome } from './refusals.ts';
import type { PluginSettings, SettingsProblem } from './settings.ts';

export interface Milestone {
  days: number;
  /** RWT. */
  bonus: number;
}

/** Contract: Streak. */
export interface Streak {
  currentStreak: number;
  multiplier: number;
  nextMilestone: Milestone | null;
  unclaimedMilestones: Milestone[];
}

/** Contract: Perk, as redeem returns it. */
export interface RedeemedPerk {
  id: string;
  name: string;
  description: string;
  /** RWT. */
  cost: number;
  category: string;
}

export interface ListedPerk extends RedeemedPerk {
  /** How many can be had; 999999 without a limit. */
  available: number;
  image: string | null;
}

/** Contract: Leaderboard entry, with the fields of its other variant. */
export interface LeaderboardEntry {
  rank: number;
  userIdentifier: string;
  username: string;
  displayName: string;
  platform: string;
  value: number;
  formattedValue: string;
}

export interface LeaderboardWish {
  metric: 'rwt_earned' | 'activity' | 'streak' | 'claims';
  period: 'week' | 'month' | 'all';
  limit: number;
}

export interface Leaderboard extends Pick<LeaderboardWish, 'metric' | 'period'> {
  leaderboard: LeaderboardEntry[];
  /** Users on the board. */
  total: number;
}

export interface Balance {
  /** RWT. */
  balance: number;
  walletAddress: string | null;
  /** Newest first. `atMs`: milliseconds since 1970. */
  history: { eventType: string; amount: number; atMs: number }[];
}

export interface Achievement {
  achievementType: string;
  name: string;
  currentProgress: number;
  threshold: number;
  isUnlocked: boolean;
}

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
  claimMilestone(user: SiteUser, days: number): Promise<Outcome<{ bonusRwt: number; milestone: number }>>;
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
