/**
 * Retires a sending account for good, once its key was replaced: it has no figures any more, and what somebody sends with
 * its key is no reason to refuse a start. Only an account with nothing open, that no process sends from.
 */
import type { Database, Queries } from '../../ledger/database/database.ts';
import { readTime } from '../../ledger/database/read-time.ts';
import { listGasWallets } from '../../ledger/relay/gas-wallets.ts';
import { everyLane, openOf } from '../../ledger/transactions/backlog.ts';
import { keepRetired, listRetiredLanes } from '../../ledger/transactions/retired-lanes.ts';

type Address = `0x${string}`;

export type RetireRefusal =
  | { code: 'unknown_lane'; known: string[] }
  | { code: 'retired_before'; by: string; at: string }
  | { code: 'gas_wallet'; payer: string }
  | { code: 'in_use'; lane: Address }
  | { code: 'open'; lane: Address; open: number };

/** The account that would be retired, or why not; changes nothing. */
export async function planRetirement(
  { database }: { database: Database },
  account: string,
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const nowMs = await readTime(database);
  return look(database.db, account, nowMs);
}

/** Retires it; what has changed since it was planned is seen, since the same is looked at again in the same commit. */
export async function retireLane(
  { database }: { database: Database },
  account: string,
  by: { name: string; reason: string; nowMs: number },
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const nowMs = await readTime(database);
  return database.atomically(async (tx) => {
    const seen = await look(tx, account, nowMs);
    if ('refusal' in seen) return seen;
    const { lane } = seen;
    await keepRetired(tx, { lane, retiredBy: by.name, reason: by.reason, createdAt: by.nowMs });
    return seen;
  });
}

async function look(
  db: Queries,
  account: string,
  nowMs: number,
): Promise<{ lane: Address } | { refusal: RetireRefusal }> {
  const isIt = (address: string) => address.toLowerCase() === account.toLowerCase();
  const before = (await listRetiredLanes(db)).find(({ lane }) => isIt(lane));
  if (before) {
    const at = new Date(before.createdAt).toISOString();
    return { refusal: { code: 'retired_before', by: before.retiredBy, at } };
  }
  const lanes = await everyLane(db);
  const known = lanes.find(({ address }) => isIt(address));
  if (!known) return { refusal: { code: 'unknown_lane', known: lanes.map(({ address }) => address) } };
  const lane = known.address;
  // These grow from one key, and a payer keeps its wallet for the life of the ledger.
  const wallet = (await listGasWallets(db)).find(({ address }) => isIt(address));
  if (wallet) return { refusal: { code: 'gas_wallet', payer: wallet.payer } };
  if (known.leaseUntil > nowMs) return { refusal: { code: 'in_use', lane } };
  const open = await openOf(db, lane);
  return open > 0 ? { refusal: { code: 'open', lane, open } } : { lane };
}
