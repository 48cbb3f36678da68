/** POST check-eligibility: the decision about an event that is not sent. */
import type { Handler } from 'hono';
import type { Eligibility } from '../../actions/events/check-eligibility.ts';
import type { EligibilityReply } from '../../contract/events/check-eligibility.ts';
import type { EventsRefusal } from '../../contract/events/refusals.ts';
import { parseManualEvent } from '../../contract/events/submission.ts';
import { isoInstant } from '../../contract/refusals.ts';
import type { EventSubmission } from '../../rules/events/submission.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface CheckEligibilityDeps extends BrandKeyDeps {
  /** `actions/events/check-eligibility` with its deps bound; `question`: what it is about does not exist. */
  checkEligibility: (submission: EventSubmission) => Promise<Eligibility | { question: EventsRefusal }>;
  refuser: EventsRefuser;
  settings: { bodyLimitBytes: number; ownDomain: string };
}

export function checkEligibilityHandler(deps: CheckEligibilityDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) return refuser.answer(context, body.refusal);
    context.get('notes').body = body.text;
    const facts = { origin: context.req.header('origin'), ownDomain: settings.ownDomain };
    const parsed = parseManualEvent(body.value, facts);
    if ('errors' in parsed) return refuser.answer(context, { code: 'invalid_event_data', ...parsed });
    const keyOf = await brandOfKey(deps, context);
    const withBrandKey = keyOf === parsed.submission.brandId;
    const found = await deps.checkEligibility({ ...parsed.submission, withBrandKey });
    if ('question' in found) return refuser.answer(context, found.question);
    const { refusal, cooldownEndsAtMs, ...numbers } = found;
    const answer: EligibilityReply = {
      success: true,
      eligible: refusal === undefined,
      ...(refusal && { reason: refusal.code, message: refuser.reply(refusal).body.message }),
      ...(cooldownEndsAtMs !== undefined && { cooldownEndsAt: isoInstant(cooldownEndsAtMs) }),
      ...numbers,
    };
    return jsonAnswer(context, answer);
  };
}
