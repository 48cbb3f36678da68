/** One customer event from decision to transaction: decides, nudges the payout lane, waits until the reward is on its way. */

import type { Milestone, RewardProgressBoard } from '../../chain/waiting/reward-outcome.ts';
import type { Database } from '../../ledger/database/database.ts';
import { findReward } from '../../ledger/rewards/rewards.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import type { ClaimRefusal } from '../../rules/events/claim-policy.ts';
import type { EventSubmission, ScreeningRefusal } from '../../rules/events/submission.ts';
import type { Effect } from '../answer-once.ts';
import type { GrantedReward } from '../rewards/record-grants.ts';
import type { BusyRefusal, EventDecision } from './decide-events.ts';
import type { createEventSubmitter } from './gather-events.ts';

interface RewardEventDeps {
  database: Database;
  random: Random;
  submitter: Pick<ReturnType<typeof createEventSubmitter>, 'submit'>;
  payouts: { nudge(): void };
  progress: Pick<RewardProgressBoard, 'waitFor'>;
  /** How far the transaction must be before the caller is answered. */
  answerWhen: Milestone;
  /** The longest that a caller waits for it, in real time. */
  answerTimeoutMs: number;
  crash: Crash;
}

/** A reward with the transaction that carries it. */
export interface PaidReward extends GrantedReward {
  transactionHash: `0x${string}`;
}

type EventRefusal =
  | ScreeningRefusal
  | ClaimRefusal
  | BusyRefusal
  | { code: 'payout_failed'; eventId: string; reason: string }
  | { code: 'payout_pending'; eventId: string };

/** `decision` is missing when the reward had been granted by an earlier try of the same request. */
export type EventOutcome = { decision?: EventDecision } & ({ paid: PaidReward } | { refusal: EventRefusal });

/**
 * Contract: POST manual-event. A refusal is a value; only a fault of the service throws. `effect` is given for a
 * request with an idempotency key: the id that its reward has, and whether an earlier try may have granted it.
 */
export async function rewardEvent(
  deps: RewardEventDeps,
  submission: EventSubmission,
  effect?: Effect,
): Promise<EventOutcome> {
  const earlier = effect?.mayExist ? await grantedEarlier(deps, effect.id) : undefined;
  if (earlier && !earlier.isReleased) return settle(deps, earlier.granted);
  // The reward of an earlier try failed for good and gave its claim back: it cannot be the one of this try.
  const rewardId = earlier ? await effect?.renew() : effect?.id;
  return decideAndSettle(deps, submission, rewardId);
}

async function decideAndSettle(
  deps: RewardEventDeps,
  submission: EventSubmission,
  keyedId: string | undefined,
): Promise<EventOutcome> {
  const decision = await decide(deps, submission, keyedId);
  if ('granted' in decision) return { decision, ...(await settle(deps, decision.granted)) };
  // This try may have been refused because another try of the same request was granted meanwhile.
  const meanwhile = keyedId === undefined ? undefined : await grantedEarlier(deps, keyedId);
  if (meanwhile) return settle(deps, meanwhile.granted);
  const { refusal } = decision;
  if (refusal.code === 'reward_id_taken') throw new Error('a reward has the new id of another event');
  return { decision, refusal };
}

/** Without a key, the reward that has the new id is another event's: this one gets another id, once. */
async function decide(
  { submitter, random }: RewardEventDeps,
  submission: EventSubmission,
  keyedId: string | undefined,
): Promise<EventDecision> {
  const first = await submitter.submit({ submission, rewardId: keyedId ?? random.uuid() });
  const isTaken = 'refusal' in first && first.refusal.code === 'reward_id_taken';
  return isTaken && keyedId === undefined ? submitter.submit({ submission, rewardId: random.uuid() }) : first;
}

async function grantedEarlier(
  { database }: RewardEventDeps,
  id: string,
): Promise<{ granted: GrantedReward; isReleased: boolean } | undefined> {
  const found = await findReward(database.db, id);
  return (
    found && { granted: { ...found.reward, rewardId: id }, isReleased: found.reward.releasedAt !== null }
  );
}

/** Waits for the transaction of a granted reward. */
async function settle(
  deps: RewardEventDeps,
  granted: GrantedReward,
): Promise<{ paid: PaidReward } | { refusal: EventRefusal }> {
  const eventId = granted.rewardId;
  const waiting = deps.progress.waitFor({
    rewardId: eventId,
    until: deps.answerWhen,
    timeoutMs: deps.answerTimeoutMs,
  });
  deps.payouts.nudge();
  const progress = await waiting;
  deps.crash('answer.before-reply');
  if (!progress) return { refusal: { code: 'payout_pending', eventId } };
  if (progress.failure !== null)
    return { refusal: { code: 'payout_failed', eventId, reason: progress.failure } };
  if (!progress.hash) {
    return { refusal: { code: 'payout_failed', eventId, reason: 'no_transaction' } };
  }
  return { paid: { ...granted, transactionHash: progress.hash } };
}
