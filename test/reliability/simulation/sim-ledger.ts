/** One ledger for many runs: production's schema and queries on SQLite in memory, emptied between runs, with a log of its own. */
import { saveBrand, saveEventRule } from '../../../src/ledger/brands/brands.ts';
import type { Database, Queries } from '../../../src/ledger/database/database.ts';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import type { BrandId, EventRule } from '../../../src/rules/brands/brand.ts';

/** Runs one statement of SQL, as drizzle's driver does it. */
export type Execute = (
  text: string,
  params: unknown[],
  method: 'all' | 'execute',
) => Promise<{ rows: unknown[] }>;

interface Session {
  client: Execute;
}

/** The same queries, with every statement going through `execute`, which gets the original to call on. */
export function intercept(queries: Queries, execute: (run: Execute) => Execute): Queries {
  const { session } = queries as unknown as { session: Session };
  const client = execute(session.client.bind(session));
  const intercepted = Object.assign(Object.create(session) as Session, { client });
  return Object.assign(Object.create(queries) as Queries, { session: intercepted });
}

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

const EMPTIED = [
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
  'sim_bindings',
];

/** Kept by the database itself: every time a reward leaves a transaction, and how that transaction stood then. */
const WATCH = `
create table sim_bindings (sequence integer not null, left_id text not null, status text, outcome text);
create trigger sim_watch_bindings after update of transaction_id on rewards
when old.transaction_id is not null and new.transaction_id is not old.transaction_id
begin
  insert into sim_bindings
  select old.sequence, old.transaction_id, t.status, t.outcome from (select 1)
  left join transactions t on t.id = old.transaction_id;
end;`;

/** Runs one statement among these queries. */
export const execute = (queries: Queries, text: string, ...params: unknown[]) =>
  (queries as unknown as { session: Session }).session.client(text, params, 'execute');

export interface SimLedger {
  database: Database;
  /** Rows of a query, outside any commit. */
  rows<Row>(text: string, ...params: unknown[]): Promise<Row[]>;
  reset(): Promise<void>;
}

/** `ddl` changes the schema, for planted bugs that a constraint would stop. */
export async function openSimLedger(ddl = ''): Promise<SimLedger> {
  const database = openSqlite(':memory:');
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
        mintTo: 'wallet',
      },
      verificationSecret: 'none',
      createdAt: 0,
    });
    for (const [position, one] of RULES.entries())
      await saveEventRule(database.db, { ...one, brandId, position });
  }
  // The queries of a commit see what is there without asking who else is at it.
  const { session } = await database.atomically(async (tx) => tx as unknown as { session: Session });
  const empty = EMPTIED.map((table) => `delete from ${table};`).join('');
  return {
    database,
    rows: async <Row>(text: string, ...params: unknown[]) =>
      (await session.client(text, params, 'execute')).rows as Row[],
    reset: () => database.script(empty),
  };
}
