/** Looks at every transaction on its way into a node: was it stored, does it repeat its nonce's payload, is its price allowed. */

import type { Findings } from '../findings.ts';
import type { ReadTransaction } from '../model/cheap-signer.ts';
import { slotOf } from '../model/model-chain.ts';
import { FEE_CAP_WEI } from '../replica.ts';
import type { SimLedger } from '../sim-ledger.ts';

/** Everything that was sent under each nonce of a lane, in the order of its first sending. */
export type SentNonces = Map<string, ReadTransaction[]>;

/** For bytes that a node said it has: how many attempts at their nonce were stored when it first said so. */
export type TakenBytes = Map<string, number>;

const payload = ({ to, data, valueWei }: ReadTransaction) => `${to} ${data} ${valueWei}`;

export function watchArrivals({ ledger, findings }: { ledger: SimLedger; findings: Findings }) {
  const sent: SentNonces = new Map();
  const known = new Set<string>();
  /** How many attempts at its nonce were stored when the newest sending of these bytes arrived. */
  const storedAtArrival = new Map<string, number>();
  const taken: TakenBytes = new Map();
  return {
    sent,
    taken,
    /** A node says that it has these bytes. */
    onTaken({ hash }: ReadTransaction): void {
      if (!taken.has(hash)) taken.set(hash, storedAtArrival.get(hash) ?? 0);
    },
    /** Runs while no commit is open, so what it reads is what a crash would leave. */
    async onArrival(transaction: ReadTransaction): Promise<void> {
      const { hash, nonce, maxFeeWei } = transaction;
      const [attempts] = await ledger.rows<{ stored: number }>(
        `select count(*) as stored from attempts
          where transaction_id = (select transaction_id from attempts where hash = ?)`,
        hash,
      );
      const stored = attempts?.stored ?? 0;
      storedAtArrival.set(hash, stored);
      if (known.has(hash)) return;
      known.add(hash);
      if (stored === 0) findings.add('stored before sent', `nonce ${nonce} was sent before it was stored`);
      const others = sent.get(slotOf(transaction)) ?? [];
      if (others[0] && payload(others[0]) !== payload(transaction))
        findings.add('one payload a nonce', `nonce ${nonce} was sent with two payloads`);
      sent.set(slotOf(transaction), [...others, transaction]);
      if (maxFeeWei > FEE_CAP_WEI)
        findings.add('replacements offer enough', `nonce ${nonce} offers more than the cap`);
    },
  };
}
