/** Redemptions of perks: admitted within a user's RWT and a perk's stock, and followed until a block shows them. */
import { and, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type Agreement, unspentOf } from '../../rules/perks/consent.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { type KeptPermit, perks, redeemers, redemptions } from '../schema/engagement/perks.ts';
import { type TransactionOutcome, type TransactionStatus, transactions } from '../schema/transactions.ts';
import { readGrant } from './grants.ts';

export type Redemption = typeof redemptions.$inferSelect;
/** `key`: `redemptionKey(id)` of `src/chain/contracts/calls/perk-calls.ts`. */
export type RedemptionPlan = Omit<
  Redemption,
  | 'transactionId'
  | 'failure'
  | 'settledAt'
  | 'shownFrom'
  | 'usedAt'
  | 'waitingSince'
  | 'refusals'
  | 'nextTryAt'
  | 'refusal'
  | 'consent'
  | 'permit'
  | 'permitId'
> & {
  /** The user's permit where one pays; `id` is its signature, which pays one redemption. */
  permit?: { id: Hex; signed: KeptPermit } | undefined;
};

/** What the chain had in `block`: RWT of the wallet, and how many of the perk were left, undefined without a limit. */
export interface ChainSupply {
  block: number;
  balance: bigint;
  stock: bigint | undefined;
}

/**
 * Whether a redemption takes RWT and stock that `block` does not show as taken: it waits, is on its way, or is in a later
 * block. One that a block shows as reverted takes nothing. A final one counts too where `block` is older: whoever asks may
 * have read the chain long before.
 */
const isUnderWay = (block: number) =>
  and(
    isNull(redemptions.failure),
    gt(redemptions.shownFrom, block),
    or(
      isNull(transactions.id),
      inArray(transactions.status, ['stored', 'sent']),
      and(eq(transactions.outcome, 'done'), sql`${transactions.blockNumber} > ${block}`),
    ),
  );

/** RWT of a wallet that redemptions under way will take, seen from `block`. */
export async function reservedOf(db: Queries, of: { wallet: Hex; block: number }): Promise<bigint> {
  const [row] = await db
    .select({ sum: sql<string | number>`coalesce(sum(${redemptions.cost}), 0)` })
    .from(redemptions)
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(and(eq(redemptions.wallet, of.wallet), isUnderWay(of.block)));
  return BigInt(row?.sum ?? 0);
}

/** How many of each perk redemptions under way will take, seen from `block`; perks of which none are left out. */
export async function takenOf(
  db: Queries,
  of: { tokenIds: readonly number[]; block: number },
): Promise<Map<number, number>> {
  if (of.tokenIds.length === 0) return new Map();
  const rows = await db
    .select({ tokenId: redemptions.tokenId, taken: sql<string | number>`count(*)` })
    .from(redemptions)
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(and(inArray(redemptions.tokenId, [...of.tokenIds]), isUnderWay(of.block)))
    .groupBy(redemptions.tokenId);
  return new Map(rows.map(({ tokenId, taken }) => [tokenId, Number(taken)]));
}

export type AdmissionRefusal =
  | { refused: 'stock' }
  | { refused: 'balance'; reserved: bigint }
  /** The permit pays another redemption. */
  | { refused: 'permit' }
  /** The brand may collect no more than this of the user. */
  | { refused: 'consent'; collectable: number };

/**
/**
 * Writes a redemption when the wallet's RWT and the perk's stock suffice for it beside all that are under way, and, where only
 * the brand's own payments pay it, these do too. One that is there already counts as admitted. `userKeys`: under which the
 * brand may have paid the wallet. `now`: the ledger's clock. Nudge the redeem lane after the commit.
 */
