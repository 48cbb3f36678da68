/** Reads a service's ledger from outside with statements of its own, on a connection of its own. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import pg from 'pg';

export interface RewardRow {
  sequence: number;
  id: string;
  wallet: string;
  amount: number;
  userKey: string;
  transactionId: string | null;
  failure: string | null;
  releasedAt: number | null;
}

export interface AttemptRow {
  hash: string;
  transactionId: string;
  nonce: number;
  kind: 'payload' | 'noop';
  status: string;
  outcome: string | null;
  createdAt: number;
}

export interface WebhookRow {
  eventId: string;
  endpointId: string;
  type: string;
  subject: string;
  state: string;
  tries: number;
  url: string;
}

/** Of a webhook that was not taken. */
export interface FailedAttemptRow {
  eventId: string;
  endpointId: string;
  at: number;
  ms: number;
  status: number | null;
  why: string | null;
}

export interface LedgerReader {
  /** Whether committed rows hold these signed bytes. */
  hasAttempt(hash: string): Promise<boolean>;
  rewards(): Promise<RewardRow[]>;
  /** Signed bytes of rewards, mints and relayed calls. What the redeem lane signs is left out: it begins with the fixture's perks. */
  attempts(): Promise<AttemptRow[]>;
  funds(brandId: string): Promise<{ deposited: number; promised: number } | undefined>;
  /** What a payer's budgets, or its users' shares of them, count as promised or spent, over all days. */
  gas(of: { payer: string; userAddress?: string }): Promise<number>;
  /** Every delivery of a webhook, with the event that it tells of. */
  webhooks(): Promise<WebhookRow[]>;
  failedAttempts(): Promise<FailedAttemptRow[]>;
  /** Grants that a user's counter of an event shows. */
  claims(userKey: string): Promise<number>;
  close(): Promise<void>;
}

const REWARDS = `select sequence, id, wallet, amount, user_key as "userKey", transaction_id as "transactionId",
  failure, released_at as "releasedAt" from rewards order by sequence`;
const ATTEMPTS = `select a.hash, a.transaction_id as "transactionId", t.nonce, a.kind, t.status, t.outcome,
  a.created_at as "createdAt" from attempts a join transactions t on t.id = a.transaction_id
  where t.purpose <> 'redeem' order by t.nonce, a.attempt`;

const WEBHOOKS = `select e.id as "eventId", d.endpoint_id as "endpointId", e.type, e.subject, d.state, d.tries,
  p.url from webhook_events e join webhook_deliveries d on d.event_id = e.id
  join webhook_endpoints p on p.id = d.endpoint_id`;
const FAILED_ATTEMPTS = `select event_id as "eventId", endpoint_id as "endpointId", at, ms, status, why
  from webhook_attempts where status is null or status not between 200 and 299 order by at`;

/** Of a SQLite stack's data folder, or of a Postgres database. */
export function readLedger(where: { dataDir: string; databaseUrl?: string | undefined }): LedgerReader {
  const run = where.databaseUrl ? postgresRows(where.databaseUrl) : sqliteRows(where.dataDir);
  const numbers = (row: Record<string, unknown>, fields: string[]) => ({
    ...row,
    ...Object.fromEntries(fields.map((field) => [field, row[field] === null ? null : Number(row[field])])),
  });
  return {
    hasAttempt: async (hash) =>
      (await run.rows('select 1 as one from attempts where hash = ?', [hash])).length === 1,
    rewards: async () =>
      (await run.rows(REWARDS)).map(
        (row) => numbers(row, ['sequence', 'amount', 'releasedAt']) as unknown as RewardRow,
      ),
    attempts: async () =>
      (await run.rows(ATTEMPTS)).map((row) => numbers(row, ['nonce', 'createdAt']) as unknown as AttemptRow),
    async funds(brandId) {
      const [row] = await run.rows('select deposited, promised from brand_funds where brand_id = ?', [
        brandId,
      ]);
      return row && { deposited: Number(row.deposited), promised: Number(row.promised) };
    },
    async gas({ payer, userAddress }) {
      const [row] = userAddress
        ? await run.rows(
            'select sum(spent_gwei) as spent from gas_shares where payer = ? and user_address = ?',
            [payer, userAddress],
          )
        : await run.rows('select sum(spent_gwei) as spent from gas_budgets where payer = ?', [payer]);
      return Number(row?.spent ?? 0);
    },
    webhooks: async () => (await run.rows(WEBHOOKS)) as unknown as WebhookRow[],
    failedAttempts: async () =>
      (await run.rows(FAILED_ATTEMPTS)).map(
        (row) => numbers(row, ['at', 'ms', 'status']) as unknown as FailedAttemptRow,
      ),
    async claims(userKey) {
      const [row] = await run.rows('select sum(claims) as claims from claim_counters where user_key = ?', [
        userKey,
      ]);
      return Number(row?.claims ?? 0);
    },
    close: run.close,
  };
}

type Rows = Record<string, unknown>[];

function sqliteRows(dataDir: string) {
  const open = () => new SQLite(join(dataDir, 'ledger.sqlite'), { readonly: true, fileMustExist: true });
  let file: SQLite.Database | undefined;
  return {
    async rows(text: string, params: unknown[] = []): Promise<Rows> {
      file ??= open();
      return file.prepare(text).all(...params) as Rows;
    },
    async close() {
      file?.close();
    },
  };
}

function postgresRows(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  return {
    async rows(text: string, params: unknown[] = []): Promise<Rows> {
      let place = 0;
      const { rows } = await pool.query(
        text.replace(/\?/g, () => `$${++place}`),
        params,
      );
      return rows;
    },
    close: () => pool.end(),
  };
}
