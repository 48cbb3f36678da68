/** How a lane takes up work: signed and stored in one commit, under the next nonces of its account. */
import type { Queries } from '../../ledger/database/database.ts';
import {
  nextNonce,
  storeTransactions,
  type UnsettledTransaction,
} from '../../ledger/transactions/transactions.ts';
import { fence, sign } from './broadcast.ts';
import type { Fees } from './fees.ts';
import type { LaneDeps } from './types.ts';

/** Signs the next pieces of work and stores them under the lane's next nonces, all in one commit. */
export async function storeNext(
  deps: LaneDeps,
  tx: Queries,
  terms: { epoch: number; fees: Fees; chainNonce: number; pendingNonce: number; count: number },
): Promise<UnsettledTransaction[]> {
  const { signer, settings, alarms } = deps;
  const lane = signer.address;
  await fence(deps, tx, terms.epoch);
  const ledgerNonce = await nextNonce(tx, lane);
  // What waits in a pool counts: it may be of this account, and of a ledger that this one is an old copy of.
  const used = Math.max(terms.chainNonce, terms.pendingNonce);
  if (ledgerNonce !== undefined && used > ledgerNonce) {
    // Going on would pay under nonces that another sender is using as well.
    alarms.raise('foreign_nonce', lane, { chainNonce: used, ledgerNonce });
    return [];
  }
  alarms.clear('foreign_nonce', lane);
  const first = ledgerNonce ?? terms.chainNonce;
  const ids = Array.from({ length: terms.count }, () => deps.random.uuid());
  const payloads = await deps.work.bindNext(tx, ids, terms.fees);
  const stored: UnsettledTransaction[] = [];
  for (const [place, payload] of payloads.entries()) {
    const nonce = first + place;
    const signed = await sign(deps, { nonce, payload, fees: terms.fees });
    deps.crash('lane.signed');
    stored.push({ id: ids[place] as string, nonce, kind: 'payload', refused: false, ...signed });
  }
  const shared = { lane, purpose: settings.purpose, epoch: terms.epoch, createdAt: deps.clock.now() };
  await storeTransactions(
    tx,
    stored.map(({ kind: _, refused: __, ...signed }) => ({ ...signed, ...shared })),
  );
  if (stored.length > 0) deps.crash('lane.before-store');
  return stored;
}
