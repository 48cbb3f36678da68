/**
 * What a node's answer to signed bytes means. Money never depends on the wording: bytes that were not clearly refused
 * may have been taken, and are looked up by their hash.
 */
import { RpcAnswerError } from './rpc.ts';

/**
 * accepted: the node has it · known: it had it before · nonce_used: this nonce is in a block, ours or another ·
 * rejected: refused before it reached any pool · unknown: anything else.
 */
export type SendOutcome =
  | { kind: 'accepted' }
  | { kind: 'known' }
  | { kind: 'nonce_used' }
  /** certain: every node that the bytes went to has refused them; otherwise one of them gave no answer. */
  | { kind: 'rejected'; reason: RejectionReason; certain: boolean }
  | { kind: 'unknown'; why: string };

/** over_node_cap: gas times price is more than a setting of the node allows for one transaction. */
type RejectionReason = 'fee_too_low' | 'over_node_cap' | 'insufficient_gas_money' | 'pool_full' | 'malformed';

type Sorted = Exclude<SendOutcome, { kind: 'rejected' }> | { kind: 'rejected'; reason: RejectionReason };

/** In this order: a revert text may quote any of the words below it. The wordings of geth, erigon, nethermind, besu and anvil. */
const WORDINGS: [RegExp, Sorted][] = [
  [/execution reverted/i, { kind: 'unknown', why: 'a revert' }],
  [
    /already known|already imported|^known transaction|alreadyknown|transaction already exists/i,
    { kind: 'known' },
  ],
  [
    // Before the words for too little: some of them say only that the fee's cap was exceeded.
    /exceeds the configured cap|fee ?cap exceeded|exceeds (?:the )?(?:rpc )?tx ?fee ?cap/i,
    { kind: 'rejected', reason: 'over_node_cap' },
  ],
  [/nonce too low|oldnonce|nonce is too low|nonce below/i, { kind: 'nonce_used' }],
  [
    /underpriced|feetoolow|max fee per gas less than block base fee|fee ?cap|gas price (?:below|too low)/i,
    { kind: 'rejected', reason: 'fee_too_low' },
  ],
  [
    /insufficient ?funds|gas required exceeds allowance|up-?front cost|insufficient balance/i,
    { kind: 'rejected', reason: 'insufficient_gas_money' },
  ],
  [/pool is full|txpool is full|pool limit/i, { kind: 'rejected', reason: 'pool_full' }],
  [
    /rlp|failed to decode|invalid sender|invalid signature|intrinsic gas|invalid chain id|exceeds block gas limit|oversized data/i,
    { kind: 'rejected', reason: 'malformed' },
  ],
];

/** Sorts what `eth_sendRawTransaction` threw. */
export function sortSendError(error: unknown): SendOutcome {
  if (!(error instanceof RpcAnswerError)) return { kind: 'unknown', why: 'no answer' };
  for (const [wording, outcome] of WORDINGS) {
    if (!wording.test(error.nodeMessage)) continue;
    return outcome.kind === 'rejected' ? { ...outcome, certain: !error.othersUnanswered } : outcome;
  }
  return { kind: 'unknown', why: `error ${error.rpcCode}` };
}
