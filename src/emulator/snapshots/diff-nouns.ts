/** What the rows of a table are called by people who compare two snapshots. */

/** Tables whose changes follow from others, or that every start writes. */
export const UNINTERESTING: ReadonlySet<string> = new Set([
  ...[
    'facts',
    'lanes',
    'journal_blocks',
    'followed_blocks',
    'feed_take_backs',
    'consumer_positions',
    'migrations',
    'emulator_migrations',
    'counters',
    'accepted_nonces',
    'retired_lanes',
  ],
]);

/** One and many. A table without a noun is counted, and not told. */
export const NOUNS: Readonly<Record<string, readonly [string, string]>> = {
  rewards: ['reward', 'rewards'],
  checkout_sessions: ['checkout', 'checkouts'],
  mints: ['mint', 'mints'],
  operator_mints: ['mint by hand', 'mints by hand'],
  redemptions: ['redemption', 'redemptions'],
  relays: ['relayed call', 'relayed calls'],
  streaks: ['streak', 'streaks'],
  webhook_events: ['webhook', 'webhooks'],
  webhook_deliveries: ['delivery', 'deliveries'],
  webhook_endpoints: ['webhook endpoint', 'webhook endpoints'],
  wallets: ['wallet', 'wallets'],
  brands: ['brand', 'brands'],
  brand_keys: ['API key', 'API keys'],
  event_rules: ['event rule', 'event rules'],
  perks: ['perk', 'perks'],
  transactions: ['transaction', 'transactions'],
  rate_windows: ['counted limit', 'counted limits'],
  emulated_processor_objects: ["processor's object", "processor's objects"],
  'site.users': ['site user', 'site users'],
  'site.sessions': ['site login', 'site logins'],
  'site.comments': ['site comment', 'site comments'],
  'site.orders': ['site order', 'site orders'],
  'site.daily_visits': ['site visit', 'site visits'],
};