export async function admitRedemption(
  tx: Queries,
  of: {
    plan: RedemptionPlan;
    agreement: Agreement;
    userKeys: readonly string[];
    chain: ChainSupply;
    now: SqlTime;
  },
): Promise<'admitted' | AdmissionRefusal> {
  const { agreement, userKeys, chain, now } = of;
  const { permit, ...plan } = of.plan;
  const { consent, wallet } = agreement;
  if (wallet !== plan.wallet)
    throw new Error(`the redemption ${plan.id} debits a wallet that nobody agreed to`);
  // Both rows stay locked until the commit, the perk's first for everybody: nobody else adds to the sums meanwhile.
  await tx.select({ id: perks.id }).from(perks).where(eq(perks.id, plan.perkId)).for('update');
  await tx
    .insert(redeemers)
    .values({ wallet, redemptions: 1 })
    .onConflictDoUpdate({
      target: redeemers.wallet,
      set: { redemptions: sql`${redeemers.redemptions} + 1` },
    });
  if (await findRedemption(tx, plan.id)) return 'admitted';
  const { block, balance, stock } = chain;
  const taken = (await takenOf(tx, { tokenIds: [plan.tokenId], block })).get(plan.tokenId) ?? 0;
  if (stock !== undefined && stock <= BigInt(taken)) return { refused: 'stock' };
  const reserved = await reservedOf(tx, { wallet, block });
  if (balance < reserved + BigInt(plan.cost)) return { refused: 'balance', reserved };
  if (permit && (await isPermitTaken(tx, permit.id))) return { refused: 'permit' };
  if (consent === 'grant' && plan.cost > 0) {
    const collectable = unspentOf(await readGrant(tx, { brandId: plan.brandId, wallet, userKeys }));
    if (collectable < plan.cost) return { refused: 'consent', collectable };
  }
  await tx.insert(redemptions).values({
    ...plan,
    consent,
    permit: permit?.signed ?? null,
    permitId: permit?.id ?? null,
    waitingSince: now,
  });
  return 'admitted';
}

/** Whether a permit, known by its signature, pays a redemption that has not come to nothing. */
export async function isPermitTaken(db: Queries, permitId: Hex): Promise<boolean> {
  const [row] = await db
    .select({ id: redemptions.id })
    .from(redemptions)
    .where(and(eq(redemptions.permitId, permitId), isNull(redemptions.failure)))
    .limit(1);
  return row !== undefined;
}

/** How far a redemption has come. `hash` to `blockNumber` are its transaction's, null until one is signed. */
export interface RedemptionProgress {
  redemption: Redemption;
  hash: Hex | null;
  status: TransactionStatus | null;
  outcome: TransactionOutcome | null;
  blockNumber: number | null;
  /** Why it came to nothing. */
  failure: string | null;
}

const progress = {
  redemption: redemptions,
  hash: transactions.hash,
  status: transactions.status,
  outcome: transactions.outcome,
  blockNumber: transactions.blockNumber,
  failure: redemptions.failure,
};

/** Redemptions with their transactions, by id; unknown ones are left out. */
export const readRedemptions = (db: Queries, ids: string[]): Promise<RedemptionProgress[]> =>
  inChunks(ids, (some) =>
    db
      .select(progress)
      .from(redemptions)
      .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
      .where(inArray(redemptions.id, some)),
  );

export const findRedemption = async (db: Queries, id: string): Promise<RedemptionProgress | undefined> =>
  (await readRedemptions(db, [id]))[0];

/** Whether a block shows that the user has the perk and its price was collected. */
export const isRedeemed = ({ status, outcome }: Pick<RedemptionProgress, 'status' | 'outcome'>): boolean =>
  (status === 'included' || status === 'final') && outcome === 'done';

/** Whether a block shows that the transaction did nothing. */
export const isWithoutEffect = ({ status, outcome }: Pick<RedemptionProgress, 'status' | 'outcome'>) =>
  (status === 'included' || status === 'final') && outcome !== null && outcome !== 'done';

/** Redemptions that these transactions have done, with their perk's name and the hash that is in the block. */
export const doneBy = (tx: Queries, transactionIds: string[]) =>
  inChunks(transactionIds, (some) =>
    tx
      .select({ redemption: redemptions, perkName: perks.name, transactionId: transactions.id })
      .from(redemptions)
      .innerJoin(transactions, eq(transactions.id, redemptions.transactionId))
      .leftJoin(perks, eq(perks.id, redemptions.perkId))
      .where(and(inArray(transactions.id, some), isNotNull(redemptions.transactionId))),
  );

/** Whole RWT that a user spent on a brand's perks, as far as blocks show it. */
export async function spentOnPerks(db: Queries, of: { brandId: BrandId; userKey: string }): Promise<number> {
  const [row] = await db
    .select({ spent: sql<number>`coalesce(sum(${redemptions.cost}), 0)`.mapWith(Number) })
    .from(redemptions)
    .innerJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        eq(redemptions.userKey, of.userKey),
        eq(redemptions.brandId, of.brandId),
        isNull(redemptions.failure),
        eq(transactions.outcome, 'done'),
      ),
    );
  return row?.spent ?? 0;
}
