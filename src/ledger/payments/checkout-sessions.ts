/** Checkouts: planned here before the processor is asked, so many of a buyer at once, then what the processor said of them last. */
import { and, asc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { takeFromWindows } from '../limits/rate-windows.ts';
import { checkoutSessions } from '../schema/payments.ts';

export type CheckoutSession = typeof checkoutSessions.$inferSelect;

/** What is known before the processor is asked. Cents, whole RWT, milliseconds since 1970. */
export type CheckoutPlan = Pick<
  CheckoutSession,
  | 'id'
  | 'brandId'
  | 'userEmail'
  | 'wallet'
  | 'amountCents'
  | 'currency'
  | 'rwtAmount'
  | 'mintTo'
  | 'livemode'
  | 'createdAt'
  | 'expiresAt'
  | 'nextLookAt'
> & { openedFrom?: string | null };

/**
 * Plans a checkout in state `creating`; a plan of the same `id` that is there already stays as it is. Returns the row
 * that counts from now on, and whether this call wrote it.
 */
export async function planCheckout(
  tx: Queries,
  plan: CheckoutPlan,
): Promise<{ session: CheckoutSession; isNew: boolean }> {
  const [written] = await tx
    .insert(checkoutSessions)
    .values({ ...plan, state: 'creating', refundedCents: 0 })
    .onConflictDoNothing()
    .returning();
  const session = written ?? (await findPlannedCheckout(tx, plan.id));
  if (!session) throw new Error(`the checkout ${plan.id} could not be kept`);
  return { session, isNew: written !== undefined };
}

/** A checkout by our own id. */
export async function findPlannedCheckout(db: Queries, id: string): Promise<CheckoutSession | undefined> {
  const [row] = await db.select().from(checkoutSessions).where(eq(checkoutSessions.id, id));
  return row;
}

/** The processor made no session of a plan, and will not: nobody looks for one. A plan that has a session stays as it is. */
export async function closeRefusedPlan(db: Queries, id: string): Promise<void> {
  await db
    .update(checkoutSessions)
    .set({ state: 'refused', nextLookAt: null, openedFrom: null })
    .where(and(eq(checkoutSessions.id, id), isNull(checkoutSessions.processorSessionId)));
}

/**
 * Notes the processor's session of a planned checkout, which is `open` from then on; a later state stays. Attaching the
 * same session again changes nothing that matters. False when there is no such plan, or it has another session.
 */
export async function attachSession(
  db: Queries,
  attached: Pick<CheckoutSession, 'id' | 'url' | 'expiresAt' | 'paymentStatus' | 'nextLookAt'> & {
    processorSessionId: string;
  },
): Promise<boolean> {
  const { id, processorSessionId, ...said } = attached;
  const rows = await db
    .update(checkoutSessions)
    .set({
      ...said,
      processorSessionId,
      state: sql`case when ${checkoutSessions.state} in ('creating', 'refused') then 'open' else ${checkoutSessions.state} end`,
    })
    .where(
      and(
        eq(checkoutSessions.id, id),
        or(
          isNull(checkoutSessions.processorSessionId),
          eq(checkoutSessions.processorSessionId, processorSessionId),
        ),
      ),
    )
    .returning({ id: checkoutSessions.id });
  return rows.length === 1;
}

/** A checkout by the processor's id of its session; undefined for every session that was not planned here. */
export async function findCheckout(
  db: Queries,
  processorSessionId: string,
): Promise<CheckoutSession | undefined> {
  const [row] = await db
    .select()
    .from(checkoutSessions)
    .where(eq(checkoutSessions.processorSessionId, processorSessionId));
  return row;
}

/** A checkout by the processor's id of its payment; undefined before its payment was noted. */
export async function findCheckoutByPayment(
  db: Queries,
  paymentIntentId: string,
): Promise<CheckoutSession | undefined> {
  const [row] = await db
    .select()
    .from(checkoutSessions)
    .where(eq(checkoutSessions.paymentIntentId, paymentIntentId));
  return row;
}

/**
 * Notes what the processor says of a session; one that is paid or over is not looked at again. A checkout that was `paid` once stays so, whatever comes late; a payment
 * that is known is not forgotten. False when there is no such checkout.
 */
export async function noteCheckout(
  db: Queries,
  said: {
    processorSessionId: string;
    state: 'open' | 'paid' | 'expired';
    paymentStatus: string;
    paymentIntentId: string | null;
  },
): Promise<boolean> {
  const { processorSessionId, state, paymentIntentId, ...rest } = said;
  const isSame = eq(checkoutSessions.processorSessionId, processorSessionId);
  const unpaid = inArray(checkoutSessions.state, ['creating', 'open', 'expired']);
  const rows = await db
    .update(checkoutSessions)
    .set({
      ...rest,
      state,
      ...(paymentIntentId !== null && { paymentIntentId }),
      ...(state !== 'open' && { nextLookAt: null, openedFrom: null }),
    })
    .where(and(isSame, state === 'paid' ? undefined : unpaid))
    .returning({ id: checkoutSessions.id });
  return rows.length === 1 || (await findCheckout(db, processorSessionId)) !== undefined;
}

/** Whether there has ever been a checkout. */
export async function hasCheckouts(db: Queries): Promise<boolean> {
  const rows = await db.select({ id: checkoutSessions.id }).from(checkoutSessions).limit(1);
  return rows.length > 0;
}

/**
 * Notes how much of a payment was given back in all; an older and smaller sum that comes late changes nothing.
 * Undefined when the payment is not known (yet): an event that says so is not worked off, so that it comes again.
 */
export async function recordRefund(
  tx: Queries,
  refund: { paymentIntentId: string; refundedCents: number },
): Promise<CheckoutSession | undefined> {
  const { refundedCents } = checkoutSessions;
  const [row] = await tx
    .update(checkoutSessions)
    .set({
      refundedCents: sql`case when ${refundedCents} > ${refund.refundedCents} then ${refundedCents} else ${refund.refundedCents} end`,
    })
    .where(eq(checkoutSessions.paymentIntentId, refund.paymentIntentId))
    .returning();
  return row;
}

/** Notes that the payer disputes a payment; the first moment stays. Undefined as for a refund. */
export async function recordDispute(
  tx: Queries,
  dispute: { paymentIntentId: string; disputedAt: number },
): Promise<CheckoutSession | undefined> {
  const [row] = await tx
    .update(checkoutSessions)
    .set({ disputedAt: sql`coalesce(${checkoutSessions.disputedAt}, ${dispute.disputedAt})` })
    .where(eq(checkoutSessions.paymentIntentId, dispute.paymentIntentId))
    .returning();
  return row;
}

/** How many checkouts callers without a key have open: counted in the commit that opens one more, exactly. */
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
