/** Tries a relayed call out together with its permit, so that only what is expected to succeed takes a nonce. */

import { contractNamed } from '../../chain/contracts/calls/relay-calldata.ts';
import { simulateCalls, type TriedCall } from '../../chain/contracts/calls/simulate.ts';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { type createPermitReader, type Permit, permitCall } from '../../chain/contracts/permit.ts';
import type { Rpc } from '../../chain/rpc/rpc.ts';
import type { PermitCall } from '../../ledger/schema/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Hex } from '../../lib/hex.ts';
import { gasMaxOf, PERMIT, type TrialRefusal } from '../../rules/relay-policy.ts';

export interface TryRelayDeps {
  rpc: Rpc;
  contracts: ContractAddresses;
  clock: Clock;
  readPermit: ReturnType<typeof createPermitReader>;
  settings: { gasMax: number; permitMarginMs: number };
}

/** Gas that a call must have: up to a fifth of what it takes comes back at its end (EIP-3529), and must be there before. */
const needed = (used: bigint) => Math.ceil((Number(used) * 5) / 4);
/** Gas to send with: more than the trial needed, since the state may have changed by the time of the block. */
const withReserve = (used: bigint, gasMax: number) => Math.min(gasMax, Math.ceil(needed(used) * 1.2));

/**
 * Why the call would fail, or what to send: the gas for it, and the permit that has to come before it, if it is
 * needed. A permit that was used already does not stop the call while its allowance suffices.
 */
export async function tryCall(
  deps: TryRelayDeps,
  request: {
    from: Hex;
    to: Hex;
    data: Hex;
    valueWei: bigint;
    gasLimit?: number | undefined;
    userAddress: Hex;
    permit?: Permit | undefined;
    /** The function that is called, and the most gas that is paid for it. */
    policy: { signature: string; gasMax: number };
  },
): Promise<{ gas: number; permit?: PermitCall } | TrialRefusal> {
  const { rpc, contracts, settings } = deps;
  const { from, to, data, valueWei, gasLimit, permit, policy } = request;
  const { gasMax } = settings;
  const state = permit && (await judgePermit(deps, permit, request.userAddress));
  if (state && 'reason' in state) return state;
  const call: TriedCall = { from, to, data, valueWei, gas: BigInt(gasLimit ?? gasMax) };
  const before: TriedCall | undefined =
    permit && state?.state === 'fresh'
      ? { from, to: contracts.token, data: permitCall(permit), valueWei: 0n, gas: BigInt(gasMax) }
      : undefined;
  const trials = await simulateCalls(rpc, before ? [before, call] : [call]);
  const last = trials.at(-1);
  const first = before ? trials[0] : undefined;
  if (first && !first.succeeded) return { reason: 'would_fail', part: 'permit', error: first.reason };
  if (!last?.succeeded) {
    const error = last?.reason ?? 'no answer';
    if (state?.state === 'used')
      return { reason: 'permit_consumed', allowance: String(state.allowance), error };
    return { reason: 'would_fail', part: 'call', error };
  }
  const gasNeeded = needed(last.gasUsed);
  if (gasNeeded > policy.gasMax)
    return { reason: 'needs_too_much_gas', function: policy.signature, gasNeeded, gasMax: policy.gasMax };
  // What the caller offers above the need is not sent, so that the budget need not keep it meanwhile.
  const gas = Math.min(gasLimit ?? gasMax, withReserve(last.gasUsed, policy.gasMax));
  if (!before || !first?.succeeded) return { gas };
  const permitGas = withReserve(first.gasUsed, gasMaxOf('token', PERMIT));
  return { gas, permit: { to: before.to, data: before.data, gas: permitGas } };
}

async function judgePermit(deps: TryRelayDeps, permit: Permit, userAddress: Hex) {
  const { contracts, clock, settings, readPermit } = deps;
  const { owner, spender, deadlineSeconds } = permit;
  if (owner !== userAddress) return { reason: 'permit_not_of_user' as const };
  if (!contractNamed(contracts, spender)) return { reason: 'permit_spender_not_allowed' as const, spender };
  const state = await readPermit(permit);
  if (state.state === 'not_signed') return { reason: 'permit_not_signed' as const };
  // The deadline of a permit that was used already does not matter.
  const holdsUntilMs = clock.now() + settings.permitMarginMs;
  if (state.state === 'fresh' && deadlineSeconds * 1000n < BigInt(holdsUntilMs))
    return { reason: 'permit_expired' as const, deadlineSeconds: String(deadlineSeconds) };
  return state;
}
