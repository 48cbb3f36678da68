/** What is different between two snapshots, as a person would say it. */
import { LEDGER, SITE_STORE } from '../state/data-files.ts';
import type { Snapshot } from './manifest.ts';
import { type OpenImage, openImage, quoted, type Row } from './store-images.ts';

/** Tables whose changes follow from others, or that every start writes. */
const UNINTERESTING: ReadonlySet<string> = new Set([
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
const NOUNS: Readonly<Record<string, readonly [string, string]>> = {
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

interface TableDiff {
  table: string;
  added: number;
  removed: number;
  changed: number;
}

export interface SnapshotDiff {
  from: string;
  to: string;
  isSame: boolean;
  /** For people, the most telling first. */
  lines: string[];
  /** RWT that users have been promised more or less, by their e-mail or key. */
  users: { user: string; rwt: number }[];
  blocks: number;
  clockMs: number;
  tables: TableDiff[];
}

/** Users whose sums are listed; a load test has thousands. */
const USERS_MAX = 50;
const USERS_TOLD = 5;

export function diffImages(from: Snapshot & { name: string }, to: Snapshot & { name: string }): SnapshotDiff {
  const ledger = diffStores(from, to, LEDGER);
  const site = diffStores(from, to, SITE_STORE).tables.map((one) => ({ ...one, table: `site.${one.table}` }));
  const tables = [...ledger.tables, ...site];
  const blocks = to.manifest.chain.block - from.manifest.chain.block;
  const isOtherChain = blocks === 0 && to.manifest.chain.hash !== from.manifest.chain.hash;
  const clockMs = to.manifest.clock.nowMs - from.manifest.clock.nowMs;
  const lines = [
    ...tables.flatMap(tableLines),
    ...ledger.users.slice(0, USERS_TOLD).map(({ user, rwt }) => `${signed(rwt)} RWT to ${user}`),
    ...(ledger.users.length > USERS_TOLD
      ? [`and RWT to ${ledger.users.length - USERS_TOLD} more users`]
      : []),
    ...(blocks === 0 ? [] : [`${signed(blocks)} ${plural(Math.abs(blocks), ['block', 'blocks'])}`]),
    ...(isOtherChain ? ['another block at the end of the chain'] : []),
  ];
  return {
    from: from.name,
    to: to.name,
    isSame: lines.length === 0,
    lines,
    users: ledger.users.slice(0, USERS_MAX),
    blocks,
    clockMs,
    tables,
  };
}

function diffStores(
  from: Snapshot,
  to: Snapshot,
  part: string,
): { tables: TableDiff[]; users: SnapshotDiff['users'] } {
  const [before, after] = [opened(from, part), opened(to, part)];
  try {
    const names = new Set([...(before?.tables() ?? []), ...(after?.tables() ?? [])]);
    const tables = [...names]
      .filter((table) => part !== LEDGER || !UNINTERESTING.has(table))
      .map((table) => diffTable(table, before, after))
      .filter(({ added, removed, changed }) => added + removed + changed > 0);
    return { tables, users: part === LEDGER ? diffUsers(before, after) : [] };
  } finally {
    before?.close();
    after?.close();
  }
}

function opened({ parts }: Snapshot, part: string): OpenImage | undefined {
  const image = parts.get(part);
  return image && openImage(image);
}

function diffTable(table: string, before: OpenImage | undefined, after: OpenImage | undefined): TableDiff {
  const [old, now] = [rowsByKey(table, before), rowsByKey(table, after)];
  let [added, changed] = [0, 0];
  for (const [key, row] of now) {
    const was = old.get(key);
    if (was === undefined) added += 1;
    else if (was !== row) changed += 1;
  }
  const removed = [...old.keys()].filter((key) => !now.has(key)).length;
  return { table, added, removed, changed };
}

/** Each row as text, by the text of its key; a table without a key has whole rows as keys. */
function rowsByKey(table: string, store: OpenImage | undefined): Map<string, string> {
  if (!store?.tables().includes(table)) return new Map();
  const keys = store.columns(table).flatMap(({ name, isKey }) => (isKey ? [name] : []));
  return new Map(
    store.all(`select * from ${quoted(table)}`).map((row) => {
      const whole = textOf(Object.values(row));
      return [keys.length === 0 ? whole : textOf(keys.map((key) => row[key])), whole];
    }),
  );
}

const textOf = (values: unknown[]) =>
  JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/** How much more each user has been promised: the sum of the rewards that did not fail. */
function diffUsers(before: OpenImage | undefined, after: OpenImage | undefined): SnapshotDiff['users'] {
  const [old, now] = [promised(before), promised(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((user) => ({ user, rwt: (now.get(user) ?? 0) - (old.get(user) ?? 0) }))
    .filter(({ rwt }) => rwt !== 0)
    .sort((one, other) => Math.abs(other.rwt) - Math.abs(one.rwt));
}

function promised(store: OpenImage | undefined): Map<string, number> {
  if (!store?.tables().includes('rewards')) return new Map();
  const rows = store.all(
    'select coalesce(user_email, user_key) as user, sum(amount) as rwt from rewards where failure is null group by 1',
  );
  return new Map(rows.map(({ user, rwt }: Row) => [String(user), Number(rwt)]));
}

function tableLines({ table, added, removed, changed }: TableDiff): string[] {
  const noun = NOUNS[table];
  if (!noun) return [];
  const of = (count: number) => plural(count, noun);
  return [
    ...(added > 0 ? [`+${added} ${of(added)}`] : []),
    ...(removed > 0 ? [`-${removed} ${of(removed)}`] : []),
    ...(changed > 0 ? [`${changed} ${of(changed)} changed`] : []),
  ];
}

const plural = (count: number, [one, many]: readonly [string, string]) => (count === 1 ? one : many);
const signed = (value: number) => (value > 0 ? `+${value}` : String(value));
