/**
 * What calls cost their payers: the worst case until a block holds them, then what the block says, and the worst case
 * again when the chain takes the block back.
 */
import { asc, or, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { relays } from '../schema/relay.ts';
import { type Transaction, transactionsById } from '../transactions/transactions.ts';
import { giveBackGas, giveBackGasShares } from './gas-budgets.ts';
import type { Relay } from './queued-relays.ts';

const GWEI = 1_000_000_000n;

/** Sets what the budgets count for the calls in these transactions, permits included, to what is known of them now. */
export async function chargeGas(tx: Queries, transactionIds: string[]): Promise<void> {
  if (transactionIds.length === 0) return;
  const found = await lockCarried(tx, { transactionIds });
  const bound = found.flatMap(({ transactionId, permitTransactionId }) =>
    [transactionId, permitTransactionId].filter((id) => id !== null),
  );
  const known = new Map((await transactionsById(tx, bound)).map((one) => [one.id, one]));
  const changed: Change[] = [];
  const charged: [position: number, gwei: number][] = [];
  for (const relay of found) {
    if (relay.chargedGwei === null) continue;
    const costGwei = costOf(relay, known);
    if (costGwei === relay.chargedGwei) continue;
    charged.push([relay.position, costGwei]);
    changed.push({ relay, gwei: relay.chargedGwei - costGwei });
  }
  if (charged.length === 0) return;
  await noteCharged(tx, { charged: JSON.stringify(charged) });
  // All budgets first, then all shares, each in the order in which the queue takes them, so that neither waits for the other.
  for (const { relay, gwei } of summed(changed, ({ payer, budgetDay }) => `${payer} ${budgetDay}`))
    await giveBackGas(tx, { payer: relay.payer, day: relay.budgetDay, gwei });
  const users = summed(
    changed,
    ({ payer, budgetDay, userAddress }) => `${payer} ${budgetDay} ${userAddress}`,
  );
  await giveBackGasShares(
    tx,
    users.map(({ relay: { payer, budgetDay: day, userAddress }, gwei }) => ({
      payer,
      day,
      userAddress,
      gwei,
    })),
  );
}

const lockCarried = preparedQuery((db, of: Of<{ transactionIds: string[] }>) =>
  db
    .select()
    .from(relays)
    .where(
      or(
        isOneOf(relays.transactionId, of.transactionIds),
        isOneOf(relays.permitTransactionId, of.transactionIds),
      ),
    )
    .orderBy(asc(relays.position))
    .for('update'),
);

const noteCharged = preparedQuery((db, of: Of<{ charged: string }>) =>
  db
    .update(relays)
    .set({ chargedGwei: sql`given.gwei` })
    .from(jsonRows('given', of.charged, { position: 'bigint', gwei: 'bigint' }))
    .where(sql`${relays.position} = given.position`),
);

interface Change {
  relay: Relay;
  /** What goes back; negative: what is taken in addition. */
  gwei: number;
}

/** The changes added up by a key, in the order of the keys. */
function summed(changes: Change[], keyOf: (relay: Relay) => string): Change[] {
  const sums = new Map<string, Change>();
  for (const { relay, gwei } of changes) {
    const key = keyOf(relay);
    sums.set(key, { relay, gwei: gwei + (sums.get(key)?.gwei ?? 0) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** In gwei, rounded up: each part by its block, or by its portion of what was reserved. */
function costOf(relay: Relay, known: Map<string, Transaction>): number {
  const { gas, permit, reservedGwei } = relay;
  const permitGwei = permit ? Math.floor((reservedGwei * permit.gas) / (gas + permit.gas)) : 0;
  const part = (id: string | null, openGwei: number) => {
    const transaction = id === null ? undefined : known.get(id);
    const isOpen =
      transaction === undefined || transaction.status === 'stored' || transaction.status === 'sent';
    return isOpen ? BigInt(openGwei) * GWEI : paidWei(transaction);
  };
  const callWei = part(relay.transactionId, reservedGwei - permitGwei);
  const wei = callWei + (permit ? part(relay.permitTransactionId, permitGwei) : 0n);
  return Number((wei + GWEI - 1n) / GWEI);
}

/** What the block of a transaction says it cost; nothing when its nonce was lost. */
const paidWei = ({ gasUsed, gasPriceWei, l1FeeWei }: Transaction) =>
  BigInt(gasUsed ?? 0) * BigInt(gasPriceWei ?? '0') + BigInt(l1FeeWei ?? '0');
