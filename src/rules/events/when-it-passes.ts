/** Looks ahead: when a refused event would be rewarded if nothing but time changed. */
import { refuseClaim } from './claim-policy.ts';
import { type CheckName, type EventCase, explainEvent } from './explain-event.ts';
import { rewardAmount, worthOf } from './reward-amount.ts';

/** A time in milliseconds, or the check at which waiting does not help. */
type Outlook = { atMs: number } | { never: CheckName; text: string };

/** Undefined for an event that no check refused. A duplicate, say, may wait for its window and then for its cooldown. */
export function whenItPasses(event: EventCase): Outlook | undefined {
  const { rule, state, bypass, submission, brand, duplicateWindowMs } = event;
  let refusal = event.refusal;
  let nowMs = event.nowMs;
  while (refusal && 'passesAtMs' in refusal && refusal.passesAtMs !== undefined && rule && state && bypass) {
    nowMs = refusal.passesAtMs;
    const amount = rewardAmount(rule, worthOf(rule, { submission, brand, state }));
    refusal = refuseClaim({ rule, state, bypass, amount, nowMs, duplicateWindowMs });
    if (!refusal) return { atMs: nowMs };
  }
  const check = explainEvent({ ...event, nowMs, refusal }).find(({ outcome }) => outcome === 'refused');
  return check && { never: check.name, text: check.text };
}
