/**
 * What each payer may spend for gas per day, and each user of that: the worst case is reserved first, and replaced by
 * the real cost later.
 */
import { and, eq, or, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type GasPayer, gasBudgets, gasShares } from '../schema/relay.ts';

export const DAY_MS = 86_400_000;
/** Days since 1970, UTC. */
export const budgetDay = (nowMs: number) => Math.floor(nowMs / DAY_MS);

interface Day {
  payer: GasPayer;
  day: number;
  gwei: number;
}
type UsersDay = Day & { userAddress: `0x${string}` };

/** Takes `gwei` from the payer's day; false, and nothing taken, when that is more than `limitGwei` allows. */
export async function takeGas(tx: Queries, wish: Day & { limitGwei: number }): Promise<boolean> {
  const { payer, day, gwei, limitGwei } = wish;
  if (gwei > limitGwei) return false;
  const rows = await tx
    .insert(gasBudgets)
    .values({ payer, day, spentGwei: gwei })
    .onConflictDoUpdate({
      target: [gasBudgets.payer, gasBudgets.day],
      set: { spentGwei: sql`${gasBudgets.spentGwei} + ${gwei}` },
      setWhere: sql`${gasBudgets.spentGwei} + ${gwei} <= ${limitGwei}`,
    })
    .returning({ spentGwei: gasBudgets.spentGwei });
  return rows.length === 1;
}

/** Gives back what was taken and not used; a negative amount takes more. */
export async function giveBackGas(tx: Queries, { payer, day, gwei }: Day): Promise<void> {
  await tx
    .update(gasBudgets)
    .set({ spentGwei: sql`${gasBudgets.spentGwei} - ${gwei}` })
    .where(and(eq(gasBudgets.payer, payer), eq(gasBudgets.day, day)));
}

/**
 * Takes `gwei` from the user's share of the payer's day; false, and nothing taken, when that is more than `limitGwei`
 * allows. A user who has spent nothing may make one call, whatever it costs: else a small budget would serve nobody.
 */
export async function takeGasShare(tx: Queries, wish: UsersDay & { limitGwei: number }): Promise<boolean> {
  const { payer, day, userAddress, gwei, limitGwei } = wish;
  const rows = await tx
    .insert(gasShares)
    .values({ payer, day, userAddress, spentGwei: gwei })
    .onConflictDoUpdate({
      target: [gasShares.payer, gasShares.day, gasShares.userAddress],
      set: { spentGwei: sql`${gasShares.spentGwei} + ${gwei}` },
      setWhere: or(eq(gasShares.spentGwei, 0), sql`${gasShares.spentGwei} + ${gwei} <= ${limitGwei}`),
    })
    .returning({ spentGwei: gasShares.spentGwei });
  return rows.length === 1;
}

/** The same as `giveBackGas`, for the user's share. */
export async function giveBackGasShare(
  tx: Queries,
  { payer, day, userAddress, gwei }: UsersDay,
): Promise<void> {
  await tx
    .update(gasShares)
    .set({ spentGwei: sql`${gasShares.spentGwei} - ${gwei}` })
    .where(and(eq(gasShares.payer, payer), eq(gasShares.day, day), eq(gasShares.userAddress, userAddress)));
}
