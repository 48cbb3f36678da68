/** Calls on behalf of users: queued once, bound to their transactions, and looked up by the requests that wait for them. */
import { and, asc, count, eq, isNull, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { relays } from '../schema/relay.ts';
import { attempts, transactions } from '../schema/transactions.ts';
import { type Backlog, backlogOf } from '../transactions/backlog.ts';

export type Relay = typeof relays.$inferSelect;
export type NewRelay = Omit<Relay, 'position' | 'permitTransactionId' | 'transactionId' | 'chargedGwei'>;
/** Queues calls behind those that were queued before. */
export async function storeRelays(tx: Queries, wishes: NewRelay[]): Promise<void> {
  if (wishes.length === 0) return;
  const first = await takeNumbers(tx, 'relay_position', wishes.length);
  const rows = wishes.map((wish, place) => ({
    ...wish,
    position: first + place,
    chargedGwei: wish.reservedGwei,
  }));
  await insertRelays(tx, rows);
}

const insertRelays = bulkInsert(relays, (insert) => insert.returning({ position: relays.position }));

/** Whether a lane has a call to send. */
export async function isRelayWaiting(db: Queries, lane: Hex): Promise<boolean> {
  return (await oneWaiting(db, { lane })).length > 0;
}

const oneWaiting = preparedQuery((db, of: Of<{ lane: Hex }>) =>
  db
    .select({ position: relays.position })
    .from(relays)
    .where(and(eq(relays.lane, of.lane), isNull(relays.transactionId)))
    .limit(1),
);

/** How many calls wait for a transaction, and since when the oldest does. */
export async function relayBacklog(db: Queries): Promise<Backlog> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${relays.createdAt})` })
    .from(relays)
    .where(isNull(relays.transactionId));
  return backlogOf(row);
}

/** The calls that a lane is to send next, in order; one whose permit is on its way comes before every other. */
export const nextRelays = (tx: Queries, lane: Hex, limit: number): Promise<Relay[]> =>
  nextOf(tx, { lane, limit });

const nextOf = preparedQuery((db, of: Of<{ lane: Hex; limit: number }>) =>
  db
    .select()
    .from(relays)
    .where(and(eq(relays.lane, of.lane), isNull(relays.transactionId)))
    .orderBy(asc(relays.position))
    .limit(of.limit),
);

/** A call, or the permit before it, and the transaction that carries it. */
export interface BoundPart {
  position: number;
  part: 'permit' | 'call';
  transactionId: string;
}

/** Binds calls, and permits, to the transactions that carry them. */
export async function bindRelays(tx: Queries, bound: BoundPart[]): Promise<void> {
  for (const part of ['permit', 'call'] as const) {
    const some = bound.filter((one) => one.part === part);
    if (some.length === 0) continue;
    const carried = some.map(({ position, transactionId }) => [position, transactionId]);
    await bindParts[part](tx, { carried: JSON.stringify(carried) });
  }
}

const binding = (part: BoundPart['part']) =>
  preparedQuery((db, of: Of<{ carried: string }>) => {
    const carrier = sql`carried.by_transaction`;
    return db
      .update(relays)
      .set(part === 'permit' ? { permitTransactionId: carrier } : { transactionId: carrier })
      .from(jsonRows('carried', of.carried, { position: 'bigint', by_transaction: 'text' }))
      .where(sql`${relays.position} = carried.position`);
  });
const bindParts = { permit: binding('permit'), call: binding('call') };

/** Binds one. */
export const bindRelay = (tx: Queries, bound: BoundPart): Promise<void> => bindRelays(tx, [bound]);

/** Lanes for which calls wait. */
export async function lanesWithRelays(db: Queries): Promise<Hex[]> {
  const rows = await lanesWaiting(db, {});
  return rows.map(({ lane }) => lane);
}

const lanesWaiting = preparedQuery((db) =>
  db.selectDistinct({ lane: relays.lane }).from(relays).where(isNull(relays.transactionId)),
);

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
export const readRelays = async (db: Queries, ids: string[]) =>
  ids.length === 0 ? [] : await readProgress(db, { ids });

const readProgress = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db
    .select(progressOf)
    .from(relays)
    .leftJoin(transactions, eq(transactions.id, relays.transactionId))
    .where(isOneOf(relays.id, of.ids)),
);

/** The calls that transactions carry, permits left out. */
export const relaysOf = async (db: Queries, transactionIds: string[]): Promise<RelayProgress[]> =>
  transactionIds.length === 0 ? [] : await readCarried(db, { transactionIds });

const readCarried = preparedQuery((db, of: Of<{ transactionIds: string[] }>) =>
  db
    .select(progressOf)
    .from(relays)
    .leftJoin(transactions, eq(transactions.id, relays.transactionId))
    .where(isOneOf(relays.transactionId, of.transactionIds)),
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
