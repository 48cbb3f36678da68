/** A request that the emulated processor refuses, in the form and with the codes of Stripe's API. */

/** What `error` of an answer holds. */
interface StripeErrorBody {
  type: 'invalid_request_error' | 'idempotency_error' | 'card_error' | 'api_error';
  message: string;
  code?: string;
  param?: string;
  decline_code?: string;
}

/** Thrown by whatever works on a request; the API answers with it, and the control API says its message. */
export class StripeError extends Error {
  readonly status: number;
  readonly body: StripeErrorBody;

  constructor(status: number, body: StripeErrorBody) {
    super(body.message);
    this.name = 'StripeError';
    this.status = status;
    this.body = body;
  }
}

/** A parameter is wrong, or the state of the object does not allow what is asked. */
export const invalidRequest = (message: string, more: { code?: string; param?: string } = {}) =>
  new StripeError(400, { type: 'invalid_request_error', message, ...more });

/** `kind` is the API's word, such as `checkout.session`. */
export const noSuchObject = (kind: string, id: string, param = 'id') =>
  new StripeError(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${kind}: '${id}'`,
    param,
  });
