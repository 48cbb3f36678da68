/** What each payer may spend for gas per day: the worst case is reserved first, and replaced by the real cost later. */
import { and, eq, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type GasPayer, gasBudgets } from '../schema/relay.ts';

export const DAY_MS = 86_400_000;
/** Days since 1970, UTC. */
export const budgetDay = (nowMs: number) => Math.floor(nowMs / DAY_MS);

/** Takes `gwei` from the payer's day; false, and nothing taken, when that is more than `limitGwei` allows. */
export async function takeGas(
  tx: Queries,
  wish: { payer: GasPayer; day: number; gwei: number; limitGwei: number },
): Promise<boolean> {
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
export async function giveBackGas(
  tx: Queries,
  spent: { payer: GasPayer; day: number; gwei: number },
): Promise<void> {
  const { payer, day, gwei } = spent;
  await tx
    .update(gasBudgets)
    .set({ spentGwei: sql`${gasBudgets.spentGwei} - ${gwei}` })
    .where(and(eq(gasBudgets.payer, payer), eq(gasBudgets.day, day)));
}
