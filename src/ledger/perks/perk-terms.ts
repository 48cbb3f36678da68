/** What the contract is to be told of perks: queued with the change, bound to the transaction that carries it. */
import { and, asc, count, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm';
import type { PerkTerms } from '../../rules/perks/perk.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { atTime, type Of, preparedQuery } from '../database/prepared-query.ts';
import { perks, perkTerms } from '../schema/engagement/perks.ts';
import { transactions } from '../schema/transactions.ts';
import { type Backlog, backlogOf } from '../transactions/backlog.ts';
import { afterRefusal, isDue, type Pauses, placeInTurn, type Window } from '../transactions/refused-work.ts';
import type { StoredPerk } from './perks.ts';

export type QueuedTerms = typeof perkTerms.$inferSelect;

/** Transactions without effect that terms may be bound to, one after the other, before they are given up. */
const TRIES_MAX = 5;

const waits = and(isNull(perkTerms.transactionId), isNull(perkTerms.failure));
const same = ({ tokenId, position }: Pick<QueuedTerms, 'tokenId' | 'position'>) =>
  and(eq(perkTerms.tokenId, tokenId), eq(perkTerms.position, position));

/** Queues what changed, in order. The caller has the brand locked: two changes of a perk would get the same number. */
export async function queueTerms(
  tx: Queries,
  { perk, terms, nowMs }: { perk: StoredPerk; terms: readonly PerkTerms[]; nowMs: number },
): Promise<void> {
  if (terms.length === 0) return;
  const { id: perkId, tokenId, brandId } = perk;
  const [last] = await tx
    .select({ position: sql<number | null>`max(position)` })
    .from(perkTerms)
    .where(eq(perkTerms.tokenId, tokenId));
  const first = (last?.position ?? 0) + 1;
  await tx.insert(perkTerms).values(
    terms.map((one, place) => ({
      ...one,
      tokenId,
      position: first + place,
      perkId,
      brandId,
      createdAt: nowMs,
      transactionId: null,
      failedTries: 0,
      failure: null,
    })),
  );
}

/** How many changes of perks wait for a transaction, and since when the oldest does. */
export async function termsBacklog(db: Queries): Promise<Backlog> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${perkTerms.createdAt})` })
    .from(perkTerms)
    .where(waits);
  return backlogOf(row);
}

/**
 * Terms that no transaction carries and nobody gave up: of each perk the earliest, since the later ones build on it, where
 * it is due; brands in turn.
 */
export const waitingTerms = (db: Queries, { now, limit }: Window): Promise<QueuedTerms[]> =>
  dueAt(now)(db, { limit });

const isEarliest = sql`not exists (select 1 from ${perkTerms} earlier where earlier.token_id = ${perkTerms.tokenId} and earlier.position < ${perkTerms.position} and earlier.transaction_id is null and earlier.failure is null)`;
const turn = placeInTurn(perkTerms, {
  brand: sql`${perkTerms.brandId}`,
  within: sql`${perkTerms.tokenId}`,
});
const dueAt = atTime((now) =>
  preparedQuery((db, of: Of<{ limit: number }>) =>
    db
      .select()
      .from(perkTerms)
      .where(and(waits, isEarliest, isDue(perkTerms, now)))
      .orderBy(asc(turn), asc(perkTerms.tokenId))
      .limit(of.limit),
  ),
);

/** Notes that the contract refused terms, which wait. */
export async function noteRefusedTerms(
  db: Queries,
  of: Pick<QueuedTerms, 'tokenId' | 'position'> & { now: SqlTime; pauses: Pauses; reason: string },
): Promise<void> {
  await db
    .update(perkTerms)
    .set(afterRefusal(perkTerms, of))
    // Another process may have noted the same.
    .where(and(same(of), waits, isDue(perkTerms, of.now)));
}

/** Terms that wait since the contract refused them, with what it said last. */
export async function firstRefusedTerms(
  db: Queries,
): Promise<(Pick<QueuedTerms, 'tokenId' | 'position'> & { reason: string }) | undefined> {
  const [first] = await db
    .select({ tokenId: perkTerms.tokenId, position: perkTerms.position, reason: perkTerms.refusal })
    .from(perkTerms)
    .where(and(waits, gt(perkTerms.refusals, 0)))
    .orderBy(asc(perkTerms.tokenId), asc(perkTerms.position))
    .limit(1);
  return first && { ...first, reason: first.reason ?? '' };
}

/** Binds terms to the transaction that carries them. False when they are bound or given up already. */
export async function bindTerms(
  tx: Queries,
  { transactionId, ...of }: Pick<QueuedTerms, 'tokenId' | 'position'> & { transactionId: string },
): Promise<boolean> {
  const rows = await tx
    .update(perkTerms)
    .set({ transactionId })
    .where(and(same(of), waits))
    .returning({ position: perkTerms.position });
  return rows.length === 1;
}

/**
 * Gives up terms that the contract refuses. What was to be taken off the stock is offered again, so that the catalogue
 * says what the contract sells. False when a transaction carries them after all.
 */
export async function giveUpTerms(
  tx: Queries,
  { failure, ...of }: Pick<QueuedTerms, 'tokenId' | 'position'> & { failure: string },
): Promise<boolean> {
  const rows = await tx
    .update(perkTerms)
    .set({ failure })
    .where(and(same(of), waits))
    .returning();
  for (const row of rows) await takeBack(tx, row);
  return rows.length > 0;
}

async function takeBack(tx: Queries, { kind, tokenId, stock }: QueuedTerms): Promise<void> {
  if (kind !== 'stock') return;
  await tx
    .update(perks)
    .set({ stock: sql`stock - ${stock}` })
    .where(and(eq(perks.tokenId, tokenId), sql`stock <> -1`));
}

/** Settles terms whose transactions are final and had no effect: they wait again, and are given up after several tries. */
export async function settleTerms(tx: Queries, withoutEffect: string[]): Promise<void> {
  if (withoutEffect.length === 0) return;
  const rows = await tx
    .update(perkTerms)
    .set({
      transactionId: sql`case when failed_tries + 1 < ${TRIES_MAX} then null else transaction_id end`,
      failure: sql`case when failed_tries + 1 < ${TRIES_MAX} then null else 'reverted' end`,
      failedTries: sql`failed_tries + 1`,
    })
    .where(and(inArray(perkTerms.transactionId, withoutEffect), isNull(perkTerms.failure)))
    .returning();
  for (const row of rows) if (row.failure !== null) await takeBack(tx, row);
}

/** How far the last terms of these perks have come, by token; `status` is null until a transaction carries them. */
export async function readLastTerms(db: Queries, tokenIds: readonly number[]) {
  const rows = await inChunks([...tokenIds], (some) =>
    db
      .select({
        tokenId: perkTerms.tokenId,
        failure: perkTerms.failure,
        status: transactions.status,
      })
      .from(perkTerms)
      .leftJoin(transactions, eq(transactions.id, perkTerms.transactionId))
      .where(inArray(perkTerms.tokenId, some))
      .orderBy(asc(perkTerms.tokenId), asc(perkTerms.position)),
  );
  return new Map(rows.map((row) => [row.tokenId, row]));
}

/** Terms that no block is known to hold: for each, the nonce that carries it, null while a lane has not signed it. */
export const openTerms = (db: Queries): Promise<{ lane: `0x${string}` | null; nonce: number | null }[]> =>
  db
    .select({ lane: transactions.lane, nonce: transactions.nonce })
    .from(perkTerms)
    .leftJoin(transactions, eq(transactions.id, perkTerms.transactionId))
    .where(
      and(
        isNull(perkTerms.failure),
        or(isNull(transactions.id), inArray(transactions.status, ['stored', 'sent'])),
      ),
    );
