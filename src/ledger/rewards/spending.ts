/** What brands' events have earned in the present hour and day: the database itself refuses what is over a limit. */
import { and, eq, gt, inArray, lte, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import {
  SPAN_MS,
  type SpendLimit,
  type SpendSpan,
  type SpendWindow,
} from '../../rules/events/spend-limit.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brandSpending } from '../schema/rewards.ts';

/** How far these brands have used up their limits. */
export async function readSpending(
  tx: Queries,
  of: { brands: { brandId: BrandId; limits: SpendLimit[] }[]; nowMs: number },
): Promise<Map<BrandId, SpendWindow[]>> {
  const { nowMs } = of;
  const limited = of.brands.filter(({ limits }) => limits.length > 0);
  if (limited.length === 0) return new Map();
  const brandIds = limited.map(({ brandId }) => brandId);
  const rows = await windowsOf(tx, { brandIds });
  return new Map(
    limited.map(({ brandId, limits }) => [
      brandId,
      limits.map(({ span, limit }): SpendWindow => {
        const row = rows.find((one) => one.brandId === brandId && one.span === span);
        const holds = row && row.startedAt > nowMs - SPAN_MS[span] && row.startedAt <= nowMs + SPAN_MS[span];
        const startedAt = holds ? row.startedAt : nowMs;
        return { span, limit, spent: holds ? row.spent : 0, endsAtMs: startedAt + SPAN_MS[span] };
      }),
    ]),
  );
}

const windowsOf = preparedQuery((db, of: Of<{ brandIds: BrandId[] }>) =>
  db.select().from(brandSpending).where(isOneOf(brandSpending.brandId, of.brandIds)),
);

/** Counts `amount` in a brand's window, unless that would exceed the limit: then false, and nothing is counted. */
export async function takeSpending(
  tx: Queries,
  wish: SpendLimit & { brandId: BrandId; amount: number; nowMs: number },
): Promise<boolean> {
  const { brandId, span, limit, amount, nowMs } = wish;
  if (amount > limit) return false;
  const counted = await countSpent(tx, {
    brandId,
    span,
    amount,
    nowMs,
    spentBefore: limit - amount,
    endedBy: nowMs - SPAN_MS[span],
    beginsAfter: nowMs + SPAN_MS[span],
  });
  return counted.length === 1;
}

interface Spent {
  brandId: BrandId;
  span: SpendSpan;
  amount: number;
  nowMs: number;
  /** What a window may have counted already. */
  spentBefore: number;
  /** A window that began by then is over … */
  endedBy: number;
  /** … and so is one that begins after this, which a clock that was set back has left. */
  beginsAfter: number;
}

const countSpent = preparedQuery((db, of: Of<Spent>) => {
  const { startedAt, spent } = brandSpending;
  const over = or(lte(startedAt, of.endedBy), gt(startedAt, of.beginsAfter));
  return db
    .insert(brandSpending)
    .values({ brandId: of.brandId, span: of.span, startedAt: of.nowMs, spent: of.amount })
    .onConflictDoUpdate({
      target: [brandSpending.brandId, brandSpending.span],
      set: {
        spent: sql`case when ${over} then excluded.spent else ${spent} + excluded.spent end`,
        startedAt: sql`case when ${over} then excluded.started_at else ${startedAt} end`,
      },
      setWhere: or(over, lte(spent, of.spentBefore)),
    })
    .returning({ spent });
});

/** Takes a reward that gave its claim back out of the windows in which it was counted. */
export async function giveBackSpending(
  tx: Queries,
  reward: { brandId: BrandId; amount: number; createdAt: number },
): Promise<void> {
  const { brandId, amount, createdAt } = reward;
  const { startedAt, spent } = brandSpending;
  // A window that began after the reward never counted it.
  await tx
    .update(brandSpending)
    .set({ spent: sql`${spent} - ${amount}` })
    .where(and(eq(brandSpending.brandId, brandId), lte(startedAt, createdAt)));
}

/** Ends the windows of limits that a brand no longer has, so that a limit that is set again counts from then on. */
export async function forgetSpending(
  tx: Queries,
  brand: { brandId: BrandId; limits: SpendLimit[] },
): Promise<void> {
  const gone = (Object.keys(SPAN_MS) as SpendSpan[]).filter(
    (span) => !brand.limits.some((one) => one.span === span),
  );
  await tx
    .delete(brandSpending)
    .where(and(eq(brandSpending.brandId, brand.brandId), inArray(brandSpending.span, gone)));
}
