/** What a brand has paid a user, and what of that is spent: sums over what was paid and collected, made when they are asked for. */
import { and, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Grant } from '../../rules/perks/consent.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { redemptions } from '../schema/engagement/perks.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

/** Lower case, or as checksums spell it. */
const lowered = (column: typeof rewards.wallet | typeof redemptions.wallet) => sql<string>`lower(${column})`;

/**
 * What a brand has paid a wallet and what of it is spent. `userKeys`: under which the ledger knows the wallet's user; rewards
 * are found by them, so that payouts keep no sums.
 */
export async function readGrant(
  db: Queries,
  of: { brandId: BrandId; wallet: Hex; userKeys: readonly string[] },
): Promise<Grant> {
  const { brandId, wallet, userKeys } = of;
  const [paid] = await db
    .select({ sum: sql<number>`coalesce(sum(${rewards.amount}), 0)`.mapWith(Number) })
    .from(rewards)
    .innerJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(
      and(
        inArray(rewards.userKey, [...userKeys]),
        eq(rewards.brandId, brandId),
        eq(lowered(rewards.wallet), wallet),
        isNull(rewards.failure),
        inArray(transactions.status, ['included', 'final']),
        eq(transactions.outcome, 'done'),
      ),
    );
  const spent = (isCounted: ReturnType<typeof sql>) =>
    sql<number>`coalesce(sum(case when ${isCounted} then ${redemptions.cost} else 0 end), 0)`.mapWith(Number);
  const [collected] = await db
    .select({
      here: spent(sql`${redemptions.brandId} = ${brandId}`),
      elsewhere: spent(
        sql`${redemptions.brandId} <> ${brandId} and ${redemptions.consent} in ('token', 'permit', 'unknown')`,
      ),
    })
    .from(redemptions)
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        eq(redemptions.wallet, wallet),
        isNull(redemptions.failure),
        // What a block shows without effect has taken nothing.
        or(isNull(transactions.outcome), eq(transactions.outcome, 'done')),
      ),
    );
  return {
    paid: paid?.sum ?? 0,
    collected: collected?.here ?? 0,
    spentElsewhere: collected?.elsewhere ?? 0,
  };
}

/** What brands have paid these wallets or are paying them, by `<wallet> <brand>`; `userKeys`: of all the wallets' users. */
export async function paidByBrands(
  db: Queries,
  of: { wallets: readonly Hex[]; userKeys: readonly string[] },
): Promise<Map<string, number>> {
  const wanted = new Set<string>(of.wallets);
  const paid = new Map<string, number>();
  const rows = await inChunks([...of.userKeys], (some) =>
    db
      .select({
        wallet: lowered(rewards.wallet),
        brandId: rewards.brandId,
        sum: sql<number>`sum(${rewards.amount})`.mapWith(Number),
      })
      .from(rewards)
      .where(
        and(
          inArray(rewards.userKey, some),
          isNull(rewards.failure),
          // A payout whose block the chain took back is sent again.
          isNotNull(rewards.transactionId),
        ),
      )
      .groupBy(lowered(rewards.wallet), rewards.brandId, rewards.userKey),
  );
  for (const { wallet, brandId, sum } of rows) {
    const key = `${wallet} ${brandId}`;
    if (wanted.has(wallet)) paid.set(key, (paid.get(key) ?? 0) + sum);
  }
  return paid;
}
