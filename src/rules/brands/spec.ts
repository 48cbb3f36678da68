/**
 * The settings of a brand and of an event's rule, one row each. What a fixture may say, what the control API takes
 * and shows, flags, help and the OpenAPI document come from the row; what a setting does stands where it is used:
 * a brand's as `brand.profile.<name>`, a rule's as `rule.detail.<name>`.
 */

/** What a value may be. `inFiles`: the stricter rule and the message that apply in a fixture. */
export type Kind =
  /** On or off. */
  | { kind: 'switch' }
  | { kind: 'text'; most: number; inFiles?: { pattern: RegExp; expected: string } }
  | { kind: 'eventType' }
  /** The name of a field of an event's metadata. */
  | { kind: 'field' }
  /** How a site numbers its users: a platform and `_{id}`. */
  | { kind: 'userPattern' }
  | { kind: 'address' }
  | { kind: 'domain' }
  /** An IANA time zone, as the runtime spells it. */
  | { kind: 'timeZone' }
  /** What is counted, how much of it is needed, and a name: `claims 10 A regular`. */
  | { kind: 'achievement' }
  | { kind: 'choice'; of: readonly string[] }
  /** Any number above 0. */
  | { kind: 'number' }
  | { kind: 'whole'; least: number; of: string }
  /** Claims: 1 or more; -1: no limit. */
  | { kind: 'limit' }
  /** Kept in milliseconds, and shown as `<name>Ms`. */
  | { kind: 'duration' }
  /** At least one entry, each entry once. */
  | { kind: 'list'; of: Kind; inFiles?: { notList: string; empty: string } }
  /** Single entries can be set too, as in `platforms.telegram`. */
  | { kind: 'map'; of: Kind; key: MapKey; expected: string; example: readonly [string, string] };

interface MapKey {
  pattern: RegExp;
  /** Stands for the key in texts: `platforms.<platform>`. */
  placeholder: string;
  is: string;
  /** The message for a fixture with any other key; absent where every key is allowed. */
  inFiles?: string;
}

export type Row = Kind & {
  /** What the setting is, as the beginning of a sentence. */
  help: string;
  /** As people write it. A brand that was made before the setting existed has it too, unless `earlier` says what it did. */
  default?: unknown;
  /** What a brand without a value has in place of the default: it was made when that was what the service did. */
  earlier?: unknown;
  /** What a new brand in production has in its place: there, no amount or address is taken on trust. */
  inProduction?: unknown;
  /** Must be given for a new brand or rule. */
  required?: true;
  /** Given with a new brand and never changed; all other settings may be changed later. */
  fixed?: true;
  /** null, '' or `none` removes the value. */
  clearable?: true;
  /** Its flag: a brand's of `brand create` (`brand set` takes every setting), a rule's of `brand rule`. */
  flag?: string;
  /** Another name by which it may be given, never shown; not for what a new brand or rule must have. */
  alias?: string;
  /** Shown before the value in place of the setting's name, and the text shown after the value. */
  label?: string;
  unit?: string;
};

/** Days of a streak. */
const DAYS = {
  pattern: /^[1-9]\d{0,3}$/,
  placeholder: 'days',
  is: 'a number of days, 1 to 9999',
  inFiles: 'must be a number of days, 1 to 9999',
} as const satisfies MapKey;

export type Spec = Readonly<Record<string, Row>>;

