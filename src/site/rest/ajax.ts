/** The AJAX action `rewards_custom_event`: an event that a page sends, such as a share. Contract: AJAX action. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type Caller, isEmail, userOf } from '../accounts/users.ts';
import type { EventCall } from '../plugin/plugin.ts';
import { addressIn } from './address.ts';
import type { RestDeps } from './create-rest.ts';
import { type Fields, readFields } from './read-fields.ts';

export const CUSTOM_EVENT_ACTION = 'rewards_custom_event';

/** Expected noes of the action itself; what the service says no to is `event_failed`. */
const refusals = {
  bad_request: { status: 400, message: 'Send the fields as a form or as a JSON object' },
  body_too_large: { status: 413, message: 'The body is too large' },
  unknown_action: { status: 400, message: `The one action here is ${CUSTOM_EVENT_ACTION}` },
  bad_nonce: {
    status: 403,
    message:
      'The nonce is missing, wrong or too old: load the page again, and send its nonce for the action ajax',
  },
  missing_event_name: { status: 400, message: 'event_name is required' },
  invalid_email: { status: 400, message: 'email is required, and must be an e-mail address' },
  not_your_email: { status: 403, message: 'You are logged in: your events are your own e-mail’s' },
  invalid_metadata: { status: 400, message: 'metadata must be an object, or the JSON of one' },
  too_many_requests: { status: 429, message: 'Too many requests from this address: try again in a minute' },
} as const;

const text = z.string().trim();

/** Mounted at /wp-admin/admin-ajax.php. Answers `{success, data:{message, code?, reward?}}`; 200 on success alone. */
export function createAjax(deps: RestDeps): Hono {
  const app = new Hono();
  app.post('/', async (context) => {
    const body = await readFields(context.req.raw);
    if (body.outcome === 'too_large') return refuse('body_too_large');
    if (body.outcome === 'invalid') return refuse('bad_request');
    if (body.fields.action !== CUSTOM_EVENT_ACTION) return refuse('unknown_action');
    return customEvent(deps, context, body.fields);
  });
  app.all('*', () => refuse('unknown_action'));
  return app;
}

async function customEvent(
  { accounts, plugin, mayCall }: RestDeps,
  context: Context,
  fields: Fields,
): Promise<Response> {
  const request = context.req.raw;
  const caller = accounts.callerOf(request);
  const nonce = text.safeParse(fields.nonce).data ?? '';
  if (!accounts.isOwnPage(request) || !accounts.isNonce(caller, 'ajax', nonce)) return refuse('bad_nonce');
  const eventName = text.min(1).max(100).safeParse(fields.event_name).data;
  if (eventName === undefined) return refuse('missing_event_name');
  const whose = whoseEvent(caller, fields.email);
  if ('refused' in whose) return refuse(whose.refused);
  const metadata = metadataIn(fields.metadata);
  if (!metadata) return refuse('invalid_metadata');
  if (!mayCall(addressIn(context.env))) return refuse('too_many_requests');
  return answerTo(await plugin.customEvent(eventName, { email: whose.email, metadata }));
}

/** A user's event is theirs, whether they name their e-mail or not; a guest names one. */
function whoseEvent(
  caller: Caller,
  sent: unknown,
): { email: string } | { refused: 'not_your_email' | 'invalid_email' } {
  const user = userOf(caller);
  const email = text.toLowerCase().safeParse(sent ?? '').data;
  if (!user) return email !== undefined && isEmail(email) ? { email } : { refused: 'invalid_email' };
  const isTheirs = email === '' || email === user.email.toLowerCase();
  return isTheirs ? { email: user.email } : { refused: 'not_your_email' };
}

/** Forms send it as JSON. */
function metadataIn(sent: unknown): Record<string, unknown> | undefined {
  if (sent === undefined || sent === null || sent === '') return {};
  try {
    const value: unknown = typeof sent === 'string' ? JSON.parse(sent) : sent;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function answerTo({ success, status, code, message, reward }: EventCall): Response {
  if (success) return answer(200, true, { message, ...(reward !== undefined && { reward }) });
  if (code !== undefined) return answer(code === 'not_configured' ? 500 : 400, false, { code, message });
  const isNo = status >= 400 && status < 500;
  if (!isNo)
    return answer(500, false, { code: 'api_error', message: 'Error communicating with the service' });
  // A 401 or 403 would speak of the visitor; it is the site that the service refused.
  return answer(status === 429 || status === 409 ? status : 400, false, { code: 'event_failed', message });
}

const refuse = (code: keyof typeof refusals): Response =>
  answer(refusals[code].status, false, { code, message: refusals[code].message });

const answer = (status: number, success: boolean, data: Record<string, unknown>): Response =>
  Response.json(
    { success, data },
    { status, headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } },
  );
