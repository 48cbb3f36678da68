/** What a comparison of ledger and chain finds. */

export type DifferenceKind =
  /** The escrow paid a sequence that no reward has. */
  | 'payout_without_reward'
  /** Paid on chain to another wallet, with another amount, or from another brand than the reward says. */
  | 'payout_differs'
  /** Paid by a transaction that the reward is not bound to. */
  | 'payout_by_other_transaction'
  /** The escrow was told to pay by a transaction that the ledger does not know. */
  | 'unknown_payout_transaction'
  /** What the escrow says it paid is not what its transfers or its calldata add up to. */
  | 'payout_sum'
  /** The ledger marks a reward as paid, the escrow's bitmap does not. */
  | 'missing_payout'
  /** The escrow's bitmap marks a sequence as paid, the ledger does not. */
  | 'unbooked_payout'
  /** A reward names a transaction that the ledger does not have. */
  | 'unknown_transaction'
  /** A reward of a user without a counter. */
  | 'reward_without_counter'
  | 'claim_counter'
  | 'claim_total'
  /** What is paid once for ever was paid again, or counts as paid without a reward. */
  | 'once_claim'
  /** A leaderboard's score is not what the user's rewards and reports add up to. */
  | 'leaderboard_score'
  /** The counters by which ranks are found do not fit the scores of their board. */
  | 'leaderboard_ranks'
  /** Rewards that leaderboards have counted belong to users whom they do not know. */
  | 'leaderboard_rewards'
  /** An achievement was unlocked by more than the ledger knows of the user. */
  | 'achievement_unlock'
  /** The bonus of a milestone is not the reward that its claim names, or the streak never reached it. */
  | 'streak_milestone'
  /** A brand's balance in escrow is not its deposits, less withdrawals and paid rewards. */
  | 'escrow_balance'
  /** The escrow holds less RWT than its brands' balances add up to. */
  | 'escrow_holdings'
  /** A brand's deposits in its account are not what its movements add up to. */
  | 'brand_deposited'
  /** What a brand's account has promised is not what its rewards add up to. */
  | 'brand_promised'
  /** A deposit or withdrawal on chain that the ledger lacks, or has otherwise. */
  | 'movement_unbooked'
  /** A movement in the ledger that the chain does not show. */
  | 'movement_without_log'
  /** A nonce between others has no transaction. */
  | 'nonce_gap'
  /** Stored bytes that cannot be read, or are not what their row says. */
  | 'attempt_bytes'
  /** Two attempts under one nonce do different things. */
  | 'attempt_payload'
  /** A transaction's hash does not belong to any of its attempts. */
  | 'unknown_hash'
  /** The chain has a transaction elsewhere than the ledger says, not at all, or with another result. */
  | 'inclusion'
  /** The chain's nonce of an account does not fit the transactions that the ledger has. */
  | 'account_nonce'
  /** The sale minted under a key that no payment and no operator of this ledger has. */
  | 'sale_without_mint'
  /** The sale minted another amount, or to another account, than the ledger says under that key. */
  | 'sale_differs'
  /** A mint counts as done, and the sale has not used its key. */
  | 'mint_without_sale'
  /** A session is paid, and nothing was minted for it. */
  | 'paid_without_mint'
  /** The escrow collected RWT under a key that no redemption of this ledger has. */
  | 'redemption_unknown'
  /** The escrow collected other RWT than the ledger says under that key, or for one that came to nothing. */
  | 'redemption_differs'
  /** RWT was collected of a user beyond what the brand had paid them, without their token or permit. */
  | 'redemption_without_consent'
  /** A redemption counts as done, and the escrow has not collected its price. */
  | 'redemption_without_debit'
  /** The contract sells a perk at another price, for another brand, or where the catalogue does not. */
  | 'perk_terms'
  /** What the contract has left of a perk is not what was offered less what was sold. */
  | 'perk_stock'
  /** RWT exists that no sale minted and no operator recorded. */
  | 'token_supply'
  /** The newest block in the ledger is not on the chain. */
  | 'other_chain'
  /** The chain has payouts or nonces of ours that the ledger has not given out: it is an old copy. */
  | 'ledger_behind'
  /** A pool has transactions of ours that the ledger does not know: it is an old copy. */
  | 'pending_unknown';

/** What a person should know although ledger and chain agree. */
export type FlagKind =
  /** RWT stays minted whose price was given back, in part or in full. */
  | 'refunded_after_mint'
  /** RWT stays minted whose price the payer disputes. */
  | 'disputed_after_mint'
  /** Before redemptions asked for consent, more was collected of a user than the brand had paid them. */
  | 'collected_unasked';

interface Flag {
  kind: FlagKind;
  message: string;
  about: Difference['about'];
}

interface Difference {
  kind: DifferenceKind;
  /** One sentence for people. */
  message: string;
  /** What it is about: a sequence, a brand, a hash. */
  about: Record<string, string | number | null>;
  /** What the ledger says, or what follows from it. */
  expected: string | null;
  /** What the other side says. */
  found: string | null;
}

export interface VerifyReport {
  ok: boolean;
  /** The first ones; `complete` is false when the search ended at their limit. */
  differences: Difference[];
  complete: boolean;
  /** The first payments that a person should look at; they make no difference. */
  flagged: Flag[];
  /** Compared as of this block. */
  block: number | null;
  /** Blocks that the chain is ahead of it; null when nothing was compared. */
  behind: number | null;
  /** The first block of a part of the history; null when all of it was compared. */
  since: number | null;
  /** What a part leaves out; empty when everything was compared. */
  notCompared: string[];
  checked: {
    rewards: number;
    payouts: number;
    mints: number;
    transactions: number;
    brands: number;
    counters: number;
  };
}

/** Gathers differences up to a maximum. */
export function createFindings(max: number) {
  const differences: Difference[] = [];
  const flagged: Flag[] = [];
  const checked: VerifyReport['checked'] = {
    rewards: 0,
    payouts: 0,
    mints: 0,
    transactions: 0,
    brands: 0,
    counters: 0,
  };
  return {
    differences,
    flagged,
    checked,
    flag(kind: FlagKind, said: Omit<Flag, 'kind'>) {
      if (flagged.length < max) flagged.push({ kind, ...said });
    },
    /** `expected` and `found` in any form that can be written down. */
    add(
      kind: DifferenceKind,
      said: { message: string; about: Difference['about']; expected?: unknown; found?: unknown },
    ) {
      if (differences.length >= max) return;
      const written = (value: unknown) => (value === undefined || value === null ? null : String(value));
      differences.push({
        kind,
        message: said.message,
        about: said.about,
        expected: written(said.expected),
        found: written(said.found),
      });
    },
    isFull: () => differences.length >= max,
  };
}

export type Findings = ReturnType<typeof createFindings>;