export const brandSpec = {
  brandId: { kind: 'address', required: true, fixed: true, help: "the address of the brand's wallet" },
  name: {
    kind: 'text',
    most: 200,
    required: true,
    flag: '--brand-name <name>',
    help: 'the name that people read',
  },
  automation: { kind: 'switch', default: true, help: 'off: no event of the brand is rewarded' },
  domains: {
    kind: 'list',
    of: { kind: 'domain' },
    inFiles: { notList: 'must be a list of domains', empty: 'must name at least one domain' },
    required: true,
    flag: '--domain <domain>',
    help: 'where its events come from',
  },
  platforms: {
    kind: 'map',
    of: { kind: 'text', most: 200 },
    key: {
      pattern: /^[a-z][a-z0-9_-]{0,29}$/,
      placeholder: 'platform',
      is: 'a platform such as telegram',
    },
    expected: 'must be a map from platforms to identities',
    example: ['telegram', '@Bot'],
    default: {},
    flag: '--platform <name=identity>',
    help: 'identities on chat platforms',
  },
  clientEvents: {
    kind: 'choice',
    of: ['open', 'credential'],
    // Open in production too: pages have no key, and the contract asks for none.
    default: 'open',
    help: "which clients may send its events: any, or only those that send the brand's key",
  },
  directAddresses: {
    kind: 'choice',
    of: ['allow', 'credential'],
    default: 'allow',
    inProduction: 'credential',
    label: 'addresses',
    help: "which clients may name a user by a blockchain address: any, or only those that send the brand's key",
  },
  domainless: {
    kind: 'choice',
    of: ['allow', 'credential', 'refuse'],
    default: 'credential',
    help: "whose events may name no domain: anybody's, only those sent with the brand's key, or nobody's",
  },
  clientBypass: {
    kind: 'choice',
    of: ['allow', 'credential'],
    default: 'credential',
    help: "which clients may skip the cooldown: any, or only those that send the brand's key",
  },
  clientAmounts: {
    kind: 'choice',
    of: ['allow', 'credential'],
    default: 'allow',
    inProduction: 'credential',
    label: 'amounts',
    help: "whose order_total counts: anybody's, or only that of clients that send the brand's key",
  },
  mintTo: {
    kind: 'choice',
    of: ['wallet', 'escrow'],
    default: 'wallet',
    help: 'the account that gets the RWT that the brand buys',
  },
  pregenerate: {
    kind: 'choice',
    of: ['open', 'credential'],
    default: 'open',
    help: "which clients may create wallets in its name: any, or only those that send the brand's key",
  },
  engagementWrites: {
    kind: 'choice',
    of: ['open', 'credential'],
    default: 'open',
    inProduction: 'credential',
    label: 'engagement writes',
    help: "which clients may report what users did, for ranks and progress, which pay nothing: any, or only those that send the brand's key",
  },
  redemptions: {
    kind: 'choice',
    of: ['open', 'key', 'token'],
    default: 'key',
    help: "which clients may redeem perks for users: any, those that send the brand's key, or only users themselves, with their access token or permit; without the user never more than the brand has paid them and they have not spent",
  },
  leaderboardUsers: {
    kind: 'choice',
    of: ['shown', 'masked'],
    default: 'shown',
    inProduction: 'masked',
    label: 'users on leaderboards',
    help: 'whether anybody who reads its leaderboards sees e-mails in full, or only their first letter and domain',
  },
  gasBudget: {
    kind: 'number',
    label: 'gas budget',
    unit: 'a day',
    help: "what its users' calls may cost per day, in the chain's currency; without it, the service's own limit holds",
  },
  spendPerHour: {
    kind: 'whole',
    least: 1,
    of: 'RWT',
    clearable: true,
    // What strangers can take from a brand whose rules say too little: enough for a first day, and no escrow.
    inProduction: 1000,
    flag: '--spend-per-hour <rwt>',
    label: 'spend limit',
    unit: 'RWT an hour',
    help: 'the most that all its events may earn in an hour',
  },
  spendPerDay: {
    kind: 'whole',
    least: 1,
    of: 'RWT',
    clearable: true,
    label: 'spend limit',
    unit: 'RWT a day',
    help: 'the most that all its events may earn in a day',
  },
  eventNameMapping: {
    kind: 'map',
    of: { kind: 'eventType' },
    key: {
      pattern: /^[A-Za-z0-9][\w.:-]{0,99}$/,
      placeholder: 'name',
      is: 'a name of an event',
      inFiles: 'must be a name of an event: 1 to 100 letters, digits and . : _ -',
    },
    expected: 'must be a map from names of events to event types',
    example: ['signup', 'account_creation'],
    label: 'event names',
    help: "the brand's other names for its events, each with the event type it stands for",
  },
  domainUsers: {
    kind: 'userPattern',
    clearable: true,
    label: 'users by number',
    help: "how its site numbers users, such as wordpress_{id}: an event with the brand's key, an e-mail and metadata.user_id makes the two one user",
  },
  timeZone: {
    kind: 'timeZone',
    default: 'UTC',
    label: 'time zone',
    help: 'where the days and weeks of its users begin, such as Europe/Berlin',
  },
  streakPays: {
    kind: 'choice',
    of: ['off', 'service', 'event'],
    // Nothing pays that was not configured: only this setting turns it on, no other one of streaks does.
    default: 'off',
    earlier: 'service',
    alias: 'streak.pays',
    label: 'check-ins are paid by',
    help: "what pays for check-ins and milestones: nothing (off), the service when one is recorded, or the brand's event of streakCheckInEvents",
  },
  streakCheckInEvents: {
    kind: 'list',
    of: { kind: 'eventType' },
    clearable: true,
    alias: 'streak.checkInEvents',
    label: 'check-in events',
    help: 'the events that clients send for a check-in; with streakPays event they earn streakBase times the multiplier',
  },
  streakTypes: {
    kind: 'list',
    of: { kind: 'text', most: 50 },
    default: ['daily'],
    alias: 'streak.types',
    label: 'streaks that pay',
    help: 'the types of streaks that pay; callers may report others, which are counted and pay nothing',
  },
  streakBase: {
    kind: 'whole',
    least: 0,
    of: 'RWT',
    default: 10,
    alias: 'streak.base',
    label: 'check-in',
    unit: 'RWT',
    help: 'RWT for a check-in, before the multiplier of the streak',
  },
  streakGrace: {
    kind: 'duration',
    default: '36h',
    alias: 'streak.grace',
    label: 'streak grace',
    help: 'from one activity to the next, before a streak with a missed day ends',
  },
  streakMultipliers: {
    kind: 'map',
    of: { kind: 'number' },
    key: DAYS,
    expected: 'must be a map from days to multipliers',
    example: ['7', '1.25'],
    default: { 3: 1.1, 7: 1.25, 14: 1.5, 30: 2 },
    alias: 'streak.multipliers',
    label: 'streak multipliers',
    help: 'what a streak multiplies rewards by, each from a day on',
  },
  streakMilestones: {
    kind: 'map',
    of: { kind: 'whole', least: 1, of: 'RWT' },
    key: DAYS,
    expected: 'must be a map from days to RWT',
    example: ['7', '100'],
    default: { 7: 100, 30: 500, 100: 2000, 365: 10_000 },
    alias: 'streak.milestones',
    label: 'streak milestones',
    help: 'the bonus of each milestone, in RWT, by the days of the streak that reach it',
  },
  achievements: {
    kind: 'map',
    of: { kind: 'achievement' },
    key: {
      pattern: /^[A-Za-z0-9][\w-]{0,49}$/,
      placeholder: 'type',
      is: 'a type of 1 to 50 letters, digits, _ and -',
      inFiles: 'must be a type of 1 to 50 letters, digits, _ and -',
    },
    expected: 'must be a map from types to achievements',
    example: ['regular', 'claims 10 A regular'],
    default: {},
    help: 'what its users can reach, each with its metric (claims, rwt_earned, streak_days, manual), threshold and name',
  },
} as const satisfies Spec;

