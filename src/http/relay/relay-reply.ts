/** How a relayed call is told: in both documented forms at once (contract: Relay result). */

import { isIncluded } from '../../chain/waiting/relay-waiters.ts';
import type { RelayResult, RelayState } from '../../contract/relay/relay.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { RelayProgress } from '../../ledger/relay/queued-relays.ts';

/** The state of a call that is signed; undefined before. */
export function relayStateReply(relay: RelayProgress, explorerUrl: string): RelayState | undefined {
  const { hash, lane, recipient, outcome, gasUsed, gasPriceWei, blockNumber } = relay;
  if (!hash) return undefined;
  const included = isIncluded(relay);
  const done = included && outcome === 'done';
  return {
    success: done,
    status: !included ? 'pending' : done ? 'confirmed' : 'failed',
    transactionHash: hash,
    from: checksummed(lane),
    to: checksummed(recipient),
    explorerUrl: `${explorerUrl}/tx/${hash}`,
    ...(included && gasUsed !== null && { gasUsed: String(gasUsed), effectiveGasPrice: gasPriceWei ?? '0' }),
    ...(included && blockNumber !== null && { blockNumber }),
  };
}

/** The answer for a call that a block holds and that had its effect. */
export function relayResultReply(relay: RelayProgress, explorerUrl: string): RelayResult {
  const state = relayStateReply(relay, explorerUrl);
  const { gasUsed, effectiveGasPrice, blockNumber } = state ?? {};
  if (!state || gasUsed === undefined || effectiveGasPrice === undefined || blockNumber === undefined)
    throw new Error(`the relay ${relay.id} is not confirmed`);
  return { ...state, success: true, status: 'confirmed', gasUsed, effectiveGasPrice, blockNumber };
}
