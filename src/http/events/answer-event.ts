/** What manual-event and bulk-events share: one submission from its JSON to its reply. */
import { type EventOutcome, type RewardEventDeps, rewardEvent } from '../../actions/events/reward-event.ts';
import type { Unkeyed } from '../../contract/events/manual-event.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Refuser } from '../frame/refuse.ts';
import type { EventTrace } from '../frame/request-record.ts';
import type { RefusalReply } from './refusals.ts';
import { rewardReply } from './reward-reply.ts';

export interface EventReply {
  status: number;
  body: ReturnType<typeof rewardReply> | RefusalReply['body'];
  retryAfterSeconds?: number;
  trace: EventTrace;
}

/** Decides one checked submission and writes the answer to it. */
export async function submitEvent(
  deps: { rewarding: RewardEventDeps; refuser: Refuser; nowMs: number },
  event: { unkeyed: Unkeyed; keyOf: BrandId | undefined; bodyBytes: number },
  effect?: { id: string; mayExist: boolean },
): Promise<EventReply> {
  const submission = { ...event.unkeyed, withBrandKey: event.keyOf === event.unkeyed.brandId };
  const outcome = await rewardEvent(deps.rewarding, submission, effect);
  const trace = traceOf(deps.nowMs, { submission, outcome, bodyBytes: event.bodyBytes });
  if ('paid' in outcome) return { status: 200, body: rewardReply(outcome.paid), trace };
  const { status, body, retryAfterSeconds } = deps.refuser.reply(outcome.refusal);
  return { status, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), trace };
}

function traceOf(
  nowMs: number,
  event: { submission: EventTrace['submission']; outcome: EventOutcome; bodyBytes: number },
): EventTrace {
  const { submission, outcome, bodyBytes } = event;
  const { brand, rule, bypass, state, nowMs: decidedAtMs = nowMs } = outcome.decision ?? {};
  const refusal = 'refusal' in outcome ? outcome.refusal : undefined;
  return { kind: 'event', nowMs: decidedAtMs, bodyBytes, submission, brand, rule, bypass, state, refusal };
}
