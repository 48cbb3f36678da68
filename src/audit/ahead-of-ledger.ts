/**
 * What the chain and a node's pool have beyond the newest block that the ledger has read. A ledger that was restored from an old copy agrees
 * with the chain as far as it goes; only here it shows that the chain knows more of us than the ledger gave out.
 */
import { everySender, nextSequence } from '../ledger/audit-pages.ts';
import type { Queries } from '../ledger/database/database.ts';
import { isRetired } from '../ledger/transactions/lanes.ts';
import { nextNonce } from '../ledger/transactions/transactions.ts';
import type { VerifyDeps } from './audit.ts';
import type { ChainHistory } from './chain-history.ts';
import type { Findings } from './report.ts';

const BITS = 256;

/** Blocks that the ledger is behind the chain's head; null while the chain has no block. Adds what the ledger lacks. */
export async function verifyAheadOfLedger(
  deps: Pick<VerifyDeps, 'database' | 'history' | 'chain'>,
  findings: Findings,
  block: number,
): Promise<number | null> {
  const { history } = deps;
  const { db } = deps.database;
  const head = await deps.chain.block('latest');
  if (!head) return null;
  const behind = Math.max(0, head.number - block);
  const paid = await paidAheadOfLedger(history, { db, block: head.number });
  if (paid) {
    findings.add('ledger_behind', {
      message: `the escrow has paid sequence ${paid.sequence}, which the ledger has not given out yet: is it an old copy?`,
      about: { sequence: paid.sequence, block: head.number, blocksBehind: behind },
      expected: `sequences below ${paid.next}`,
      found: paid.sequence,
    });
  }
  for (const { lane } of await everySender(db)) {
    // The chain is asked first, so that what is sent meanwhile is below the ledger's next.
    const found = await history.nonceAt(lane, head.number);
    const pending = await deps.chain.nonce(lane, 'pending');
    const expected = (await nextNonce(db, lane)) ?? 0;
    // What somebody does with the key of a retired account is not ours.
    if (await isRetired(db, lane)) continue;
    const known = Math.max(found, expected);
    if (pending > known) {
      const nonces = pending - known === 1 ? `nonce ${known}` : `nonces ${known} to ${pending - 1}`;
      findings.add('pending_unknown', {
        message: `transactions of ${lane} that the ledger does not know wait in a pool, under ${nonces}: is it an old copy?`,
        about: { lane, fromNonce: known, toNonce: pending - 1 },
        expected,
        found: pending,
      });
    }
    if (found <= expected) continue;
    findings.add('ledger_behind', {
      message: `${lane} has used ${found} nonces on chain, the ledger has given out ${expected}: is it an old copy?`,
      about: { lane, block: head.number, blocksBehind: behind },
      expected,
      found,
    });
  }
  return behind;
}

/** The lowest sequence that the escrow has paid and the ledger has not given out, among the next 256 to 512. */
export async function paidAheadOfLedger(
  history: Pick<ChainHistory, 'paidWord'>,
  { db, block }: { db: Queries; block: number },
): Promise<{ sequence: number; next: number } | undefined> {
  // The chain is read first, so that a sequence that a process pays meanwhile is below the next one.
  const first = Math.floor((await nextSequence(db)) / BITS);
  const flags = await Promise.all([first, first + 1].map((index) => history.paidWord(index, block)));
  const next = await nextSequence(db);
  for (let sequence = next; sequence < (first + 2) * BITS; sequence++) {
    const flag = flags[Math.floor(sequence / BITS) - first] ?? 0n;
    if ((flag >> BigInt(sequence % BITS)) & 1n) return { sequence, next };
  }
  return undefined;
}
