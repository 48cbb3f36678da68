/** The event that usually follows each hook, until an administrator chooses others. */
import type { HookedEvent } from './settings.ts';

export const defaultEvents: readonly HookedEvent[] = [
  { hook: 'user_registered', eventName: 'account_creation', enabled: true },
  { hook: 'comment_posted', eventName: 'review_submission', enabled: true },
  { hook: 'page_load', eventName: 'daily_visit', enabled: true },
  // Most users who log in have just been rewarded for their visit.
  { hook: 'login', eventName: 'daily_login', enabled: false },
  { hook: 'post_published', eventName: 'article_published', enabled: true },
  { hook: 'order_completed', eventName: 'purchase', enabled: true },
  { hook: 'share', eventName: 'social_share', enabled: true },
];
