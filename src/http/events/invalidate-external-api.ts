/** POST /constraint-updater/invalidate-external-api (contract: Endpoints, Cache invalidation request). */
import type { Handler } from 'hono';
import type { WantedInvalidation } from '../../actions/constraints/constraint-results.ts';
import { type InvalidationResult, invalidationBody } from '../../contract/events/invalidate-external-api.ts';
import { problemsOf } from '../../contract/shapes.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody } from '../frame/body.ts';
import { type BrandKeyDeps, brandOfKey } from '../frame/brand-key.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface InvalidateExternalApiDeps extends BrandKeyDeps {
  /** `actions/constraints/invalidate-results` with its deps bound. */
  invalidateResults: (wanted: WantedInvalidation) => Promise<number>;
  refuser: Pick<EventsRefuser, 'answer'>;
  settings: { bodyLimitBytes: number };
}

export function invalidateExternalApi(deps: InvalidateExternalApiDeps): Handler<RequestVariables> {
  const { refuser, settings } = deps;
  return async (context) => {
    const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
    if ('refusal' in body) return refuser.answer(context, body.refusal);
    context.get('notes').body = body.text;
    const brandId = await brandOfKey(deps, context);
    if (!brandId) return refuser.answer(context, { code: 'api_key_required' });
    const fields = sentFields(body.value);
    if (fields && !('api_url' in fields))
      return refuser.answer(context, { code: 'missing_required_field', field: 'api_url' });
    const parsed = invalidationBody.safeParse(fields ?? body.value);
    if (!parsed.success)
      return refuser.answer(context, { code: 'invalid_invalidation', errors: problemsOf(parsed.error) });
    const { api_url: url, user_address: userAddress, collection_id: collectionId } = parsed.data;
    const invalidated = await deps.invalidateResults({ brandId, url, userAddress, collectionId });
    const answer: InvalidationResult = {
      success: true,
      message: `Invalidated ${invalidated} ${invalidated === 1 ? 'result' : 'results'}`,
      invalidated_count: invalidated,
    };
    return jsonAnswer(context, answer);
  };
}

/** What was sent, without fields that are null or empty; undefined for what is not an object. */
function sentFields(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null && one !== ''));
}
