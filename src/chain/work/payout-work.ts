/** The work of the payout lane: gathers the rewards that wait into one transaction of the escrow, and settles it. */
import type { Queries } from '../../ledger/database/database.ts';
import {
  areRewardsWaiting,
  bindRewards,
  untriedRewards,
  type WaitingReward,
  waitingRewards,
} from '../../ledger/rewards/rewards.ts';
import { settleRewards } from '../../ledger/rewards/settle-rewards.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import { simulateCalls, type TriedCall } from '../contracts/calls/simulate.ts';
import {
  batchShape,
  encodePayoutBatch,
  fittingPayouts,
  MAX_BATCH_GAS,
  type PayoutEntry,
  payoutGasLimit,
  sequencesInPayout,
} from '../contracts/payout-batch.ts';
import type { LaneWork, Payload } from '../lane/types.ts';
import { type Rpc, RpcUnreachableError } from '../rpc/rpc.ts';
import type { RewardWaiters } from '../waiting/reward-waiters.ts';

interface PayoutSettings {
  escrow: `0x${string}`;
  /** Rewards in one transaction at most. */
  batchMax: number;
  /** The most that one transaction offers for all its gas: nodes refuse what is above a cap of theirs. */
  offerMaxWei: bigint;
}

interface PayoutWork extends LaneWork {
  /**
   * Tries out the rewards of a transaction that did nothing, where such rewards wait, so that the next transactions part
   * the good ones from the bad. True when it did. Rejects while no node answers.
   */
  tryOut(): Promise<boolean>;
}

/** `account` sends; `progress` is told which rewards a transaction carries, and when a node has it. */
export function payoutWork(deps: {
  settings: PayoutSettings;
  account: `0x${string}`;
  rpc: Rpc;
  progress: Pick<RewardWaiters, 'carried' | 'sent'>;
}): PayoutWork {
  const { settings, account, rpc, progress } = deps;
  const carried = new Map<string, string[]>();
  const callOf = (rewards: WaitingReward[]) => ({
    ...payloadOf(rewards.map(entryOf), settings),
    from: account,
  });
  const retried = createRetried((rewards) => {
    const gasMax = MAX_BATCH_GAS;
    const fitting = fittingPayouts(rewards.map(entryOf), { countMax: settings.batchMax, gasMax });
    return judgePayouts({ rpc, callOf }, rewards.slice(0, fitting));
  });
  const nextRewards = rewardsInTurn(settings.batchMax, retried.next);
  return {
    isWaiting: areRewardsWaiting,
    tryOut: retried.tryOut,
    async bindNext(tx: Queries, [transactionId], { maxFeePerGas }) {
      const waiting = await nextRewards(tx);
      if (waiting.length === 0 || transactionId === undefined) return [];
      const candidates = waiting.map(entryOf);
      const entries = candidates.slice(
        0,
        fittingPayouts(candidates, {
          countMax: settings.batchMax,
          gasMax: settings.offerMaxWei / maxFeePerGas,
        }),
      );
      const rewards = waiting.slice(0, entries.length);
      await bindRewards(tx, { sequences: rewards.map(({ sequence }) => sequence), transactionId });
      carried.set(
        transactionId,
        rewards.map(({ id }) => id),
      );
      return [payloadOf(entries, settings)];
    },
    stored({ id, hash }) {
      const rewardIds = carried.get(id) ?? [];
      // Commits that failed left their entries behind; a payout lane stores one transaction a commit.
      carried.clear();
      progress.carried({ id, hash, rewardIds });
    },
    sent: progress.sent,
  };
}

const entryOf = ({ sequence, brandId, wallet, amount }: WaitingReward): PayoutEntry => ({
  sequence: BigInt(sequence),
  brandId,
  to: wallet,
  amount: BigInt(amount),
});

function payloadOf(entries: PayoutEntry[], { escrow }: PayoutSettings): Payload {
  const { count, brands, words } = batchShape(entries);
  const gas = payoutGasLimit(count, brands, words);
  return { to: escrow, data: encodePayoutBatch(entries), valueWei: 0n, gas };
}

/** After each transaction that did nothing, the next one carries so much less, where no trial says more. */
const FEWER_BY = 20;

/**
 * What the next transaction may pay. A transaction that did nothing may have done nothing for one of its rewards alone. So
 * those are tried again apart from the others, every other time while new ones wait: the good ones are paid, and the bad
 * one is alone when it fails for the last time.
 */
function rewardsInTurn(
  batchMax: number,
  nextRetried: (waiting: WaitingReward[], countMax: number) => WaitingReward[],
): (tx: Queries) => Promise<WaitingReward[]> {
  let isRetriedNext = true;
  return async (tx) => {
    const waiting = await waitingRewards(tx, batchMax);
    const [first] = waiting.filter(({ failedTries }) => failedTries > 0);
    if (!first) return waiting;
    isRetriedNext = !isRetriedNext;
    if (!isRetriedNext) {
      const untried = await untriedRewards(tx, batchMax);
      if (untried.length > 0) return untried;
    }
    const { failedTries } = first;
    const countMax = Math.max(1, Math.floor(batchMax / FEWER_BY ** failedTries));
    const retried = waiting.filter((one) => one.failedTries === failedTries);
    // A trial is believed once: whatever it said, a reward is alone when it fails for the last time.
    return failedTries === 1 ? nextRetried(retried, countMax) : retried.slice(0, countMax);
  };
}

/**
 * Rewards of one transaction each that did nothing: those that run go together, at once; each of the others goes alone.
 * Where that cannot be told, they go in smaller and smaller parts.
 */
function createRetried(judge: (rewards: WaitingReward[]) => Promise<PayoutVerdict[]>) {
  let verdicts = new Map<number, PayoutVerdict>();
  let unjudged: WaitingReward[] = [];
  return {
    /** Nothing while a trial is to come first. */
    next(waiting: WaitingReward[], countMax: number): WaitingReward[] {
      verdicts = new Map(
        waiting.flatMap(({ sequence }) => {
          const verdict = verdicts.get(sequence);
          return verdict ? [[sequence, verdict]] : [];
        }),
      );
      const of = (verdict?: PayoutVerdict) =>
        waiting.filter(({ sequence }) => verdicts.get(sequence) === verdict);
      const runs = of('runs');
      if (runs.length > 0) return runs;
      unjudged = of();
      if (unjudged.length > 0) return [];
      const unclear = of('unclear');
      return unclear.length > 0 ? unclear.slice(0, countMax) : of('fails').slice(0, 1);
    },
    async tryOut(): Promise<boolean> {
      if (unjudged.length === 0) return false;
      const rewards = unjudged;
      const judged = await judge(rewards);
      unjudged = [];
      for (const [place, verdict] of judged.entries())
        verdicts.set((rewards[place] as WaitingReward).sequence, verdict);
      return true;
    },
  };
}

/** Rewards that were paid stay; others wait again, or give their claims back. */
export const settlePayouts: Settle = (tx, settled) =>
  settleRewards(tx, { ...settled, sequencesOf: sequencesInPayout });

// Tries out, without sending anything, which rewards of a transaction that did nothing can be paid together after all.

/**
 * runs: it can be paid together with all others of which that is said · fails: it is what makes a transaction do
 * nothing · unclear: the node does not try it out, or nothing runs, which is the fault of no single reward.
 */
type PayoutVerdict = 'runs' | 'fails' | 'unclear';

/** A part that fails is tried again in this many parts, so 400 rewards are judged with three requests. */
const PARTS = 20;

/** A verdict on each of these rewards, in their order. Rejects while no node answers. */
async function judgePayouts(
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
