/**
 * What each payer may spend for gas per day, and each user of that: the worst case is reserved first, and replaced by
 * the real cost later.
 */
import { and, asc, desc, eq, or, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { rowsAsJson, rowsOf } from '../database/many-values.ts';
import { jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brands } from '../schema/brands.ts';
import { type GasPayer, gasBudgets, gasShares, gasWallets } from '../schema/relay.ts';

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
  return (await addToBudget(tx, { payer, day, gwei, limitGwei })).length === 1;
}

const addToBudget = preparedQuery((db, of: Of<Day & { limitGwei: number }>) =>
  db
    .insert(gasBudgets)
    .values({ payer: of.payer, day: of.day, spentGwei: of.gwei })
    .onConflictDoUpdate({
      target: [gasBudgets.payer, gasBudgets.day],
      set: { spentGwei: sql`${gasBudgets.spentGwei} + ${of.gwei}` },
      setWhere: sql`${gasBudgets.spentGwei} + ${of.gwei} <= ${of.limitGwei}`,
    })
    .returning({ spentGwei: gasBudgets.spentGwei }),
);

/** Gives back what was taken and not used; a negative amount takes more. */
export async function giveBackGas(tx: Queries, { payer, day, gwei }: Day): Promise<void> {
  await takeFromBudget(tx, { payer, day, gwei });
}

const takeFromBudget = preparedQuery((db, of: Of<Day>) =>
  db
    .update(gasBudgets)
    .set({ spentGwei: sql`${gasBudgets.spentGwei} - ${of.gwei}` })
    .where(and(eq(gasBudgets.payer, of.payer), eq(gasBudgets.day, of.day))),
);

/**
 * Takes `gwei` from the user's share of the payer's day; false, and nothing taken, when that is more than `limitGwei`
 * allows. A user who has spent nothing may make one call, whatever it costs: else a small budget would serve nobody.
 */
export async function takeGasShare(tx: Queries, wish: UsersDay & { limitGwei: number }): Promise<boolean> {
  return (await takeGasShares(tx, wish, [wish])).has(wish.userAddress);
}

/** The same for several users of one payer, each once; the users whose share it was taken from. */
export async function takeGasShares(
  tx: Queries,
  { payer, day, limitGwei }: Pick<Day, 'payer' | 'day'> & { limitGwei: number },
  wishes: Pick<UsersDay, 'userAddress' | 'gwei'>[],
): Promise<ReadonlySet<`0x${string}`>> {
  const shares = wishes.map(({ userAddress, gwei }) => ({ payer, day, userAddress, spentGwei: gwei }));
  const json = rowsAsJson(gasShares, shares);
  if (json === undefined) throw new Error('what a call costs is no number');
  const rows = await addToShares(tx, { shares: json, limitGwei });
  return new Set(rows.map(({ userAddress }) => userAddress));
}

const addToShares = preparedQuery((db, of: Of<{ shares: string; limitGwei: number }>) =>
  db
    .insert(gasShares)
    .select(rowsOf(gasShares, of.shares))
    .onConflictDoUpdate({
      target: [gasShares.payer, gasShares.day, gasShares.userAddress],
      set: { spentGwei: sql`${gasShares.spentGwei} + excluded.spent_gwei` },
      setWhere: or(
        eq(gasShares.spentGwei, 0),
        sql`${gasShares.spentGwei} + excluded.spent_gwei <= ${of.limitGwei}`,
      ),
    })
    .returning({ userAddress: gasShares.userAddress }),
);

/** The same as `giveBackGas`, for the user's share. */
export const giveBackGasShare = (tx: Queries, share: UsersDay): Promise<void> =>
  giveBackGasShares(tx, [share]);

/** The same for several, each once. What locks rows of a payer's day has locked the payer's budget of that day before. */
export async function giveBackGasShares(tx: Queries, shares: UsersDay[]): Promise<void> {
  if (shares.length === 0) return;
  const back = shares.map(({ payer, day, userAddress, gwei }) => [payer, day, userAddress, gwei]);
  await takeFromShares(tx, { back: JSON.stringify(back) });
}

const takeFromShares = preparedQuery((db, of: Of<{ back: string }>) =>
  db
    .update(gasShares)
    .set({ spentGwei: sql`${gasShares.spentGwei} - back.gwei` })
    .from(jsonRows('back', of.back, { payer: 'text', day: 'bigint', user_address: 'text', gwei: 'bigint' }))
    .where(
      and(
        sql`${gasShares.payer} = back.payer`,
        sql`${gasShares.day} = back.day`,
        sql`${gasShares.userAddress} = back.user_address`,
      ),
    ),
);

/** What payers have spent on a day, the most first; payers without a budget row have spent nothing. `total` counts those beyond the limit too. */
export const payersOfDay = (db: Queries, { day, limit }: { day: number; limit: number }) => {
  const spentGwei = sql<number>`coalesce(${gasBudgets.spentGwei}, 0)`.mapWith(Number);
  const { payer } = gasWallets;
  return db
    .select({
      payer,
      address: gasWallets.address,
      ready: gasWallets.ready,
      spentGwei,
      profile: brands.profile,
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(gasWallets)
    .leftJoin(gasBudgets, and(eq(gasBudgets.payer, payer), eq(gasBudgets.day, day)))
    .leftJoin(brands, eq(brands.brandId, payer))
    .orderBy(desc(spentGwei), asc(payer))
    .limit(limit);
};
