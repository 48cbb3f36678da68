/** Mints, redemptions, relayed calls and top-ups that the chain or a pool has: bound where the ledger knows them, else written. */
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { type KeptPermit, redemptions } from '../schema/engagement/perks.ts';
import { checkoutSessions, type MintKind, mints, operatorMints } from '../schema/payments.ts';
import { type GasPayer, gasBudgets, gasShares, gasTopUps, gasWallets, relays } from '../schema/relay.ts';

/** Binds a mint that the ledger has under this key; false when it has none. */
export async function rebindMint(
  tx: Queries,
  { key, transactionId }: { key: Hex; transactionId: string },
): Promise<boolean> {
  const rows = [
    ...(await tx
      .update(mints)
      .set({ transactionId, failure: null })
      .where(eq(mints.key, key))
      .returning({ key: mints.key })),
    ...(await tx
      .update(operatorMints)
      .set({ transactionId, failure: null })
      .where(and(eq(operatorMints.key, key), sql`kind in ('wallet', 'escrow')`))
      .returning({ key: operatorMints.key })),
  ];
  return rows.length > 0;
}

/** Whether the ledger has anything under a mint's key, whoever was to send it. */
export async function isMintKnown(tx: Queries, key: Hex): Promise<boolean> {
  const paid = await tx.select({ key: mints.key }).from(mints).where(eq(mints.key, key));
  const byHand = await tx
    .select({ key: operatorMints.key })
    .from(operatorMints)
    .where(eq(operatorMints.key, key));
  return paid.length + byHand.length > 0;
}

/** Checkouts that the processor knows and that have no mint yet: one of them may be what a lost mint was for. */
export const sessionsWithoutMint = (tx: Queries) =>
  tx
    .select({ session: checkoutSessions })
    .from(checkoutSessions)
    .leftJoin(mints, eq(mints.sessionId, checkoutSessions.processorSessionId))
    .where(and(isNull(mints.key), sql`${checkoutSessions.processorSessionId} is not null`));

export type CheckoutSession = (typeof checkoutSessions)['$inferSelect'];

/** Writes the mint of a session that the ledger knows. */
export async function adoptSessionMint(
  tx: Queries,
  of: { session: CheckoutSession; key: Hex; kind: MintKind; transactionId: string; createdAt: number },
): Promise<void> {
  const { session, key, kind, transactionId, createdAt } = of;
  await tx.insert(mints).values({
    sessionId: session.processorSessionId ?? session.id,
    key,
    kind,
    brandId: session.brandId,
    wallet: session.wallet,
    usdCents: session.amountCents,
    rwtAmount: session.rwtAmount,
    paymentIntentId: session.paymentIntentId,
    createdAt,
    transactionId,
    failedTries: 0,
  });
}

/** Writes a mint of which nobody knows who asked for it. `sale`: another account sent it; nothing is to be done about it. */
export async function adoptMint(
  tx: Queries,
  mint: {
    key: Hex;
    kind: MintKind | 'sale' | 'direct';
    recipient: Hex;
    amount: number;
    reason: string;
    createdAt: number;
    transactionId: string | null;
  },
): Promise<void> {
  await tx.insert(operatorMints).values(mint).onConflictDoNothing();
}

/** Binds a redemption that the ledger has under this key; false when it has none. */
export async function rebindRedemption(
  tx: Queries,
  { key, transactionId }: { key: Hex; transactionId: string },
): Promise<boolean> {
  const rows = await tx
    .update(redemptions)
    .set({ transactionId, failure: null, settledAt: null })
    .where(eq(redemptions.key, key))
    .returning({ id: redemptions.id });
  return rows.length > 0;
}

/** Writes a redemption that was lost with its id and its code: it gets new ones. */
export async function adoptRedemption(
  tx: Queries,
  lost: {
    id: string;
    key: Hex;
    brandId: BrandId;
    perkId: string;
    tokenId: number;
    userKey: string;
    userEmail: string | null;
    wallet: Hex;
    cost: number;
    confirmationCode: string;
    createdAt: number;
    transactionId: string;
    consent: 'permit' | 'unknown';
    permit: KeptPermit | null;
    permitId: Hex | null;
  },
): Promise<void> {
  if (lost.permitId !== null) await freePermit(tx, lost.permitId);
  await tx.insert(redemptions).values(lost);
}

