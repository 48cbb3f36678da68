/** One ledger for many runs: production's schema and queries on SQLite in memory, emptied between runs, with a log of its own. */
import { saveBrand, saveEventRule } from '../../../src/ledger/brands/brands.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import type { RunStatement } from '../../../src/ledger/database/prepared-query.ts';
import { openSqlite, sqliteQueries } from '../../../src/ledger/database/sqlite.ts';
import { addPerk } from '../../../src/ledger/perks/perks.ts';
import { gasWallets } from '../../../src/ledger/schema/relay.ts';
import { pregeneratedUsers } from '../../../src/ledger/schema/wallets.ts';
import { addEndpoint } from '../../../src/ledger/webhooks/endpoints.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { BrandId, EventRule } from '../../../src/rules/brands/brand.ts';
import { GAS_WALLETS, PERK, USERS } from './model/accounts.ts';

/** What runs the statements of each set of queries. */
const runners = new WeakMap<Queries, RunStatement>();

function queriesOn(run: RunStatement): Queries {
  const queries = sqliteQueries(run);
  runners.set(queries, run);
  return queries;
}

function runnerOf(queries: Queries): RunStatement {
  const run = runners.get(queries);
  if (!run) throw new Error('these queries are not of the simulation');
  return run;
}

/** The same queries, with every statement going through what `around` makes of the original. */
export const intercept = (queries: Queries, around: (run: RunStatement) => RunStatement): Queries =>
  queriesOn(around(runnerOf(queries)));

export const BRANDS: BrandId[] = [
  '0x00000000000000000000000000000000000b0a01',
  '0x00000000000000000000000000000000000b0a02',
];

const rule = (eventType: string, limits: Partial<EventRule>): Omit<EventRule, 'brandId'> => ({
  eventType,
  active: true,
  rewardAmount: 10,
  maxClaims: -1,
  maxTotalClaims: -1,
  cooldownMs: 0,
  detail: { eventId: eventType, isCustom: false, detectionMethod: 'api', detectionConfig: {} },
  ...limits,
});

/** Events of each kind of limit. */
export const RULES = [
  rule('free', {}),
  rule('once', { maxClaims: 1, rewardAmount: 25 }),
  rule('daily', { cooldownMs: 300_000, rewardAmount: 7 }),
  rule('rare', { maxTotalClaims: 2, rewardAmount: 40 }),
  rule('twice', { maxClaims: 2, cooldownMs: 90_000 }),
];

/** In an order in which they may be emptied; in the other, a copy may be put back. */
const EMPTIED = [
  'sim_bindings',
  'sim_grants',
  'sim_leases',
  'sim_admissions',
  'sim_relay_bindings',
  'sim_mint_bindings',
  'sim_redemption_bindings',
  'sim_webhook_leases',
  'sim_webhook_attempts',
  'recoveries',
  'recovered_rows',
  'accepted_nonces',
  'operator_mints',
  'checkout_sessions',
  'leaderboard_scores',
  'leaderboard_users',
  'leaderboard_reports',
  'leaderboard_ranks',
  'leaderboards',
  'user_activity',
  'achievement_progress',
  'brand_spending',
  'once_claims',
  'attempts',
  'transactions',
  'rewards',
  'wallets',
  'counters',
  'claim_counters',
  'claim_totals',
  'brand_funds',
  'movements',
  'lanes',
  'followed_blocks',
  'idempotency_keys',
  'relays',
  'gas_budgets',
  'gas_shares',
  'gas_top_ups',
  'rate_windows',
  'mints',
  'redemptions',
  'redeemers',
  'webhook_deliveries',
  'webhook_events',
  'webhook_attempts',
  'feed_take_backs',
  'consumer_set_aside',
];

/** What is lost with the last commits, and comes back with a copy. */
const COPIED = [...EMPTIED, 'consumer_positions'];

/**
 * Kept by the database itself: every time a reward, mint, redemption, call or permit leaves a transaction, and how a reward's stood then; when
 * rewards were granted, calls admitted, leases taken or renewed, whatever a process takes the time for; and what was
 * charged to payers and users when a call was admitted.
 */
