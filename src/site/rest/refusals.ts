/** The refusals of the REST API in the contract's format, and those that any route may give. Contract: Errors. */
import { type PluginRefusal, pluginRefusals } from '../plugin/plugin.ts';

const routeRefusals = {
  rest_no_route: { status: 404, message: 'No route was found matching the URL and request method' },
  rest_invalid_json: { status: 400, message: 'The body is neither a JSON object nor a form' },
  rest_invalid_param: { status: 400, message: 'A parameter is wrong' },
  rest_body_too_large: { status: 413, message: 'The body is too large' },
  too_many_attempts: { status: 429, message: 'Too many failed logins' },
  too_many_requests: { status: 429, message: 'Too many requests from this address: try again in a minute' },
  internal_error: { status: 500, message: 'The site has trouble of its own' },
} as const;

const table = { ...pluginRefusals, ...routeRefusals };
export type RestRefusalCode = keyof typeof table;

const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** `more` goes into `data`, beside the status. */
export function refuse(
  code: RestRefusalCode,
  said: { message?: string; more?: Record<string, unknown>; headers?: Record<string, string> } = {},
): Response {
  const { status, message } = table[code];
  const body = { code, message: said.message ?? message, data: { status, ...said.more } };
  return Response.json(body, { status, headers: { ...HEADERS, ...said.headers } });
}

export const refusePlugin = ({ code, message }: PluginRefusal): Response => refuse(code, { message });

/** `waitMs`: until the next try. */
export function refuseToWait(waitMs: number): Response {
  const seconds = Math.ceil(waitMs / 1_000);
  return refuse('too_many_attempts', {
    message: `Too many failed logins: try again in ${seconds} s`,
    more: { retryAfter: seconds },
    headers: { 'Retry-After': String(seconds) },
  });
}

export const answer = (body: Record<string, unknown>): Response =>
  Response.json({ success: true, ...body }, { headers: HEADERS });
