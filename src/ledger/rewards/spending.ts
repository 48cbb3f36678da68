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
import { brandSpending } from '../schema/rewards.ts';

/** A clock that was set back by more than a window leaves one that begins in the future: it is over as well. */
const isOver = ({ span, nowMs }: { span: SpendSpan; nowMs: number }) =>
  or(lte(brandSpending.startedAt, nowMs - SPAN_MS[span]), gt(brandSpending.startedAt, nowMs + SPAN_MS[span]));

/** How far these brands have used up their limits. */
export async function readSpending(
  tx: Queries,
  of: { brands: { brandId: BrandId; limits: SpendLimit[] }[]; nowMs: number },
): Promise<Map<BrandId, SpendWindow[]>> {
  const { nowMs } = of;
  const limited = of.brands.filter(({ limits }) => limits.length > 0);
  if (limited.length === 0) return new Map();
  const brandIds = limited.map(({ brandId }) => brandId);
  const rows = await tx.select().from(brandSpending).where(inArray(brandSpending.brandId, brandIds));
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

/** Counts `amount` in a brand's window, unless that would exceed the limit: then false, and nothing is counted. */
export async function takeSpending(
  tx: Queries,
  wish: SpendLimit & { brandId: BrandId; amount: number; nowMs: number },
): Promise<boolean> {
  const { brandId, span, limit, amount, nowMs } = wish;
  if (amount > limit) return false;
  const over = isOver(wish);
  const { startedAt, spent } = brandSpending;
  const counted = await tx
    .insert(brandSpending)
    .values({ brandId, span, startedAt: nowMs, spent: amount })
    .onConflictDoUpdate({
      target: [brandSpending.brandId, brandSpending.span],
      set: {
        spent: sql`case when ${over} then ${amount} else ${spent} + ${amount} end`,
        startedAt: sql`case when ${over} then ${nowMs} else ${startedAt} end`,
      },
      setWhere: or(over, lte(spent, limit - amount)),
    })
    .returning({ spent });
  return counted.length === 1;
}

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
