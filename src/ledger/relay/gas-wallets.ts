/** The accounts that pay for gas: each payer's account, and the top-ups of native currency that it waits for. */
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { type GasPayer, gasTopUps, gasWallets } from '../schema/relay.ts';
import { transactions } from '../schema/transactions.ts';

export type GasWallet = typeof gasWallets.$inferSelect;
export type GasTopUp = typeof gasTopUps.$inferSelect;
type Address = `0x${string}`;

export const listGasWallets = (db: Queries): Promise<GasWallet[]> => db.select().from(gasWallets);

export async function findGasWallet(db: Queries, payer: GasPayer): Promise<GasWallet | undefined> {
  const [row] = await db.select().from(gasWallets).where(eq(gasWallets.payer, payer));
  return row;
}

/** Gives a payer its wallet, or finds the existing one. The index of its key is taken in the same commit. */
export async function ensureGasWallet(
  tx: Queries,
  wanted: { payer: GasPayer; addressAt: (keyIndex: number | null) => Address; nowMs: number },
): Promise<GasWallet> {
  const { payer, addressAt, nowMs } = wanted;
  const known = await findGasWallet(tx, payer);
  if (known) return known;
  const keyIndex = payer === 'service' ? null : await takeNumbers(tx, 'gas_wallet_index', 1);
  const wallet = { payer, keyIndex, address: addressAt(keyIndex), ready: false, createdAt: nowMs };
  const [written] = await tx.insert(gasWallets).values(wallet).onConflictDoNothing().returning();
  const row = written ?? (await findGasWallet(tx, payer));
  if (!row) throw new Error(`no gas wallet could be kept for ${payer}`);
  return row;
}

/** Notes whether a wallet can send what users ask for. */
export async function setGasWalletReady(db: Queries, payer: GasPayer, ready: boolean): Promise<void> {
  await db.update(gasWallets).set({ ready }).where(eq(gasWallets.payer, payer));
}

/** Of these payers' wallets, those that can send, in no order. */
export const readyGasWallets = (db: Queries, payers: GasPayer[]): Promise<GasWallet[]> =>
  readyOf(db, { payers });

const readyOf = preparedQuery((db, of: Of<{ payers: GasPayer[] }>) =>
  db
    .select()
    .from(gasWallets)
    .where(and(isOneOf(gasWallets.payer, of.payers), eq(gasWallets.ready, true))),
);

/** Requests a top-up for a wallet, unless one is on its way already. */
export async function requestTopUp(
  tx: Queries,
  wish: { id: string; lane: Address; wallet: Address; amountWei: bigint; nowMs: number },
): Promise<boolean> {
  const { id, lane, wallet, amountWei, nowMs } = wish;
  const open = await tx
    .select({ id: gasTopUps.id })
    .from(gasTopUps)
    .leftJoin(transactions, eq(transactions.id, gasTopUps.transactionId))
    .where(
      and(
        eq(gasTopUps.wallet, wallet),
        sql`(${transactions.status} is null or ${transactions.status} in ('stored', 'sent'))`,
      ),
    )
    .limit(1);
  if (open.length > 0) return false;
  await tx.insert(gasTopUps).values({ id, lane, wallet, amountWei: String(amountWei), createdAt: nowMs });
  return true;
}

/** The top-up that a lane is to send next. */
export async function nextTopUp(tx: Queries, lane: Address): Promise<GasTopUp | undefined> {
  return (await nextTopUps(tx, lane, 1))[0];
}

/** The top-ups that a lane is to send next, in order. */
export const nextTopUps = (tx: Queries, lane: Address, limit: number): Promise<GasTopUp[]> =>
  nextOf(tx, { lane, limit });

const nextOf = preparedQuery((db, of: Of<{ lane: Address; limit: number }>) =>
  db
    .select()
    .from(gasTopUps)
    .where(and(eq(gasTopUps.lane, of.lane), isNull(gasTopUps.transactionId)))
    .orderBy(asc(gasTopUps.createdAt))
    .limit(of.limit),
);

export async function bindTopUp(tx: Queries, id: string, transactionId: string): Promise<void> {
  await tx.update(gasTopUps).set({ transactionId }).where(eq(gasTopUps.id, id));
}

/** Lanes for which top-ups wait. */
export async function lanesWithTopUps(db: Queries): Promise<Address[]> {
  const rows = await lanesWaiting(db, {});
  return rows.map(({ lane }) => lane);
}

const lanesWaiting = preparedQuery((db) =>
  db.selectDistinct({ lane: gasTopUps.lane }).from(gasTopUps).where(isNull(gasTopUps.transactionId)),
);
