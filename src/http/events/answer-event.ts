/** What manual-event and bulk-events share: the outcome of one submission as its answer, and as its trace. */
import type { EventOutcome, PaidOutcome } from '../../actions/events/reward-event.ts';
import type { RewardResult } from '../../contract/events/manual-event.ts';
import type { EventsRefusal } from '../../contract/events/refusals.ts';
import type { RefusalBody } from '../../contract/shared-refusals.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import type { Reply } from '../frame/idempotently.ts';
import type { EventTrace } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface EventReply extends Reply {
  body: RewardResult | RefusalBody;
  trace: EventTrace;
}

/** A checked submission, which came at `nowMs`. */
interface AskedEvent {
  submission: EventSubmission;
  nowMs: number;
  bodyBytes: number;
}

/** The answer to one submission, and what is remembered of it. */
export function replyToEvent(
  { refuser }: { refuser: Pick<EventsRefuser, 'reply'> },
  event: AskedEvent,
  outcome: EventOutcome,
): EventReply {
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

function traceOf(event: AskedEvent, outcome: EventOutcome): EventTrace {
  const { submission, bodyBytes } = event;
  const { decision } = outcome;
  const { aliasOf, brand, rule, bypass, state, nowMs = event.nowMs } = decision ?? {};
  const refusal = 'refusal' in outcome ? outcome.refusal : undefined;
  const eventId = eventIdOf(outcome);
  return {
    kind: 'event',
    eventId,
    decided: decision && ('refusal' in decision ? decision.refusal.code : 'rewarded'),
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

/** The contract's Reward result: success body of manual-event, in its documented order. */
function rewardReply({ paid, transactionHash }: PaidOutcome): RewardResult {
  const { rewardId, amount, eventType, walletCreated, brandId } = paid;
  // A new wallet has its checksum from where it was made, which saves 3 µs; an address of the user's own has none.
  const wallet = walletCreated ? paid.wallet : checksummed(paid.wallet);
  return {
    success: true,
    eventId: rewardId,
    message: `Event recorded: ${amount} RWT on the way to ${wallet}`,
    rewardAmount: amount,
    rwtDistributed: amount,
    eventType,
    brandId,
    status: 'rewarded',
    walletCreated,
    walletAddress: wallet,
    transactionHash,
    reward: { amount, eventType, walletAddress: wallet, transactionHash },
  };
}
