/** A kept request as a step of a scenario: as an event, a payment or a relayed call where it is one, else as a plain request. */
import type { RequestDetail } from '../../contract/control/requests.ts';
import type { JsonObject } from '../steps/step-context.ts';
import type { KnownStack } from './known-names.ts';
import { recordedExpectation } from './recorded-expectation.ts';

export type RecordedStep = { step: JsonObject } | { leftOut: string } | 'by itself';

const EVENT_PATH = /\/manual-event$/;

/** `leftOut`: why a scenario cannot have it. `by itself`: another step brings it about. */
export function requestStep(
  request: RequestDetail,
  { stack, isNamed }: { stack: KnownStack; isNamed: (text: string) => boolean },
): RecordedStep {
  const expected = (seesDecision: boolean) => recordedExpectation(request, { seesDecision, isNamed });
  if (request.credential === 'signature') return paymentStep(request);
  if (['cut', 'refused', 'redacted', 'not kept'].includes(request.requestBodyKept))
    return { leftOut: `its body was not kept as it was (${request.requestBodyKept})` };
  if (request.credential === 'token') return relayStep(request, { stack, expected });
  if (request.credential !== null && request.credential !== 'key')
    return { leftOut: `its ${request.credential} was not kept` };
  const body = jsonOf(request.requestBody);
  const event = EVENT_PATH.test(request.path) && request.method === 'POST' && eventOf(request, body, stack);
  if (event) return { step: { event, expect: expected(true) } };
  return {
    step: {
      http: plainRequest(request, body),
      expect: expected(false),
    },
  };
}

/** Undefined for a body that the step `event` would not send as it was. */
function eventOf(request: RequestDetail, body: unknown, { brands }: KnownStack): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  const { brandId, eventType, userEmail, domain, sourceUrl, metadata, ...more } = body;
  const place = brands.findIndex((one) => one.brandId.toLowerCase() === String(brandId).toLowerCase());
  const brand = brands[place];
  if (!brand || typeof eventType !== 'string' || eventType === '' || typeof userEmail !== 'string')
    return undefined;
  const isWhole =
    isTextOrNothing(domain) && isTextOrNothing(sourceUrl) && (metadata === undefined || isObject(metadata));
  if (!isWhole || userEmail === '') return undefined;
  return {
    type: eventType,
    user: userEmail,
    ...(place > 0 && { brand: brand.domain }),
    ...whereOf({ domain, sourceUrl, origin: request.origin, ownDomain: brand.domain }),
    ...(metadata !== undefined && { metadata }),
    ...(Object.keys(more).length > 0 && { body: more }),
    ...sendingOf(request),
  };
}

/** The step fills in the brand's domain when nothing says where it was. */
function whereOf(said: { domain: unknown; sourceUrl: unknown; origin: string | null; ownDomain: string }) {
  const { domain, sourceUrl, origin, ownDomain } = said;
  const page = sourceUrl === undefined ? {} : { sourceUrl };
  if (domain !== undefined && (domain !== ownDomain || sourceUrl !== undefined || origin !== null))
    return { domain, ...page };
  return domain === undefined && sourceUrl === undefined && origin === null ? { domain: null } : page;
}

function sendingOf(request: RequestDetail): JsonObject {
  const { origin, requestHeaders, credential, withBrandKey, explained } = request;
  const key = requestHeaders['idempotency-key'];
  // A kept answer that comes again is decided by nobody.
  const isRight = withBrandKey || explained.length === 0;
  return {
    ...(credential === 'key' && isRight && { brandKey: true }),
    ...(credential === 'key' && !isRight && { headers: { authorization: 'Bearer a-wrong-key' } }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(origin !== null && { origin }),
  };
}

function plainRequest(request: RequestDetail, body: unknown): JsonObject {
  const { method, host, path, search, origin, credential, requestBody } = request;
  const headers = {
    ...Object.fromEntries(
      Object.entries(request.requestHeaders).filter(
        ([name, value]) => name !== 'content-type' || !value.startsWith('application/json'),
      ),
    ),
    ...(origin !== null && { origin }),
    ...(credential === 'key' && { authorization: `Bearer \${brand.apiKey}` }),
  };
  return {
    ...(method !== (requestBody === null ? 'GET' : 'POST') && { method }),
    path: path + search,
    ...(host !== null && host !== 'events' && { host }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(requestBody !== null && { body: body ?? requestBody }),
  };
}

/** The processor tells of a payment because somebody paid: that is the step. */
function paymentStep({ requestBody }: RequestDetail): RecordedStep {
  const event = jsonOf(requestBody);
  const { type, data } = isObject(event) ? event : {};
  const object = isObject(data) && isObject(data.object) ? data.object : {};
  if (type !== 'checkout.session.completed' || typeof object.id !== 'string') return 'by itself';
  return { step: { pay: { session: object.id }, expect: { body: { paymentStatus: 'paid' } } } };
}

function relayStep(
  request: RequestDetail,
  { stack, expected }: { stack: KnownStack; expected: (seesDecision: boolean) => JsonObject },
): RecordedStep {
  const { users } = stack;
  const body = jsonOf(request.requestBody);
  const isCall = request.method === 'POST' && isObject(body) && typeof body.to === 'string';
  if (!isCall || typeof body.data !== 'string') return { leftOut: "its user's token was not kept" };
  if (body.permit !== undefined)
    return { leftOut: 'its permit is signed for one nonce; write `relay: { permit: {} }` by hand' };
  const user = users.find(({ address }) => address.toLowerCase() === String(body.userAddress).toLowerCase());
  if (!user) return { leftOut: 'its user is not one of the stack, so nobody here can sign for them' };
  const key = request.requestHeaders['idempotency-key'];
  return {
    step: {
      relay: {
        as: user.email,
        to: body.to,
        data: body.data,
        ...(typeof body.gasLimit === 'number' && { gasLimit: body.gasLimit }),
        ...(key !== undefined && { idempotencyKey: key }),
        ...(request.origin !== null && { origin: request.origin }),
      },
      expect: expected(true),
    },
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTextOrNothing = (value: unknown) =>
  value === undefined || (typeof value === 'string' && value !== '');

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
