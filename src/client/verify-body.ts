/** What a comparison of ledger and chain answers. */
export interface VerifyBody {
  ok: boolean;
  differences: {
    kind: string;
    message: string;
    about: Record<string, string | number | null>;
    expected: string | null;
    found: string | null;
  }[];
  /** False when the search ended at its limit. */
  complete: boolean;
  block: number | null;
  checked: Record<'rewards' | 'payouts' | 'transactions' | 'brands' | 'counters', number>;
}
