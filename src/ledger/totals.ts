/** What a ledger holds of everything that requests bring about, in numbers: the difference of two is what happened in between. */
import { sql } from 'drizzle-orm';
import type { Queries } from './database/database.ts';
import { redemptions } from './schema/engagement/perks.ts';
import { checkoutSessions, mints, operatorMints } from './schema/payments.ts';
import { relays } from './schema/relay.ts';
import { rewards } from './schema/rewards.ts';
import { wallets } from './schema/wallets.ts';
import { webhookEvents } from './schema/webhooks.ts';

/** Counts of rows; RWT in whole tokens. */
export interface Totals {
  rewards: number;
  /** RWT of all rewards, paid or on their way. */
  rwtRewarded: number;
  /** Of payments and by hand. */
  mints: number;
  rwtMinted: number;
  relays: number;
  redemptions: number;
  checkouts: number;
  wallets: number;
  /** Events that endpoints are told of. */
  webhooks: number;
}

type AnyTable = Parameters<ReturnType<Queries['select']>['from']>[0];

/** Counts whole tables: for a ledger of a developer, not of a business. */
export async function readTotals(db: Queries): Promise<Totals> {
  const count = async (table: AnyTable, added = sql`0`) => {
    const [row] = await db
      .select({
        rows: sql<number>`count(*)`.mapWith(Number),
        sum: sql<number>`coalesce(sum(${added}), 0)`.mapWith(Number),
      })
      .from(table);
    return row ?? { rows: 0, sum: 0 };
  };
  const rewarded = await count(rewards, sql`${rewards.amount}`);
  const paid = await count(mints, sql`${mints.rwtAmount}`);
  const byHand = await count(operatorMints, sql`${operatorMints.amount}`);
  return {
    rewards: rewarded.rows,
    rwtRewarded: rewarded.sum,
    mints: paid.rows + byHand.rows,
    rwtMinted: paid.sum + byHand.sum,
    relays: (await count(relays)).rows,
    redemptions: (await count(redemptions)).rows,
    checkouts: (await count(checkoutSessions)).rows,
    wallets: (await count(wallets)).rows,
    webhooks: (await count(webhookEvents)).rows,
  };
}