export const ruleSpec = {
  reward: {
    kind: 'whole',
    least: 1,
    of: 'RWT',
    required: true,
    flag: '--reward <rwt>',
    help: 'RWT for one claim',
  },
  maxClaims: {
    kind: 'limit',
    default: 1,
    flag: '--max-claims <n>',
    alias: 'max_claims_per_user',
    help: 'claims of one user',
  },
  maxTotalClaims: {
    kind: 'limit',
    default: 'unlimited',
    flag: '--max-total <n>',
    help: 'claims of all users together',
  },
  cooldown: {
    kind: 'duration',
    default: '24h',
    flag: '--cooldown <duration>',
    // The contract names no unit for it: only 0, which needs none, may be a bare number.
    alias: 'cooldown_period',
    help: 'between two claims of one user',
  },
  active: { kind: 'switch', default: true, flag: '--active <state>', help: 'whether it pays' },
  oncePer: {
    kind: 'field',
    clearable: true,
    flag: '--once-per <field>',
    help: 'the field of the metadata for each value of which a user is paid once, for ever, such as order_id; every event has to bring it',
  },
  channels: {
    kind: 'list',
    of: { kind: 'text', most: 100 },
    clearable: true,
    flag: '--channel <id>',
    help: 'chat channel that counts',
  },
  perUsd: {
    kind: 'number',
    clearable: true,
    flag: '--per-usd <rwt>',
    help: 'RWT for each dollar of metadata.order_total, in place of the reward; needs maxReward',
  },
  maxReward: {
    kind: 'whole',
    least: 1,
    of: 'RWT',
    clearable: true,
    flag: '--max-reward <rwt>',
    help: 'the most that perUsd may come to',
  },
  multiplier: {
    kind: 'choice',
    of: ['streak'],
    clearable: true,
    flag: '--multiplier <kind>',
    help: 'what multiplies the reward',
  },
  urlPatterns: {
    kind: 'list',
    of: { kind: 'text', most: 2048 },
    clearable: true,
    flag: '--url-pattern <pattern>',
    help: 'page on which the client script notices it',
  },
  successSelectors: {
    kind: 'list',
    of: { kind: 'text', most: 2048 },
    clearable: true,
    flag: '--success-selector <selector>',
    help: 'element by which it notices it',
  },
  method: {
    kind: 'text',
    most: 50,
    inFiles: { pattern: /^[a-z_]{1,50}$/, expected: 'must be a word such as url_pattern' },
    default: 'manual',
    flag: '--method <name>',
    help: 'how it is noticed, such as url_pattern or manual',
  },
} as const satisfies Spec;