const WATCH = `
create table sim_bindings (sequence integer not null, left_id text not null, status text, outcome text);
create trigger sim_watch_bindings after update of transaction_id on rewards
when old.transaction_id is not null and new.transaction_id is not old.transaction_id
begin
  insert into sim_bindings
  select old.sequence, old.transaction_id, t.status, t.outcome from (select 1)
  left join transactions t on t.id = old.transaction_id;
end;
create table sim_grants (sequence integer not null, at_ms integer not null);
create trigger sim_watch_grants after insert on rewards
begin
  insert into sim_grants values (new.sequence, now_ms());
end;
create table sim_leases (address text not null, owner text not null, at_ms integer not null,
  until_ms integer not null);
create trigger sim_watch_first_leases after insert on lanes
begin
  insert into sim_leases values (new.address, new.owner, now_ms(), new.lease_until);
end;
create trigger sim_watch_leases after update of lease_until on lanes
begin
  insert into sim_leases values (new.address, new.owner, now_ms(), new.lease_until);
end;
create table sim_admissions (position integer not null, at_ms integer not null,
  payer_gwei integer not null, share_gwei integer not null);
create trigger sim_watch_admissions after insert on relays
begin
  insert into sim_admissions
  select new.position, now_ms(), sum(charged_gwei),
    sum(case when user_address = new.user_address then charged_gwei else 0 end)
  from relays where payer = new.payer and budget_day = new.budget_day;
end;
create table sim_relay_bindings (position integer not null, left_id text not null);
create trigger sim_watch_calls after update of transaction_id on relays
when old.transaction_id is not null and new.transaction_id is not old.transaction_id
begin
  insert into sim_relay_bindings values (old.position, old.transaction_id);
end;
create trigger sim_watch_permits after update of permit_transaction_id on relays
when old.permit_transaction_id is not null and new.permit_transaction_id is not old.permit_transaction_id
begin
  insert into sim_relay_bindings values (old.position, old.permit_transaction_id);
end;
create table sim_mint_bindings (session_id text not null, status text, outcome text);
create trigger sim_watch_mints after update of transaction_id on mints
when old.transaction_id is not null and new.transaction_id is not old.transaction_id
begin
  insert into sim_mint_bindings
  select old.session_id, t.status, t.outcome from (select 1)
  left join transactions t on t.id = old.transaction_id;
end;
create table sim_redemption_bindings (id text not null, left_id text not null);
create trigger sim_watch_redemptions after update of transaction_id on redemptions
when old.transaction_id is not null and new.transaction_id is not old.transaction_id
begin
  insert into sim_redemption_bindings values (old.id, old.transaction_id);
end;
create table sim_webhook_leases (event_id text not null, at_ms integer not null, due integer not null,
  lease_until integer not null);
create trigger sim_watch_webhook_leases after update of lease on webhook_deliveries
when new.lease is not null and new.lease is not old.lease
begin
  insert into sim_webhook_leases values (new.event_id, now_ms(), old.next_attempt_at, old.lease_until);
end;
create table sim_webhook_attempts (event_id text not null, at_ms integer not null, due integer not null,
  tries integer not null);
create trigger sim_watch_webhook_attempts after update of tries on webhook_deliveries
when new.tries > old.tries and new.state = 'waiting'
begin
  insert into sim_webhook_attempts values (new.event_id, now_ms(), new.next_attempt_at, new.tries);
end;`;

/** Runs one statement among these queries. */
export const execute = (queries: Queries, text: string, ...params: unknown[]) =>
  runnerOf(queries)(text, params, 'execute');

/** The rows of every table that changes, as they were at one moment. */
export interface LedgerCopy {
  atMs: number;
  tables: ReadonlyMap<string, Record<string, unknown>[]>;
}

export interface SimLedger {
  database: Database;
  copy(): Promise<LedgerCopy>;
  /** Goes back to a copy: what was committed since is gone. */
  restore(copy: LedgerCopy): Promise<void>;
  /** Rows of a query, outside any commit. */
  rows<Row>(text: string, ...params: unknown[]): Promise<Row[]>;
  reset(): Promise<void>;
}

async function fill(tx: Queries, table: string, rows: Record<string, unknown>[]): Promise<void> {
  for (const row of rows) {
    const columns = Object.keys(row).map((name) => `"${name}"`);
    const text = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
    await execute(tx, text, ...Object.values(row));
  }
}

/** `ddl` changes the schema, for planted bugs that a constraint would stop. */
export async function openSimLedger(clock: Pick<Clock, 'now'>, ddl = ''): Promise<SimLedger> {
  const database = openSqlite(':memory:', { queriesOn, clock });
  await migrate(database);
  await database.script(WATCH + ddl);
  for (const [place, brandId] of BRANDS.entries()) {
    await saveBrand(database.db, {
      brandId,
      name: `Brand ${place}`,
      automation: true,
      profile: {
        domains: [`shop-${place}.example`],
        platforms: {},
        clientBypass: 'credential',
        // A brand asks for redemptions with its key or without; only what it paid itself may be collected then.
        redemptions: 'open',
        mintTo: 'wallet',
      },
      verificationSecret: 'none',
      createdAt: 0,
    });
    for (const [position, one] of RULES.entries())
      await saveEventRule(database.db, { ...one, brandId, position });
  }
  await addEndpoint(database.db, {
    id: 'endpoint',
    brandId: BRANDS[0] as BrandId,
    url: 'https://shop-0.example/told',
    types: [],
    isDefault: true,
    secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    createdAt: 0,
  });
  for (const wallet of GAS_WALLETS)
    await database.db.insert(gasWallets).values({ ...wallet, ready: true, createdAt: 0 });
  await addPerk(database.db, {
    ...PERK,
    name: 'Perk',
    description: '',
    category: 'digital',
    stock: -1,
    image: null,
    metadata: {},
    active: true,
    constraints: [],
    createdAt: 0,
  });
  // The brand with a wallet of its own knows one user.
  await database.db
    .insert(pregeneratedUsers)
    .values({ brandId: BRANDS[0] as BrandId, userKey: USERS[0] as string });
  // The queries of a commit see what is there without asking who else is at it.
  const inside = await database.atomically(async (tx) => tx);
  const empty = EMPTIED.map((table) => `delete from ${table};`).join('');
  const rows = async <Row>(text: string, ...params: unknown[]) =>
    (await execute(inside, text, ...params)).rows as Row[];
  return {
    database,
    rows,
    async copy() {
      const tables = new Map<string, Record<string, unknown>[]>();
      for (const table of COPIED) tables.set(table, await rows(`select * from ${table} order by rowid`));
      return { atMs: clock.now(), tables };
    },
    restore: ({ tables }) =>
      database.atomically(async (tx) => {
        for (const table of COPIED) await execute(tx, `delete from ${table}`);
        for (const table of [...COPIED].reverse()) {
          // Triggers have filled it meanwhile.
          if (table.startsWith('sim_')) await execute(tx, `delete from ${table}`);
          await fill(tx, table, tables.get(table) ?? []);
        }
      }),
    reset: () =>
      database.script(
        `${empty} update webhook_endpoints set failing_since = null, last_failed_at = null, paused_until = 0;
         update consumer_positions set position = 0;`,
      ),
  };
}
