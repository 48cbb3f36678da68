/**
 * Where the chain has done something else than the ledger has signed or promised, under the same nonce or sequence: two
 * ledgers have served at once. That is put right only once it can no longer change, or the ledger's own might come back.
 */
import { isSamePayload } from '../../chain/contracts/calls/read-attempt.ts';
import { knownRewards } from '../../ledger/recovery/adopt-rewards.ts';
import { transactionAt } from '../../ledger/recovery/adopt-transactions.ts';
import { findByHashes, payloadOf } from '../../ledger/transactions/transactions.ts';
import type { FoundTransaction, LostWork, RecoveryDeps } from './context.ts';

/** What a recovery has to wait for; undefined: nothing. */
export async function contradictionsOf(
  deps: RecoveryDeps,
  work: LostWork,
): Promise<{ message: string; fix: string } | undefined> {
  const finalBlock = work.headBlock - deps.settings.finalityBlocks;
  for (const found of work.transactions) {
    if (found.block !== undefined && found.block.number <= finalBlock) continue;
    const what = await contradictionIn(deps, found);
    if (what === undefined) continue;
    const where = found.block ? `in block ${found.block.number}` : 'in a pool';
    const message = `${found.hash} ${where} ${what}, and that is not final yet`;
    const until = (found.block?.number ?? work.headBlock) + deps.settings.finalityBlocks;
    return { message, fix: `wait for block ${until}, then run it again` };
  }
  return undefined;
}

async function contradictionIn(
  { database: { db } }: RecoveryDeps,
  found: FoundTransaction,
): Promise<string | undefined> {
  if ((await findByHashes(db, [found.hash])).length > 0) return undefined;
  const before = await transactionAt(db, found);
  const isNoop = found.data === '0x' && found.valueWei === 0n;
  if (before && found.raw !== undefined && !isNoop) {
    const payload = await payloadOf(db, before.id);
    if (payload === undefined || !isSamePayload(payload, found.raw))
      return `used nonce ${found.nonce} of ${found.lane} for something else than this ledger has signed`;
  }
  if (found.call.kind !== 'payout') return undefined;
  const entries = new Map(found.call.entries.map((one) => [Number(one.sequence), one]));
  for (const { sequence, wallet, amount, brandId } of await knownRewards(db, [...entries.keys()])) {
    const entry = entries.get(sequence);
    const isSame =
      entry?.to === wallet.toLowerCase() && entry.amount === BigInt(amount) && entry.brandId === brandId;
    if (!isSame) return `pays sequence ${sequence} to somebody else than this ledger has promised it to`;
  }
  return undefined;
}
