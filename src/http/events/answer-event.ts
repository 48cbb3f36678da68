/** What manual-event and bulk-events share: one submission from its checked fields to its reply. */

import type { Effect, TriedAnswer } from '../../actions/answer-once.ts';
import type { EventOutcome } from '../../actions/events/reward-event.ts';
import type { RewardResult } from '../../contract/events/manual-event.ts';
import type { EventsRefusal } from '../../contract/events/refusals.ts';
import type { RefusalBody } from '../../contract/shared-refusals.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import type { Observer } from '../frame/observer.ts';
import type { EventTrace } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';
import { rewardReply } from './reward-reply.ts';

export interface AnswerEventDeps {
  /** `actions/events/reward-event` with its deps bound. */
  rewardEvent: (submission: EventSubmission, effect?: Effect) => Promise<EventOutcome>;
  refuser: Pick<EventsRefuser, 'reply'>;
  observer: Pick<Observer, 'event'>;
}

export interface EventReply extends TriedAnswer<RewardResult | RefusalBody> {
  trace: EventTrace;
}

/** Decides one checked submission, which came at `nowMs`, and writes the answer to it. */
export const answerEvent = (
  deps: AnswerEventDeps,
  event: EventToAnswer,
  effect?: Effect,
): Promise<EventReply> =>
  deps.rewardEvent(event.submission, effect).then((outcome) => replyOf(deps, event, outcome));

interface EventToAnswer {
  submission: EventSubmission;
  nowMs: number;
  bodyBytes: number;
}

function replyOf(
  { refuser, observer }: AnswerEventDeps,
  event: EventToAnswer,
  outcome: EventOutcome,
): EventReply {
  const { decision } = outcome;
  if (decision) observer.event?.('refusal' in decision ? decision.refusal.code : 'rewarded');
  const trace = traceOf(event, outcome);
  if ('paid' in outcome)
    return { status: 200, body: rewardReply(outcome), headers: {}, kept: 'answer', trace };
  const { refusal } = outcome;
  // The reward is in the ledger: it may still be paid, or its claim be given back.
  const isGranted = refusal.code === 'payout_pending' || refusal.code === 'payout_failed';
  const kept = isGranted ? 'id' : 'nothing';
  return { kept, trace, ...refuser.reply(toldTo(event.submission, refusal)) };
}

/** The refusal as this caller may know it: what a brand has left is told to its own servers alone. */
function toldTo(
  { withBrandKey }: EventSubmission,
  refusal: Extract<EventOutcome, { refusal: unknown }>['refusal'],
): EventsRefusal {
  if (withBrandKey || refusal.code !== 'insufficient_brand_balance') return refusal;
  const { available: _, ...told } = refusal;
  return told;
}

function traceOf(event: EventToAnswer, outcome: EventOutcome): EventTrace {
  const { submission, bodyBytes } = event;
  const { aliasOf, brand, rule, bypass, state, nowMs = event.nowMs } = outcome.decision ?? {};
  const refusal = 'refusal' in outcome ? outcome.refusal : undefined;
  const eventId = eventIdOf(outcome);
  return {
    kind: 'event',
    eventId,
    nowMs,
    bodyBytes,
    submission,
    aliasOf,
    brand,
    rule,
    bypass,
    state,
    refusal,
  };
}

/** Of the reward in the ledger, also where its payment was not waited for to its end; undefined when none was granted. */
function eventIdOf(outcome: EventOutcome): string | undefined {
  if ('paid' in outcome) return outcome.paid.rewardId;
  return 'eventId' in outcome.refusal ? outcome.refusal.eventId : undefined;
}
