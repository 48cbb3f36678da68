/** What the transactions in the feed did: the rewards that they paid, the payments that they minted for, the perks that they redeemed. */
import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { checkoutSessions, mints } from '../schema/payments.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

const paidColumns = {
  id: rewards.id,
  sequence: rewards.sequence,
  brandId: rewards.brandId,
  eventType: rewards.eventType,
  userKey: rewards.userKey,
  userEmail: rewards.userEmail,
  wallet: rewards.wallet,
  amount: rewards.amount,
  createdAt: rewards.createdAt,
  platform: rewards.platform,
  transactionId: rewards.transactionId,
  hash: transactions.hash,
};

/** Rewards of these sequences that their transaction pays, as far as a block shows that it does. */
export const paidRewards = preparedQuery((db, of: Of<{ sequences: number[] }>) =>
  db
    .select(paidColumns)
    .from(rewards)
    .innerJoin(transactions, eq(transactions.id, rewards.transactionId))
    .where(
      and(isOneOf(rewards.sequence, of.sequences), isNull(rewards.failure), eq(transactions.outcome, 'done')),
    ),
);

/** Rewards of these sequences, whatever has become of them; one that waits again has no transaction, and no hash. */
export async function rewardsOfFacts(tx: Queries, sequences: number[]): Promise<FactOfReward[]> {
  const rows = await inChunks(sequences, (some) =>
    tx
      .select(paidColumns)
      .from(rewards)
      .leftJoin(transactions, eq(transactions.id, rewards.transactionId))
      .where(inArray(rewards.sequence, some)),
  );
  return rows.map((row) => ({ ...row, hash: row.hash ?? '0x' }));
}

export type FactOfReward = Awaited<ReturnType<typeof paidRewards>>[number];

/** Payments that these transactions mint for, with what is known of who paid. */
export const mintsOfFacts = (tx: Queries, transactionIds: string[]) =>
  inChunks(transactionIds, (some) =>
    tx
      .select({ mint: mints, userEmail: checkoutSessions.userEmail, hash: transactions.hash })
      .from(mints)
      .innerJoin(transactions, eq(transactions.id, mints.transactionId))
      .leftJoin(checkoutSessions, eq(checkoutSessions.processorSessionId, mints.sessionId))
      .where(inArray(mints.transactionId, some)),
  );

export type FactOfMint = Awaited<ReturnType<typeof mintsOfFacts>>[number];
