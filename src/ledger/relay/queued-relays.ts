/** Calls on behalf of users: queued once, bound to their transactions, and looked up by the requests that wait for them. */
import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { relays } from '../schema/relay.ts';
import { attempts, transactions } from '../schema/transactions.ts';

export type Relay = typeof relays.$inferSelect;
export type NewRelay = Omit<Relay, 'position' | 'permitTransactionId' | 'transactionId' | 'chargedGwei'>;
type Hex = `0x${string}`;

/** Queues calls behind those that were queued before. */
export async function storeRelays(tx: Queries, wishes: NewRelay[]): Promise<void> {
  if (wishes.length === 0) return;
  const first = await takeNumbers(tx, 'relay_position', wishes.length);
  const rows = wishes.map((wish, place) => ({
    ...wish,
    position: first + place,
    chargedGwei: wish.reservedGwei,
  }));
  await tx.insert(relays).values(rows);
}

/** The call that a lane is to send next; one whose permit is on its way comes before every other. */
export async function nextRelay(tx: Queries, lane: Hex): Promise<Relay | undefined> {
  const [row] = await tx
    .select()
    .from(relays)
    .where(and(eq(relays.lane, lane), isNull(relays.transactionId)))
    .orderBy(asc(relays.position))
    .limit(1);
  return row;
}

/** Binds a call, or the permit before it, to the transaction that carries it. */
export async function bindRelay(
  tx: Queries,
  bound: { position: number; part: 'permit' | 'call'; transactionId: string },
): Promise<void> {
  const { position, part, transactionId } = bound;
  await tx
    .update(relays)
    .set(part === 'permit' ? { permitTransactionId: transactionId } : { transactionId })
    .where(eq(relays.position, position));
}

/** Lanes for which calls wait. */
export async function lanesWithRelays(db: Queries): Promise<Hex[]> {
  const rows = await db
    .selectDistinct({ lane: relays.lane })
    .from(relays)
    .where(isNull(relays.transactionId));
  return rows.map(({ lane }) => lane);
}

/** How far a relayed call has come; what is of its transaction is null until it is signed. */
export type RelayProgress = Awaited<ReturnType<typeof readRelays>>[number];

const progressOf = {
  id: relays.id,
  lane: relays.lane,
  recipient: relays.recipient,
  hash: transactions.hash,
  status: transactions.status,
  outcome: transactions.outcome,
  blockNumber: transactions.blockNumber,
  gasUsed: transactions.gasUsed,
  gasPriceWei: transactions.gasPriceWei,
};

/** Calls by their ids; unknown ids are left out. */
export const readRelays = (db: Queries, ids: string[]) =>
  inChunks(ids, (some) =>
    db
      .select(progressOf)
      .from(relays)
      .leftJoin(transactions, eq(transactions.id, relays.transactionId))
      .where(inArray(relays.id, some)),
  );

/** The call that a transaction carries, by the hash of any of its attempts. */
export async function findRelayByHash(db: Queries, hash: Hex): Promise<RelayProgress | undefined> {
  const [row] = await db
    .select(progressOf)
    .from(attempts)
    .innerJoin(transactions, eq(transactions.id, attempts.transactionId))
    .innerJoin(relays, eq(relays.transactionId, transactions.id))
    .where(eq(attempts.hash, hash));
  return row;
}