/** The value of a row or kind, as it is kept. */
export type ValueOf<K> = K extends { kind: 'switch' }
  ? boolean
  : K extends { kind: 'choice'; of: readonly (infer Choice)[] }
    ? Choice
    : K extends { kind: 'number' | 'whole' | 'limit' | 'duration' }
      ? number
      : K extends { kind: 'list'; of: infer One }
        ? ValueOf<One>[]
        : K extends { kind: 'map'; of: infer One }
          ? Record<string, ValueOf<One>>
          : K extends { kind: 'address' }
            ? `0x${string}`
            : string;

/** A row that every new brand or rule has a value for. */
export type Always = { required: true } | { default: unknown };

/** The other name of a row, where it has one. */
export type AliasOf<R> = R extends { alias: infer A extends string } ? A : never;

/** All values of a table; settings that have no default may be left out. */
export type Values<S> = Spec extends S
  ? Record<string, unknown>
  : { [N in keyof S as S[N] extends Always ? N : never]: ValueOf<S[N]> } & {
      [N in keyof S as S[N] extends Always ? never : N]?: ValueOf<S[N]>;
    };

/** The rows of a table, by name, with every column there may be. */
export const rowsOf = (spec: Spec): [name: string, row: Row][] => Object.entries(spec);

/** The settings that can be changed, as people name them; of a map, its single entries. */
export const settingNames = (spec: Spec): string[] =>
  rowsOf(spec).flatMap(([name, row]) => {
    if (row.fixed) return [];
    return row.kind === 'map' ? `${name}.<${row.key.placeholder}>` : name;
  });

/** The other names of settings, each with the setting's own. */
export const aliasesOf = (spec: Spec): [alias: string, name: string][] =>
  rowsOf(spec).flatMap(([name, { alias }]) => (alias === undefined ? [] : [[alias, name]]));

/** How a value may be written, to follow the help. */
export function writingOf({ kind }: Kind): string {
  if (kind === 'limit') return ', or unlimited';
  return kind === 'duration' ? ', such as 24h, or 0' : '';
}
