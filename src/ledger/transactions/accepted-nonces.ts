/** Nonces that other senders used for good, and that an operator has accepted: the lane goes on behind them. */
import { asc, eq, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type Of, preparedQuery } from '../database/prepared-query.ts';
import { acceptedNonces } from '../schema/transactions.ts';

type Address = `0x${string}`;
export type AcceptedNonces = typeof acceptedNonces.$inferSelect;

export const acceptedNoncesOf = (db: Queries, lane: Address): Promise<AcceptedNonces[]> =>
  db
    .select()
    .from(acceptedNonces)
    .where(eq(acceptedNonces.lane, lane))
    .orderBy(asc(acceptedNonces.fromNonce));

/** The nonce behind all accepted ones; undefined when none was accepted. */
export async function behindAccepted(db: Queries, lane: Address): Promise<number | undefined> {
  const [row] = await nextOf(db, { lane });
  const next = row?.next ?? undefined;
  return next === undefined ? undefined : Number(next);
}

const nextOf = preparedQuery((db, of: Of<{ lane: Address }>) =>
  db
    .select({ next: sql<string | number | null>`max(${acceptedNonces.nextNonce})` })
    .from(acceptedNonces)
    .where(eq(acceptedNonces.lane, of.lane)),
);

/** Keeps what an operator accepted; a unique violation means that somebody else has just done the same. */
export async function acceptNonces(tx: Queries, accepted: AcceptedNonces): Promise<void> {
  await tx.insert(acceptedNonces).values(accepted);
}
