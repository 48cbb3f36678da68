/** One customer event from decision to transaction: decides, nudges the payout lane, waits until the reward is on its way. */

import type { Database } from '../../ledger/database/database.ts';
import { findReward, type RewardProgress } from '../../ledger/rewards/rewards.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Random } from '../../lib/ids.ts';
import type { ClaimRefusal } from '../../rules/events/claim-policy.ts';
import type { EventSubmission, ScreeningRefusal } from '../../rules/events/submission.ts';
import type { Effect } from '../answer-once.ts';
import { awaitPayout, type PayoutDeps } from '../rewards/grant-reward.ts';
import type { GrantedReward } from '../rewards/record-grants.ts';
import type { createEventSubmitter } from './batch-events.ts';
import type { BusyRefusal, EventDecision } from './decide-events.ts';

interface RewardEventDeps extends PayoutDeps {
  database: Database;
  random: Random;
  submitter: Pick<ReturnType<typeof createEventSubmitter>, 'submit'>;
  crash: Crash;
}

type EventRefusal =
  | ScreeningRefusal
  | ClaimRefusal
  | BusyRefusal
  | { code: 'payout_failed'; eventId: string; reason: string }
  | { code: 'payout_pending'; eventId: string };

/** `decision` is missing when the reward had been granted by an earlier try of the same request. */
export type EventOutcome = { decision?: EventDecision } & (PaidOutcome | { refusal: EventRefusal });

/** A reward, and the transaction that carries it. */
export interface PaidOutcome {
  paid: GrantedReward;
  transactionHash: Hex;
}

/**
 * Contract: POST manual-event. A refusal is a value; only a fault of the service throws. `effect` is given for a
 * request with an idempotency key: the id that its reward has, and whether an earlier try may have granted it.
 */
export function rewardEvent(
  deps: RewardEventDeps,
  submission: EventSubmission,
  effect?: Effect,
): Promise<EventOutcome> {
  return effect?.mayExist
    ? rewardAgain(deps, submission, effect)
    : decideAndSettle(deps, submission, effect?.id);
}

async function rewardAgain(
  deps: RewardEventDeps,
  submission: EventSubmission,
  effect: Effect,
): Promise<EventOutcome> {
  const earlier = await grantedEarlier(deps, effect.id);
  if (earlier && !earlier.isReleased) return settle(deps, earlier.granted);
  // The reward of an earlier try failed for good and gave its claim back: it cannot be the one of this try.
  return decideAndSettle(deps, submission, earlier ? await effect.renew() : effect.id);
}

async function decideAndSettle(
  deps: RewardEventDeps,
  submission: EventSubmission,
  keyedId: string | undefined,
): Promise<EventOutcome> {
  const { submitter, random } = deps;
  let decision = await submitter.submit({ submission, rewardId: keyedId ?? random.uuid() });
  // Without a key, the reward that has the new id is another event's: this one gets another id, once.
  if (keyedId === undefined && isTaken(decision))
    decision = await submitter.submit({ submission, rewardId: random.uuid() });
  return 'granted' in decision ? settle(deps, decision.granted, decision) : refused(deps, decision, keyedId);
}

async function refused(
  deps: RewardEventDeps,
  decision: Exclude<EventDecision, { granted: GrantedReward }>,
  keyedId: string | undefined,
): Promise<EventOutcome> {
  // This try may have been refused because another try of the same request was granted meanwhile.
  const meanwhile = keyedId === undefined ? undefined : await grantedEarlier(deps, keyedId);
  if (meanwhile) return settle(deps, meanwhile.granted);
  const { refusal } = decision;
  if (refusal.code === 'reward_id_taken') throw new Error('a reward has the new id of another event');
  return { decision, refusal };
}

const isTaken = (decision: EventDecision) =>
  'refusal' in decision && decision.refusal.code === 'reward_id_taken';

async function grantedEarlier(
  { database }: RewardEventDeps,
  id: string,
): Promise<{ granted: GrantedReward; isReleased: boolean } | undefined> {
  const found = await findReward(database.db, id);
  return (
    found && { granted: { ...found.reward, rewardId: id }, isReleased: found.reward.releasedAt !== null }
  );
}

/** Waits for the transaction of a granted reward. Most of a request's time is spent here, so little is kept meanwhile. */
function settle(
  deps: RewardEventDeps,
  granted: GrantedReward,
  decision?: EventDecision,
): Promise<EventOutcome> {
  return awaitPayout(deps, granted.rewardId).then((progress) => {
    deps.crash('answer.before-reply');
    const refusal = unsettled(granted.rewardId, progress);
    if (refusal) return decision ? { decision, refusal } : { refusal };
    const transactionHash = progress?.hash as Hex;
    return decision ? { decision, paid: granted, transactionHash } : { paid: granted, transactionHash };
  });
}

/** Why a reward has no transaction to answer with. */
function unsettled(eventId: string, progress: RewardProgress | undefined): EventRefusal | undefined {
  if (!progress) return { code: 'payout_pending', eventId };
  const { failure, hash } = progress;
  if (failure !== null) return { code: 'payout_failed', eventId, reason: failure };
  return hash ? undefined : { code: 'payout_failed', eventId, reason: 'no_transaction' };
}
