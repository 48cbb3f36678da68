/** How many checkouts callers without a key have open: counted in the commit that opens one more, exactly. */
import { and, asc, eq, gt, isNotNull } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { takeFromWindows } from '../limits/rate-windows.ts';
import { checkoutSessions } from '../schema/payments.ts';

export interface OpenCheckoutLimits {
  /** Open checkouts of one address. */
  ofAddress: number;
  /** Open checkouts of one brand, of all such callers together. */
  ofBrand: number;
}

/** Which of the limits is reached, and when the first of the checkouts that it counts is over. */
export interface TooManyOpen {
  whose: 'address' | 'brand';
  limit: number;
  resetAtMs: number;
}

/** Uses of windows that are never used up: their rows are locked, so that those who open checkouts are counted in turn. */
const TURNSTILE = { scope: 'open checkouts', limit: Number.MAX_SAFE_INTEGER, windowMs: 60_000 };

/** Undefined where one more may be opened in this commit. */
export async function tooManyOpen(
  tx: Queries,
  of: { brandId: BrandId; openedFrom: string; now: SqlTime; nowMs: number; limits: OpenCheckoutLimits },
): Promise<TooManyOpen | undefined> {
  await takeFromWindows(tx, { ...TURNSTILE, now: of.now }, [
    `address ${of.openedFrom}`,
    `brand ${of.brandId}`,
  ]);
  const isOpen = gt(checkoutSessions.expiresAt, of.nowMs);
  const counted = [
    {
      whose: 'address' as const,
      limit: of.limits.ofAddress,
      where: and(eq(checkoutSessions.openedFrom, of.openedFrom), isOpen),
    },
    {
      whose: 'brand' as const,
      limit: of.limits.ofBrand,
      where: and(eq(checkoutSessions.brandId, of.brandId), isNotNull(checkoutSessions.openedFrom), isOpen),
    },
  ];
  for (const { whose, limit, where } of counted) {
    const open = await tx
      .select({ expiresAt: checkoutSessions.expiresAt })
      .from(checkoutSessions)
      .where(where)
      .orderBy(asc(checkoutSessions.expiresAt))
      .limit(limit);
    const [first] = open;
    if (first && open.length >= limit) return { whose, limit, resetAtMs: first.expiresAt };
  }
  return undefined;
}
