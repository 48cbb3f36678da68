/** Tries out, without sending anything, which rewards of a transaction that did nothing can be paid together after all. */
import type { WaitingReward } from '../../ledger/rewards/rewards.ts';
import { simulateCalls, type TriedCall } from '../contracts/calls/simulate.ts';
import { type Rpc, RpcUnreachableError } from '../rpc/rpc.ts';

/**
 * runs: it can be paid together with all others of which that is said · fails: it is what makes a transaction do
 * nothing · unclear: the node does not try it out, or nothing runs, which is the fault of no single reward.
 */
export type PayoutVerdict = 'runs' | 'fails' | 'unclear';

/** A part that fails is tried again in this many parts, so 400 rewards are judged with three requests. */
const PARTS = 20;

/** A verdict on each of these rewards, in their order. Rejects while no node answers. */
export async function judgePayouts(
  deps: { rpc: Rpc; callOf: (rewards: WaitingReward[]) => TriedCall },
  rewards: WaitingReward[],
): Promise<PayoutVerdict[]> {
  const runs = await whatRuns(deps, rewards).catch((error: unknown) => {
    if (error instanceof RpcUnreachableError) throw error;
    return new Set<WaitingReward>();
  });
  if (runs.size === 0) return rewards.map(() => 'unclear');
  return rewards.map((reward) => (runs.has(reward) ? 'runs' : 'fails'));
}

async function whatRuns(
  { rpc, callOf }: Parameters<typeof judgePayouts>[0],
  rewards: WaitingReward[],
): Promise<Set<WaitingReward>> {
  const runs = new Set<WaitingReward>();
  let parts = [rewards];
  while (parts.length > 0) {
    const trials = await simulateCalls(rpc, parts.map(callOf));
    const failed = parts.filter((_, place) => !trials[place]?.succeeded);
    for (const part of parts) if (!failed.includes(part)) for (const reward of part) runs.add(reward);
    parts = failed.filter(({ length }) => length > 1).flatMap(inParts);
  }
  const together = rewards.filter((reward) => runs.has(reward));
  if (together.length === 0 || together.length === rewards.length) return runs;
  const [trial] = await simulateCalls(rpc, [callOf(together)]);
  return trial?.succeeded ? runs : new Set();
}

function inParts(rewards: WaitingReward[]): WaitingReward[][] {
  const size = Math.ceil(rewards.length / PARTS);
  return Array.from({ length: Math.ceil(rewards.length / size) }, (_, place) =>
    rewards.slice(place * size, (place + 1) * size),
  );
}