/**
 * A permit pays one redemption: whatever the ledger still has under it had come to nothing before another was admitted
 * with it. What waits is given up again; what was sent is for its block to settle.
 */
async function freePermit(tx: Queries, permitId: Hex): Promise<void> {
  const own = and(eq(redemptions.permitId, permitId), isNull(redemptions.failure));
  await tx
    .update(redemptions)
    .set({ failure: 'not_sent' })
    .where(and(own, isNull(redemptions.transactionId)));
  await tx.update(redemptions).set({ permitId: null }).where(own);
}

/** Who pays for the gas of a lane's calls; undefined for an account that is no gas wallet of the ledger. */
export async function payerOf(tx: Queries, lane: Hex): Promise<GasPayer | undefined> {
  const [row] = await tx
    .select({ payer: gasWallets.payer })
    .from(gasWallets)
    .where(sql`lower(${gasWallets.address}) = ${lane.toLowerCase()}`);
  return row?.payer;
}

/** Binds a call, or the permit of one, that waits in a lane; false when none is like it. */
export async function bindWaitingRelay(
  tx: Queries,
  of: { lane: Hex; recipient: Hex; data: Hex; transactionId: string },
): Promise<boolean> {
  const { lane, recipient, data, transactionId } = of;
  const waiting = await tx
    .select()
    .from(relays)
    .where(and(eq(relays.lane, lane), isNull(relays.transactionId)))
    .orderBy(asc(relays.position));
  const isSame = (to: string, own: string) =>
    to.toLowerCase() === recipient.toLowerCase() && own.toLowerCase() === data.toLowerCase();
  for (const { position, permit, permitTransactionId, recipient: to, data: own } of waiting) {
    const isPermit = permit !== null && permitTransactionId === null && isSame(permit.to, permit.data);
    if (!isPermit && !isSame(to, own)) continue;
    await tx
      .update(relays)
      .set(isPermit ? { permitTransactionId: transactionId } : { transactionId })
      .where(eq(relays.position, position));
    return true;
  }
  return false;
}

/** Writes a call that was lost, and takes its worst case from the budgets; its block says what it cost. */
export async function adoptRelay(
  tx: Queries,
  call: Omit<typeof relays.$inferInsert, 'position' | 'permit' | 'chargedGwei' | 'permitTransactionId'>,
): Promise<void> {
  const { payer, budgetDay: day, userAddress, reservedGwei: spentGwei } = call;
  const position = await takeNumbers(tx, 'relay_position', 1);
  await tx.insert(relays).values({ ...call, position, chargedGwei: spentGwei });
  await tx
    .insert(gasBudgets)
    .values({ payer, day, spentGwei })
    .onConflictDoUpdate({
      target: [gasBudgets.payer, gasBudgets.day],
      set: { spentGwei: sql`${gasBudgets.spentGwei} + excluded.spent_gwei` },
    });
  await tx
    .insert(gasShares)
    .values({ payer, day, userAddress, spentGwei })
    .onConflictDoUpdate({
      target: [gasShares.payer, gasShares.day, gasShares.userAddress],
      set: { spentGwei: sql`${gasShares.spentGwei} + excluded.spent_gwei` },
    });
}

/** Binds a top-up that waits for this wallet, or writes the one that was lost. */
export async function adoptTopUp(
  tx: Queries,
  topUp: Omit<typeof gasTopUps.$inferInsert, 'transactionId'> & { transactionId: string },
): Promise<'bound' | 'written'> {
  const [waiting] = await tx
    .select({ id: gasTopUps.id })
    .from(gasTopUps)
    .where(
      and(
        isNull(gasTopUps.transactionId),
        sql`lower(${gasTopUps.wallet}) = ${topUp.wallet.toLowerCase()}`,
        eq(gasTopUps.amountWei, topUp.amountWei),
      ),
    )
    .limit(1);
  if (!waiting) {
    await tx.insert(gasTopUps).values(topUp);
    return 'written';
  }
  await tx.update(gasTopUps).set({ transactionId: topUp.transactionId }).where(eq(gasTopUps.id, waiting.id));
  return 'bound';
}
