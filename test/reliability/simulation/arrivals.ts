/** Looks at every transaction on its way into a node: was it stored, does it repeat its nonce's payload, is its price allowed. */
import type { ReadTransaction } from './cheap-signer.ts';
import type { Findings } from './findings.ts';
import { FEE_CAP_WEI } from './replica.ts';
import type { SimLedger } from './sim-ledger.ts';

/** Everything that was sent under each nonce, in the order of its first sending. */
export type SentNonces = Map<number, ReadTransaction[]>;

const payload = ({ to, data, valueWei }: ReadTransaction) => `${to} ${data} ${valueWei}`;

export function watchArrivals({ ledger, findings }: { ledger: SimLedger; findings: Findings }) {
  const sent: SentNonces = new Map();
  const known = new Set<string>();
  return {
    sent,
    /** Runs while no commit is open, so what it reads is what a crash would leave. */
    async onArrival(transaction: ReadTransaction): Promise<void> {
      const { hash, nonce, maxFeeWei } = transaction;
      if (known.has(hash)) return;
      known.add(hash);
      const stored = await ledger.rows('select 1 from attempts where hash = ?', hash);
      if (stored.length === 0)
        findings.add('stored before sent', `nonce ${nonce} was sent before it was stored`);
      const others = sent.get(nonce) ?? [];
      if (others[0] && payload(others[0]) !== payload(transaction))
        findings.add('one payload a nonce', `nonce ${nonce} was sent with two payloads`);
      sent.set(nonce, [...others, transaction]);
      if (maxFeeWei > FEE_CAP_WEI)
        findings.add('replacements offer enough', `nonce ${nonce} offers more than the cap`);
    },
  };
}
